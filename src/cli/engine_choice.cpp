#include "cli/engine_choice.h"

#include <fmt/format.h>

#include "dts/error.h"
#include "dts/native.h"

namespace dts::cli {
namespace {

// Options that only llama.cpp has.
std::string llama_option(const ModelFlags& flags) {
  if (flags.gpu_layers >= 0) return "--gpu-layers";
  if (flags.kv != KvLayout::kStreams) return "--kv";
  if (flags.flash_attention != Toggle::kAuto) return "--flash-attn";
  if (flags.batch_invariant == Toggle::kOff) return "--batch-invariant";
  return {};
}

}  // namespace

EngineTaken choose_engine(const ModelFlags& flags, const std::string& path) {
  if (flags.choice == EngineChoice::kLlama) return {};
  const std::string option = llama_option(flags);
  const NativeKvType kv = flags.kv_type == KvType::kQ8_0 ? NativeKvType::kQ8_0 : NativeKvType::kF16;
  if (flags.choice != EngineChoice::kAuto) {
    if (!option.empty())
      throw usage_error(option + " has no meaning for the native engine: leave it out, or use --engine llama");
    if (const std::string why = why_not_native(path); !why.empty()) {
      throw Error(fmt::format("{}: the native engine cannot run it: {}; use --engine llama", path, why));
    }
    if (flags.choice == EngineChoice::kNativeOracle) return {.engine = flags.choice, .why = {}};
    if (flags.choice == EngineChoice::kNative && why_no_native_gpu().empty())
      return {.engine = flags.choice, .why = {}};
    if (const std::string why = why_not_native_cpu(path, kv); !why.empty()) {
      throw Error(fmt::format("{}: the native engine cannot run it on the CPU: {}; use --engine llama", path, why));
    }
    return {.engine = EngineChoice::kNativeCpu, .why = {}};
  }
  // Nobody without a GPU needs to hear of this.
  if (!why_no_native_gpu().empty()) return {};
  if (!option.empty()) return {.engine = EngineChoice::kLlama, .why = fmt::format("engine: llama.cpp, for {}", option)};
  if (const std::string why = why_not_native(path); !why.empty()) {
    return {.engine = EngineChoice::kLlama, .why = "engine: llama.cpp; the native one cannot run this model: " + why};
  }
  return {.engine = EngineChoice::kNative, .why = "engine: native, on the GPU"};
}

}  // namespace dts::cli
