#include "cli/remote_bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/remote_bench.h"
#include "cli/commands.h"
#include "cli/example.h"
#include "cli/model_loader.h"
#include "cli/output.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double per_token(double value, const bench::StreamCost& cost) {
  return value / static_cast<double>(std::max<std::int64_t>(1, cost.tokens));
}

nlohmann::json to_json(const bench::StreamCost& cost) {
  return {{"seconds", cost.seconds},
          {"cpu_seconds", cost.cpu_seconds},
          {"tokens", cost.tokens},
          {"requests", cost.requests},
          {"bytes", cost.bytes}};
}

std::string row(const char* name, const bench::StreamCost& cost) {
  return fmt::format("{:<28}  {:>8}  {:>10.3f}  {:>13.1f}  {:>8}  {:>11.0f}\n", name, cost.tokens,
                     1e3 * per_token(cost.seconds, cost), 1e6 * per_token(cost.cpu_seconds, cost), cost.requests,
                     per_token(static_cast<double>(cost.bytes), cost));
}

}  // namespace

int bench_remote(const ModelFlags& flags, const RemoteBenchFlags& remote, bool json,
                 const std::function<void()>& stop_if_interrupted) {
  if (!flags.is_remote()) throw usage_error("--remote goes with --engine vllm, sglang or llama-server, and --url");
  bench::RemoteBenchOptions options;
  options.model = remote_model_options(flags);
  options.rounds = remote.rounds;
  const std::unique_ptr<LoadedModel> loaded = load_model(flags, {});
  const Model& model = **loaded;
  options.search.method = make_method("dts-stable", {.branch = {.max_branches = remote.branches}});
  options.search.method.branch.freeze = Freeze::kPermanent;
  options.search.method.stop.finished = StopRule::kAll;
  options.search.sampling = model.recommended_sampling().options;
  options.search.max_tokens = remote.max_tokens;
  std::vector<std::string> questions;
  for (int i = 1; i <= remote.questions; ++i) questions.push_back(read_example(i).question);
  const bench::RemoteBenchResult result = bench::run_remote_bench(model, questions, options, stop_if_interrupted);
  if (result.frozen_questions == 0) throw Error("no tree came to " + std::to_string(remote.branches) + " branches");

  if (json) {
    const nlohmann::json out = {{"model", model.info().name},
                                {"frozen", to_json(result.frozen)},
                                {"frozen_plain", to_json(result.frozen_plain)},
                                {"frozen_ratio_median", median(result.frozen_ratios)},
                                {"whole", to_json(result.whole)},
                                {"whole_plain", to_json(result.whole_plain)},
                                {"whole_ratio_median", median(result.whole_ratios)},
                                {"children", result.children},
                                {"searches", result.whole_ratios.size()},
                                {"frozen_searches", result.frozen_questions},
                                {"overshoot_tokens", result.overshoot}};
    return write_stdout(out.dump(2) + "\n"), kExitAnswered;
  }
  std::string text = fmt::format("{}: {} searches of {} branches, {} of them stopped branching\n", model.info().name,
                                 result.whole_ratios.size(), remote.branches, result.frozen_questions);
  text += "                                tokens  ms a token  our CPU us/tok  requests  bytes/token\n";
  text += row("tree, from the prompt on", result.whole) + row("plain streams", result.whole_plain);
  text += row("tree, branching has stopped", result.frozen) + row("plain streams", result.frozen_plain);
  text += fmt::format(
      "wall against plain streams: {:.2f}x in all, {:.2f}x once branching has stopped (medians of searches: {:.2f}x "
      "and "
      "{:.2f}x)\n",
      result.whole.seconds / result.whole_plain.seconds, result.frozen.seconds / result.frozen_plain.seconds,
      median(result.whole_ratios), median(result.frozen_ratios));
  const auto searches = static_cast<std::int64_t>(result.whole_ratios.size());
  text += fmt::format("{} requests for {} children of {} prompts; {} tokens were sent ahead and never used\n",
                      result.whole.requests, result.children, searches, result.overshoot);
  return write_stdout(text), kExitAnswered;
}

}  // namespace dts::cli
