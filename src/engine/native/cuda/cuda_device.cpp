#include "engine/native/cuda/cuda_device.h"

#include <cuda_profiler_api.h>
#include <fmt/format.h>

#include "dts/error.h"
#include "engine/native/cuda/cuda_backend.h"
#include "engine/native/cuda/kernels.h"

namespace dts::native {
namespace {

constexpr int kLeastCapability = 80;  // f16 on tensor cores

// What the kernels take for granted.
void check_geometry(const Geometry& g) {
  std::string why;
  if (!cuda::has_attention_for(g.head_size)) why = fmt::format("heads of {} elements", g.head_size);
  if (g.n_vocab > cuda::kMostVocabulary) why = fmt::format("a vocabulary of {}", g.n_vocab);
  if (g.width % 8 != 0 || g.feed_forward % 8 != 0 || g.width > 16384) {
    why = fmt::format("widths of {} and {}", g.width, g.feed_forward);
  }
  if (!why.empty()) throw Error("the native engine has no CUDA kernels for " + why);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const WeightSource& source, const std::function<bool(float)>& progress) {
    check_geometry(source.geometry());
    cuda::check(cudaGetDeviceProperties(&properties_, 0), "asking for its properties");
    const std::int64_t needed = 2 * source.geometry().parameters();
    if (needed > available_bytes()) {
      throw Error(fmt::format("the weights need {:.1f} GB in f16, and {} has {:.1f} GB free",
                              static_cast<double>(needed) / 1e9, name(), static_cast<double>(available_bytes()) / 1e9));
    }
    weights_ = std::make_unique<cuda::CudaWeights>(source, progress);
  }

  std::string name() const override { return static_cast<const char*>(properties_.name); }
  std::int64_t weight_bytes() const override { return 2 * weights_->geometry.parameters(); }
  std::int64_t available_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "asking for its memory");
    return static_cast<std::int64_t>(free);
  }
  std::int64_t page_bytes(NativeKvType kv) const override { return cuda::page_bytes(weights_->geometry, kv); }
  std::int64_t scratch_bytes(const BackendLimits& limits) const override {
    return cuda::scratch_bytes(weights_->geometry, limits);
  }
  std::unique_ptr<Backend> make_backend(const BackendLimits& limits) const override {
    return cuda::make_cuda_backend(*weights_, limits);
  }

 private:
  cudaDeviceProp properties_ = {};
  std::unique_ptr<cuda::CudaWeights> weights_;
};

}  // namespace

std::string why_no_cuda_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (code != cudaSuccess || count < 1) return "there is no CUDA GPU here";
  cudaDeviceProp properties = {};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "the GPU does not answer";
  if (properties.major * 10 + properties.minor < kLeastCapability) {
    return fmt::format("{} is older than what the kernels need (compute capability 8.0)",
                       static_cast<const char*>(properties.name));
  }
  return {};
}

void set_cuda_profiler(bool on) { cuda::check(on ? cudaProfilerStart() : cudaProfilerStop(), "telling the profiler"); }

std::unique_ptr<Device> make_cuda_device(const WeightSource& source, const std::function<bool(float)>& progress) {
  return std::make_unique<CudaDevice>(source, progress);
}

}  // namespace dts::native
