// The native engine on the CPU: products over packed panels, attention over shared pages, as many threads as are
// wanted. A row's results are the same to the last bit however many rows and threads there are.
#pragma once

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

// `threads` of each engine; 0: as many as are worthwhile. `progress`: see PanelWeights.
std::unique_ptr<Device> make_cpu_device(const WeightSource& source, int threads,
                                        const std::function<bool(float)>& progress);

}  // namespace dts::native
