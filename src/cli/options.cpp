#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "cli/arguments.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

const std::vector<std::pair<std::string, Toggle>> kToggles = {
    {"auto", Toggle::kAuto}, {"on", Toggle::kOn}, {"off", Toggle::kOff}};

// A fixed seed unless another is asked for: two runs of the same command then say the same.
std::uint64_t parse_seed(const std::string& text) {
  if (text == "random" || text == "-1") {
    std::random_device entropy;
    return (static_cast<std::uint64_t>(entropy()) << 32U) | entropy();
  }
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, seed);
  if (stop != end || status != std::errc()) {
    throw usage_error(fmt::format("--seed is '{}': it must be a whole number from 0 to {}, or 'random'", text,
                                  std::numeric_limits<std::uint64_t>::max()));
  }
  return seed;
}

double parse_seconds(const std::string& text) {
  const double value = parse_number("--max-seconds", text);
  if (!(value > 0) || std::isinf(value)) {
    throw usage_error(
        fmt::format("--max-seconds is {}: it must be a finite number above 0; without it there is no limit", text));
  }
  return value;
}

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
  add_choice<EngineChoice>(app, "--engine", flags.choice,
                           {{"auto", EngineChoice::kAuto},
                            {"llama", EngineChoice::kLlama},
                            {"vllm", EngineChoice::kVllm},
                            {"sglang", EngineChoice::kSglang},
                            {"llama-server", EngineChoice::kLlamaServer},
                            {"openai", EngineChoice::kOpenai}},
                           "what decodes: llama.cpp in this process (auto, llama), or servers at --url");
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
  add_choice<KvType>(app, "--kv-type", flags.kv_type, {{"f16", KvType::kF16}, {"q8_0", KvType::kQ8_0}},
                     "precision of the KV (default f16)");
  add_choice<Toggle>(app, "--flash-attn", flags.flash_attention, kToggles,
                     "flash attention (default auto: on for GPUs, q8_0 and one pool; off for the CPU else)");
  add_choice<Toggle>(app, "--batch-invariant", flags.batch_invariant, kToggles,
                     "make a lone branch compute exactly what it would in a batch (default auto: on for the CPU)");
}

SamplingOptions SamplingFlags::over(SamplingOptions recommended) const {
  recommended.temperature = temperature.value_or(recommended.temperature);
  recommended.top_k = top_k.value_or(recommended.top_k);
  recommended.top_p = top_p.value_or(recommended.top_p);
  recommended.min_p = min_p.value_or(recommended.min_p);
  return recommended;
}

std::string SamplingFlags::source(const std::string& recommended) const {
  std::string given;
  const auto add = [&given](const char* name, bool there) {
    if (there) given += given.empty() ? name : std::string(" ") + name;
  };
  add("--temp", temperature.has_value());
  add("--top-k", top_k.has_value());
  add("--top-p", top_p.has_value());
  add("--min-p", min_p.has_value());
  return given.empty() ? recommended : given + ", else " + recommended;
}

void add_sampling_options(CLI::App& app, SamplingFlags& flags) {
  app.option_defaults()->group("Sampling (defaults: what the model recommends)");
  const auto number = [&](const std::string& name, const std::string& description, std::optional<float>& target) {
    add_value(app, name, "X", description,
              [name, &target](const std::string& text) { target = static_cast<float>(parse_number(name, text)); });
  };
  number("--temp", "temperature; 0 takes the most probable token", flags.temperature);
  add_value(app, "--top-k", "N", "sample from the N most probable tokens; 0: from all",
            [&](const std::string& text) { flags.top_k = static_cast<int>(parse_integer("--top-k", text, 0)); });
  number("--top-p", "sample from the most probable tokens that make up this mass; 1: from all", flags.top_p);
  number("--min-p", "drop tokens less than this times as probable as the first; 0: none", flags.min_p);
}

