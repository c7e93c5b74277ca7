// The native engine on the CPU: products over packed panels, attention over shared pages, as many threads as are
// wanted. A row's results are the same to the last bit however many rows and threads there are.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/native/backend.h"

namespace dts::native {

// Why there are no kernels for this CPU, in words. Empty: there are.
std::string why_no_cpu_kernels();

// Why the kernels cannot run this model with such KV, in words. Empty: they can.
std::string why_not_on_cpu(const WeightSource& source, NativeKvType kv);

// Threads that a model of that geometry is worth, at most one a core.
int worthwhile_threads(const Geometry& geometry);

// A step packs weights for good as long as this (see LazyPanels). Where memory is cheap a model is packed in a step or
// two; where it is not the first token does not wait for all of it.
inline constexpr std::chrono::milliseconds kPackingTime(400);

// `threads` of each engine; 0: as many as are worthwhile. `progress`: see PanelWeights. `packing`: instead of
// kPackingTime; with 0 nothing ever is.
std::unique_ptr<Device> make_cpu_device(const WeightSource& source, int threads,
                                        const std::function<bool(float)>& progress,
                                        std::chrono::nanoseconds packing = kPackingTime);

}  // namespace dts::native
