// The GPU's side: weights in f16, K and V in f16 or 8 bits, sums in single precision.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/native/backend.h"

namespace dts::native {

// Why there is none, in words; empty: there is one.
std::string why_no_cuda_device();

// Throws dts::Error when the weights do not fit, the device fails, or the geometry is beyond its kernels. `progress`
// (0..1) may return false: then it throws, too.
std::unique_ptr<Device> make_cuda_device(const WeightSource& source, const std::function<bool(float)>& progress);

// A profiler that waits to be told begins here, and ends.
void set_cuda_profiler(bool on);

}  // namespace dts::native
