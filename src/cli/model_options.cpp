#include "cli/model_options.h"

#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

const std::vector<std::pair<std::string, Toggle>> kToggles = {
    {"auto", Toggle::kAuto}, {"on", Toggle::kOn}, {"off", Toggle::kOff}};

}  // namespace

LlamaEngineOptions ModelFlags::engine(int max_branches, int context_length) const {
  LlamaEngineOptions options;
  options.max_branches = max_branches;
  options.context_length = context_length;
  options.threads = threads;
  options.kv_type = kv_type;
  options.kv_layout = kv;
  options.flash_attention = flash_attention;
  options.batch_invariant = batch_invariant;
  return options;
}

void add_model_options(CLI::App& app, ModelFlags& flags) {
  app.option_defaults()->group("Model");
  add_value(app, "-m,--model", "FILE", "GGUF model, the first file when it is split (default: the built-in model)",
            [&](const std::string& text) {
              if (text.empty()) throw usage_error("--model is '': it must be a GGUF file");
              flags.path = text;
            });
  add_value(
      app, "-c,--ctx-size", "N",
      "tokens a branch can hold, prompt included (default: what the prompt and --predict need, as far as the model "
      "and memory allow)",
      [&](const std::string& text) { flags.context_size = static_cast<int>(parse_integer("--ctx-size", text, 0)); });
  add_value(
      app, "-t,--threads", "N", "threads (default: one per core, fewer for a very small model)",
      [&](const std::string& text) { flags.threads = static_cast<int>(parse_integer("--threads", text, 0, 1024)); });
  add_value(app, "--gpu-layers,--n-gpu-layers", "N", "layers to keep on the GPU (default: all that fit)",
            [&](const std::string& text) {
              flags.gpu_layers = text == "all" ? -1 : static_cast<int>(parse_integer("--gpu-layers", text, -1));
            });
  add_choice<KvLayout>(app, "--kv", flags.kv, {{"streams", KvLayout::kStreams}, {"unified", KvLayout::kUnified}},
                       "how branches keep their KV: each its own (default, faster), or all in one pool (smaller)");
  add_choice<KvType>(app, "--kv-type", flags.kv_type, {{"f16", KvType::kF16}, {"q8_0", KvType::kQ8_0}},
                     "precision of the KV (default f16)");
  add_choice<Toggle>(app, "--flash-attn", flags.flash_attention, kToggles,
                     "flash attention (default auto: on for GPUs, q8_0 and one pool; off for the CPU else)");
  add_choice<Toggle>(app, "--batch-invariant", flags.batch_invariant, kToggles,
                     "make a lone branch compute exactly what it would in a batch (default auto: on for the CPU)");
}

}  // namespace dts::cli
