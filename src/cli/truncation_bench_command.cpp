#include "cli/truncation_bench_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/truncation_bench.h"
#include "cli/commands.h"
#include "cli/example.h"
#include "cli/model_loader.h"
#include "cli/output.h"
#include "dts/model.h"

namespace dts::cli {
namespace {

constexpr int kQuestions = 30;  // the built-in model's own problems, which any model can be asked

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::json to_json(const bench::TruncationRow& row) {
  return {{"candidates", row.candidates},
          {"steps", row.steps},
          {"decisions", row.decisions},
          {"undecided", row.undecided},
          {"undecided_decisions", row.undecided_decisions},
          {"wrong", row.wrong},
          {"missed", row.missed},
          {"entropy_width", row.entropy_width},
          {"varentropy_width", row.varentropy_width}};
}

}  // namespace

int bench_truncation(const ModelFlags& flags, const TruncationFlags& truncation, bool json,
                     const std::function<void()>& stop_if_interrupted) {
  const std::unique_ptr<LoadedModel> loaded = load_model(flags, {});
  const Model& model = **loaded;
  std::vector<std::vector<Token>> prompts;
  for (int i = 1; i <= kQuestions; ++i) {
    const std::vector<ChatMessage> messages = {{"user", read_example(i).question}};
    prompts.push_back(model.vocabulary().chat(messages).tokens);
  }
  bench::TruncationOptions options;
  options.candidates = truncation.candidates;
  options.sampling = model.recommended_sampling().options;
  std::size_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, prompt.size());
  const std::unique_ptr<Engine> engine =
      model.make_engine({.max_branches = 1, .context_length = static_cast<int>(longest) + options.max_tokens});
  const std::vector<bench::TruncationRow> rows = bench::run_truncation_bench(
      *engine, prompts, [&](Token token) { return model.vocabulary().is_end(token); }, options, stop_if_interrupted);

  if (json) {
    nlohmann::json out = {{"model", model.info().name}, {"rows", nlohmann::json::array()}};
    for (const bench::TruncationRow& row : rows) out["rows"].push_back(to_json(row));
    return write_stdout(out.dump(2) + "\n"), kExitAnswered;
  }
  std::string text = fmt::format("{}: {} tokens of {} trajectories, {} of them decision tokens\n", model.info().name,
                                 rows.front().steps, prompts.size(), rows.front().decisions);
  text += "candidates  undecided  of decisions  decided wrongly  missed  width of H  width of VE\n";
  for (const bench::TruncationRow& row : rows) {
    text += fmt::format("{:>10}  {:>8.2f}%  {:>11.1f}%  {:>6} ({:.3f}%)  {:>6}  {:>10.4f}  {:>11.4f}\n", row.candidates,
                        percent(row.undecided, row.steps), percent(row.undecided_decisions, row.decisions), row.wrong,
                        percent(row.wrong, row.steps), row.missed, row.entropy_width, row.varentropy_width);
  }
  return write_stdout(text), kExitAnswered;
}

}  // namespace dts::cli