SearchOptions SearchFlags::options() const {
  SearchOptions options;
  options.method = make_method(method, numbers);
  options.stat_temperature = stat_temperature;
  options.seed = seed;
  options.max_tokens = predict.value_or(options.max_tokens);
  options.max_total_tokens = max_total_tokens;
  validate(options, std::numeric_limits<int>::max());
  if (options.method.max_live() > kMostBranches) {
    const bool samples = method == "short-m@k";
    throw usage_error(
        fmt::format("{} {}: must be at most {}, the branches that an engine can keep",
                    options.method.branch.enabled ? "--max-branches" : (samples ? "--samples" : "--votes"),
                    options.method.max_live(), kMostBranches));
  }
  return options;
}

void add_search_options(CLI::App& app, SearchFlags& flags) {
  app.option_defaults()->group("Method");
  BranchRule& branch = flags.numbers.branch;
  // What depends on the method or the model is checked with it.
  const auto whole = [&app](const std::string& name, const std::string& description, int& target) {
    add_value(app, name, "N", description,
              [name, &target](const std::string& text) { target = static_cast<int>(parse_integer(name, text, 1)); });
  };
  const auto number = [&app](const std::string& name, const std::string& description, auto set) {
    add_value(app, name, "X", description, [name, set](const std::string& text) { set(parse_number(name, text)); });
  };
  add_value(app, "--method", "NAME", "how to decode; see dts methods (default dts-stable)",
            [&](const std::string& text) { flags.method = text; });
  whole("--branch-k", "children of a decision token (default 3)", branch.k);
  whole("--max-branches", "branches that live at once, at most (default 48)", branch.max_branches);
  whole("--votes", "finished trajectories that vote (default 8)", flags.numbers.votes);
  whole("--samples", "trajectories that short-m@k starts (default 48)", flags.numbers.samples);
  number("--tau-v", "varentropy from which a token is a decision, nats^2; inf never branches (default 1.5)",
         [&](double value) { branch.tau_v = value; });
  number("--tau-h", "entropy up to which a token is a decision, nats (default 2.5)",
         [&](double value) { branch.tau_h = value; });
  number("--stat-temp", "temperature of the statistics; the thresholds belong to it (default 0.6)",
         [&](double value) { flags.stat_temperature = static_cast<float>(value); });
  add_choice<Criterion>(
      app, "--criterion", branch.criterion,
      {{"decision", Criterion::kDecision}, {"high-entropy", Criterion::kHighEntropy}, {"either", Criterion::kEither}},
      "what makes a decision token (default decision: low entropy, high varentropy)");
  add_choice<Freeze>(app, "--freeze", branch.freeze,
                     {{"temporary", Freeze::kTemporary}, {"permanent", Freeze::kPermanent}},
                     "whether branching resumes below the cap (default temporary: it does)");
  whole("--warmup", "DeepConf: trajectories that set the bar (default: half of --votes, at most 16)",
        flags.numbers.warmup);
  whole("--window", "DeepConf: tokens its confidence is averaged over (default: an eighth of --predict, at most 2048)",
        flags.numbers.window);
  number("--consensus", "stop once an answer has this share of the votes; DeepConf's paper has 0.95 (default 0: never)",
         [&](double value) { flags.numbers.consensus = value; });
  number("--adaptive", "stop once the majority is this certain to stand, as 0.95 (default 0: never)",
         [&](double value) { flags.numbers.certainty = value; });
  add_value(app, "-s,--seed", "N", "seed of the random numbers; 'random' takes a new one (default 0)",
            [&](const std::string& text) { flags.seed = parse_seed(text); });

  app.option_defaults()->group("Budget");
  add_value(app, "-n,--predict,--n-predict", "N",
            "tokens a trajectory may have (default: what the context holds, at most 32768)",
            [&](const std::string& text) { flags.predict = static_cast<int>(parse_integer("--predict", text, 1)); });
  add_value(
      app, "--max-total-tokens", "N", "tokens over all branches (default: no limit)", [&](const std::string& text) {
        flags.max_total_tokens = parse_integer("--max-total-tokens", text, 1, std::numeric_limits<std::int64_t>::max());
      });
  add_value(app, "--max-seconds", "X", "time for prompt and decoding (default: no limit)",
            [&](const std::string& text) { flags.max_seconds = parse_seconds(text); });
}

}  // namespace dts::cli
