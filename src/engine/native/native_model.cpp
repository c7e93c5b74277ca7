#include <fmt/format.h>

#include <filesystem>
#include <future>

#include "dts/error.h"
#include "dts/llama.h"
#include "dts/native.h"
#include "engine/native/cpu/cpu_backend.h"
#include "engine/native/cuda/cuda_device.h"
#include "engine/native/gguf_weights.h"
#include "engine/native/kv_rounding.h"
#include "engine/native/native_plan.h"
#include "engine/native/oracle_backend.h"

namespace dts {

struct NativeModelImpl {
  std::unique_ptr<LlamaModel> vocabulary;  // llama.cpp reads text: tokens are one thing everywhere
  ModelInfo info;
  native::Geometry geometry;
  NativeDevice where = NativeDevice::kCuda;
  NativeKvType kv = NativeKvType::kF16;
  std::unique_ptr<native::Device> device;
};

std::string_view name_of(NativeKvType type) {
  switch (type) {
    case NativeKvType::kBf16:
      return "bf16";
    case NativeKvType::kQ8_0:
      return "q8_0";
    case NativeKvType::kF16:
      break;
  }
  return "f16";
}

std::string why_no_native_gpu() { return native::why_no_cuda_device(); }

std::string why_no_native_cpu() { return native::why_no_cpu_kernels(); }

std::string why_not_native(const std::string& path) {
  std::string why;
  native::open_gguf_weights(path, why);
  return why;
}

std::string why_not_native_cpu(const std::string& path, NativeKvType kv) {
  std::string why;
  const auto weights = native::open_gguf_weights(path, why);
  return weights ? native::why_not_on_cpu(*weights, kv) : why;
}

namespace {

std::unique_ptr<native::Device> make_device(const native::WeightSource& weights, const NativeModelOptions& options) {
  switch (options.device) {
    case NativeDevice::kCuda:
      return native::make_cuda_device(weights, options.on_load);
    case NativeDevice::kCpu:
      return native::make_cpu_device(weights, options.threads, options.on_load);
    case NativeDevice::kOracle:
      break;
  }
  return native::make_oracle_device(weights);
}

const char* kind_of(NativeDevice device) {
  switch (device) {
    case NativeDevice::kCuda:
      return "native CUDA";
    case NativeDevice::kCpu:
      return "native CPU";
    case NativeDevice::kOracle:
      break;
  }
  return "native oracle";
}

}  // namespace

NativeModel::NativeModel(const NativeModelOptions& options) : impl_(std::make_unique<NativeModelImpl>()) {
  std::string why;
  const auto weights = native::open_gguf_weights(options.path, why);
  if (!weights) throw Error(fmt::format("{}: the native engine cannot run it: {}", options.path, why));
  impl_->where = options.device;
  impl_->kv = options.kv_type;
  if (options.device == NativeDevice::kCuda) why = native::why_no_cuda_device();
  if (!why.empty()) throw Error("the native engine has no GPU: " + why);
  impl_->geometry = weights->geometry();
  if (impl_->kv == NativeKvType::kQ8_0 && impl_->geometry.head_size % native::kKvBlock != 0) {
    throw Error(fmt::format("{}: {} q8_0 takes heads in blocks of {}, and these have {} elements", options.path,
                            option_name("kv_type"), native::kKvBlock, impl_->geometry.head_size));
  }
  if (impl_->kv == NativeKvType::kBf16 && options.device == NativeDevice::kCuda) {
    throw Error(fmt::format("{} bf16 is not for the native engine's GPU: f16 and q8_0 are", option_name("kv_type")));
  }
  // One thread's work, beside the packing of the weights, which waits for memory more than it computes.
  std::future<std::unique_ptr<LlamaModel>> vocabulary = std::async(std::launch::async, [&options] {
    return std::make_unique<LlamaModel>(
        LlamaModelOptions{.path = options.path, .gpu_layers = 0, .vocabulary_only = true});
  });
  impl_->device = make_device(*weights, options);
  impl_->vocabulary = vocabulary.get();
  if (impl_->geometry.n_vocab < impl_->vocabulary->vocabulary().size()) {
    throw Error(fmt::format("{}: has {} tokens and embeddings for {}", options.path,
                            impl_->vocabulary->vocabulary().size(), impl_->geometry.n_vocab));
  }
  impl_->info = impl_->vocabulary->info();
  impl_->info.training_context = impl_->geometry.context;
  impl_->info.parameters = impl_->geometry.parameters();
  impl_->info.size_bytes = impl_->device->weight_bytes();
  impl_->info.most_branches = 4096;
}

NativeModel::~NativeModel() = default;

const ModelInfo& NativeModel::info() const { return impl_->info; }

const Vocabulary& NativeModel::vocabulary() const { return impl_->vocabulary->vocabulary(); }

RecommendedSampling NativeModel::recommended_sampling() const { return impl_->vocabulary->recommended_sampling(); }

EnginePlan NativeModel::plan_engine(const EngineRequest& request) const {
  const std::int64_t available = impl_->device->available_bytes();
  native::EngineShape shape = native::plan_shape(*impl_->device, impl_->geometry, request, impl_->kv, available);
  shape.name = impl_->info.name;
  shape.kind = kind_of(impl_->where);
  const std::int64_t page_bytes = impl_->device->page_bytes(shape.kv);
  const double page = static_cast<double>(page_bytes);
  const bool rounded = shape.kv != NativeKvType::kF16 || impl_->where != NativeDevice::kOracle;
  EnginePlan plan;
  plan.context_length = shape.context;
  plan.available_bytes = available;
  plan.needed_bytes = shape.pages * page_bytes + impl_->device->scratch_bytes(native::limits_of(shape));
  plan.settings = {{"engine", shape.kind},
                   {"kv_type", std::string(rounded ? name_of(shape.kv) : "f32")},
                   {"device", impl_->device->name()}};
  plan.description = fmt::format(
      "native engine on {}: {} branches, {} tokens a branch\n"
      "  KV: {} pages of {} tokens{}, {:.2f} GB; what branches share is there once\n"
      "  scratch: {:.2f} GB; free: {:.2f} GB\n",
      impl_->device->name(), shape.max_branches, shape.context, shape.pages, native::kPageTokens,
      rounded ? fmt::format(" in {}", name_of(shape.kv)) : "", shape.pages * page / 1e9,
      (static_cast<double>(plan.needed_bytes) - shape.pages * page) / 1e9, static_cast<double>(available) / 1e9);
  plan.make = [this, shape] { return native::make_native_engine(*impl_->device, impl_->geometry, shape); };
  return plan;
}

}  // namespace dts
