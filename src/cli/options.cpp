#include "cli/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "cli/arguments.h"
#include "dts/error.h"
#include "dts/llama.h"

namespace dts::cli {
namespace {

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

}  // namespace

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
