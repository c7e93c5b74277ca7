// In the place of cuda/ where this is built without it.
#include "dts/error.h"
#include "engine/native/cuda/cuda_device.h"

namespace dts::native {

std::string why_no_cuda_device() { return "this was built without CUDA"; }

std::unique_ptr<Device> make_cuda_device(const WeightSource& /*source*/,
                                         const std::function<bool(float)>& /*progress*/) {
  throw Error(why_no_cuda_device());
}

void set_cuda_profiler(bool /*on*/) {}

}  // namespace dts::native
