#include "cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "dts/error.h"
#include "hub/hub_name.h"

namespace dts::cli {
namespace {

const std::vector<std::pair<std::string, Toggle>> kToggles = {
    {"auto", Toggle::kAuto}, {"on", Toggle::kOn}, {"off", Toggle::kOff}};

double parse_wait(const char* flag, const std::string& text) {
  const double value = parse_number(flag, text);
  if (!(value > 0) || std::isinf(value)) {
    throw usage_error(fmt::format("{} is {}: it must be a finite number of seconds above 0", flag, text));
  }
  return value;
}

void add_remote_options(CLI::App& app, RemoteFlags& flags) {
  app.option_defaults()->group("Servers (--engine vllm, sglang, llama-server, openai)");
  add_value(app, "--url", "URL[,URL...]", "where the servers are, all with the same model: http://host:8000",
            [&](const std::string& text) {
              flags.urls.clear();
              for (std::size_t at = 0; at <= text.size();) {
                const std::size_t end = std::min(text.find(',', at), text.size());
                flags.urls.push_back(text.substr(at, end - at));
                at = end + 1;
              }
            });
  add_value(app, "--api-key-env", "VAR", "environment variable that holds the servers' API key",
            [&](const std::string& text) { flags.api_key_variable = text; });
  add_value(app, "--served-model", "NAME", "the model to ask for (default: the first the server has)",
            [&](const std::string& text) { flags.served_model = text; });
  add_value(app, "--tokenizer", "FILE",
            "GGUF of the same model, for its vocabulary and template (default: the server's)",
            [&](const std::string& text) { flags.tokenizer = text; });
  add_value(
      app, "--candidates", "N", "log-probabilities to ask for a token (default 20; openai: 5)",
      [&](const std::string& text) { flags.candidates = static_cast<int>(parse_integer("--candidates", text, 1)); });
  add_choice<LogprobsScale>(app, "--logprobs", flags.logprobs,
                            {{"auto", LogprobsScale::kAuto},
                             {"before", LogprobsScale::kBeforeTemperature},
                             {"after", LogprobsScale::kAfterTemperature}},
                            "whether the servers' log-probabilities are those before or after the temperature "
                            "(default auto: asked for twice, and compared)");
  add_value(app, "--stall-timeout", "SECONDS", "without a token, then a branch is asked for elsewhere (default 60)",
            [&](const std::string& text) { flags.stall_timeout = parse_wait("--stall-timeout", text); });
  add_value(app, "--first-token-timeout", "SECONDS", "the same before a request's first token (default 300)",
            [&](const std::string& text) { flags.first_token_timeout = parse_wait("--first-token-timeout", text); });
  add_value(app, "--patience", "SECONDS", "a step waits for a branch, retries and all (default: as long as it takes)",
            [&](const std::string& text) { flags.patience = parse_wait("--patience", text); });
}

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
  add_value(app, "--hf-repo", "ORG/REPO[:QUANT]",
            "GGUF model of the Hugging Face hub, downloaded when it is not in its cache (default quant Q4_K_M)",
            [&](const std::string& text) {
              hub::parse_hub_name(text);  // what is wrong with it is said at once
              flags.hub_repo = text;
            });
  add_value(app, "--hf-file", "FILE", "which of the repository's files (default: by the quant)",
            [&](const std::string& text) {
              if (text.empty()) throw usage_error("--hf-file is '': it must be a file of the repository");
              flags.hub_file = text;
            })
      ->needs(app.get_option("--hf-repo"));
  add_value(app, "--profile", "FILE", "settings that dts calibrate wrote for this model", [](const std::string& text) {
    // Its values are among the arguments by now (standing_settings.h).
    if (text.empty()) throw usage_error("--profile is '': it must be a file");
  });
  add_choice<EngineChoice>(
      app, "--engine", flags.choice,
      {{"auto", EngineChoice::kAuto},
       {"llama", EngineChoice::kLlama},
       {"native", EngineChoice::kNative},
       {"native-cpu", EngineChoice::kNativeCpu},
       {"native-oracle", EngineChoice::kNativeOracle},
       {"vllm", EngineChoice::kVllm},
       {"sglang", EngineChoice::kSglang},
       {"llama-server", EngineChoice::kLlamaServer},
       {"openai", EngineChoice::kOpenai}},
      "what decodes: in this process (default auto: our own, native, on the GPU or the CPU where it "
      "knows the model, else llama.cpp; native-cpu keeps it off the GPU, native-oracle is slow, to "
      "check with), or servers at --url");
  add_remote_options(app, flags.remote);
  app.option_defaults()->group("Model");
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
  add_choice<KvType>(app, "--kv-type", flags.kv_type,
                     {{"f16", KvType::kF16}, {"bf16", KvType::kBf16}, {"q8_0", KvType::kQ8_0}},
                     "precision of the KV (default f16)");
  add_choice<Toggle>(app, "--flash-attn", flags.flash_attention, kToggles,
                     "flash attention (default auto: on for GPUs, q8_0 and one pool; off for the CPU else)");
  add_choice<Toggle>(
      app, "--batch-invariant", flags.batch_invariant, kToggles,
      "make a tree the same whatever else is decoded, on the CPU: on, by padding every step; auto (the default), "
      "the same, but a question's only branch goes unpadded; off, faster beside others");
}

}  // namespace dts::cli
