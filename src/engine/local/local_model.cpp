#include "dts/local_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/machine.h"
#include "base/names.h"
#include "dts/error.h"
#include "dts/native.h"

namespace dts {
namespace {

constexpr Names<LocalEngine, 5> kEngines = {{{"auto", LocalEngine::kAuto},
                                             {"llama", LocalEngine::kLlama},
                                             {"native", LocalEngine::kNative},
                                             {"native-cpu", LocalEngine::kNativeCpu},
                                             {"native-oracle", LocalEngine::kNativeOracle}}};

// Where nobody has measured that our kernels are the faster ones, they are there for the asking.
#if defined(__x86_64__)
constexpr bool kMeasured = true;
#else
constexpr bool kMeasured = false;
#endif

NativeKvType native_kv(const LlamaModelOptions& model) {
  switch (model.engine.kv_type) {
    case KvType::kBf16:
      return NativeKvType::kBf16;
    case KvType::kQ8_0:
      return NativeKvType::kQ8_0;
    case KvType::kF16:
      break;
  }
  return NativeKvType::kF16;
}

// Why the native engine cannot run it on the GPU.
std::string why_not_native_gpu(const LlamaModelOptions& model) {
  if (std::string why = why_not_native(model.path); !why.empty()) return why;
  return native_kv(model) == NativeKvType::kBf16 ? "on the GPU it keeps K and V in f16 or q8_0" : "";
}

// An option that only llama.cpp has; empty: none was given. What is batch-invariant in any case obeys
// batch_invariant, whichever way it is set.
std::string llama_option(const LlamaModelOptions& model) {
  if (model.engine.kv_layout != KvLayout::kStreams) return option_name("kv_layout");
  if (model.engine.flash_attention != Toggle::kAuto) return option_name("flash_attention");
  if (model.gpu_layers > 0) return option_name("gpu_layers");
  return {};
}

// Packed weights are a copy of the file's, which llama.cpp only maps: it runs what would not fit, if slowly.
std::string why_no_room(const std::string& path, std::int64_t free_memory) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (failed) return {};
  // 3% for scales at their place in panels, and 5% so that the first branches have KV.
  const auto needed = static_cast<double>(size) * 1.08;
  const auto free = static_cast<double>(free_memory >= 0 ? free_memory : available_memory());
  if (needed <= free) return {};
  return fmt::format("it needs {:.1f} GB of memory for the weights, and {:.1f} GB are free", needed / 1e9, free / 1e9);
}

LocalChoice choose_by_name(const LocalModelOptions& options) {
  const std::string& path = options.model.path;
  if (const std::string option = llama_option(options.model); !option.empty()) {
    throw usage_error(fmt::format("{} has no meaning for the native engine: leave it out, or use {} llama", option,
                                  option_name("engine")));
  }
  const bool wants_gpu = options.engine == LocalEngine::kNative && options.model.gpu_layers != 0;
  const bool as_named = options.engine == LocalEngine::kNativeOracle || (wants_gpu && why_no_native_gpu().empty());
  std::string why = options.engine == LocalEngine::kNativeOracle ? why_not_native(path)
                    : as_named                                   ? why_not_native_gpu(options.model)
                                                                 : why_no_native_cpu();
  if (!as_named && why.empty()) why = why_not_native_cpu(path, native_kv(options.model));
  if (!why.empty()) {
    throw Error(fmt::format("{}: the native engine cannot run it: {}; use {} llama", path, why, option_name("engine")));
  }
  return {.engine = as_named ? options.engine : LocalEngine::kNativeCpu, .note = {}};
}

}  // namespace

LocalEngine parse_local_engine(std::string_view word) {
  if (const std::optional<LocalEngine> engine = value_of(kEngines, word)) return *engine;
  std::string known;
  for (const auto& [name, engine] : kEngines) known += (known.empty() ? "" : ", ") + std::string(name);
  throw out_of_range("engine", fmt::format("'{}'", word), "one of " + known);
}

LocalChoice choose_local_engine(const LocalModelOptions& options, std::int64_t free_memory) {
  if (options.engine == LocalEngine::kLlama) return {};
  if (options.engine != LocalEngine::kAuto) return choose_by_name(options);
  LlamaModelOptions model = options.model;
  const bool wants_gpu = model.gpu_layers != 0;
  const bool native_gpu = wants_gpu && why_no_native_gpu().empty();
  const bool llama_gpu = wants_gpu && llama_has_gpu();
  // A GPU that only llama.cpp can use is still the faster one. And nobody needs to hear what this machine has not.
  if (!native_gpu && (llama_gpu || !kMeasured || !why_no_native_cpu().empty())) return {};
  if (!llama_gpu) model.gpu_layers = -1;  // out of habit
  if (const std::string option = llama_option(model); !option.empty()) {
    return {.engine = LocalEngine::kLlama, .note = fmt::format("engine: llama.cpp, for {}", option)};
  }
  std::string why = native_gpu ? why_not_native_gpu(model) : why_not_native_cpu(model.path, native_kv(model));
  if (why.empty() && !native_gpu) why = why_no_room(model.path, free_memory);
  if (!why.empty()) {
    return {.engine = LocalEngine::kLlama, .note = "engine: llama.cpp; the native one cannot run this model: " + why};
  }
  if (native_gpu) return {.engine = LocalEngine::kNative, .note = "engine: native, on the GPU"};
  return {.engine = LocalEngine::kNativeCpu, .note = {}};
}

std::unique_ptr<Model> open_local_model(const LlamaModelOptions& model, LocalEngine chosen) {
  NativeModelOptions native{
      .path = model.path, .kv_type = native_kv(model), .threads = model.engine.threads, .on_load = model.on_load};
  switch (chosen) {
    case LocalEngine::kAuto:
    case LocalEngine::kLlama:
      return std::make_unique<LlamaModel>(model);
    case LocalEngine::kNative:
      native.device = NativeDevice::kCuda;
      break;
    case LocalEngine::kNativeCpu:
      native.device = NativeDevice::kCpu;
      break;
    case LocalEngine::kNativeOracle:
      native.device = NativeDevice::kOracle;
      break;
  }
  return std::make_unique<NativeModel>(native);
}

}  // namespace dts
