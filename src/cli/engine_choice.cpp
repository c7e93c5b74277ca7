#include "cli/engine_choice.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/machine.h"
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

// llama.cpp reads a file where it lies; packed weights must fit the memory there is.
std::string why_not_on_this_cpu(const std::string& path) {
  if (std::string why = why_not_native_cpu(path); !why.empty()) return why;
  std::error_code unknown;
  const double bytes = 1.1 * static_cast<double>(std::filesystem::file_size(path, unknown));
  const auto available = static_cast<double>(available_memory());
  if (unknown || bytes < available) return {};
  return fmt::format("its weights would take {:.1f} GB of memory, and {:.1f} GB are free", bytes / 1e9,
                     available / 1e9);
}

}  // namespace

EngineTaken choose_engine(const ModelFlags& flags, const std::string& path) {
  if (flags.choice == EngineChoice::kLlama) return {};
  const std::string option = llama_option(flags);
  if (flags.choice != EngineChoice::kAuto) {
    if (!option.empty())
      throw usage_error(option + " has no meaning for the native engine: leave it out, or use --engine llama");
    if (const std::string why = why_not_native(path); !why.empty()) {
      throw Error(fmt::format("{}: the native engine cannot run it: {}; use --engine llama", path, why));
    }
    if (flags.choice == EngineChoice::kNativeOracle) return {.engine = flags.choice, .why = {}};
    if (flags.choice == EngineChoice::kNative && why_no_native_gpu().empty())
      return {.engine = flags.choice, .why = {}};
    if (const std::string why = why_not_native_cpu(path); !why.empty()) {
      throw Error(fmt::format("{}: the native engine cannot run it on the CPU: {}; use --engine llama", path, why));
    }
    return {.engine = EngineChoice::kNativeCpu, .why = {}};
  }
  const bool on_gpu = why_no_native_gpu().empty();
  if (!option.empty()) {
    // Whoever has no GPU asked for nothing else.
    return {.engine = EngineChoice::kLlama, .why = on_gpu ? fmt::format("engine: llama.cpp, for {}", option) : ""};
  }
  const std::string why = on_gpu ? why_not_native(path) : why_not_on_this_cpu(path);
  if (!why.empty()) {
    return {.engine = EngineChoice::kLlama, .why = "engine: llama.cpp; the native one cannot run this model: " + why};
  }
  if (on_gpu) return {.engine = EngineChoice::kNative, .why = "engine: native, on the GPU"};
  return {.engine = EngineChoice::kNativeCpu, .why = {}};
}

}  // namespace dts::cli
