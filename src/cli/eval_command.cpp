// `dts eval`: methods x seeds x questions on one engine, every result kept the moment it is there.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/arguments.h"
#include "cli/builtin_model.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "dts/error.h"
#include "eval/dataset.h"
#include "eval/grade.h"
#include "eval/metrics.h"
#include "eval/runner.h"
#include "eval/store.h"

namespace dts::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct EvalFlags {
  ModelFlags model;
  SamplingFlags sampling;
  SearchFlags search;
  std::string dataset = "nano-bench";
  std::vector<std::filesystem::path> data;
  eval::DatasetOptions columns;
  std::vector<std::string> methods;
  std::vector<std::uint64_t> seeds = {0, 1, 2, 3, 4};
  std::size_t limit = 0;  // questions; 0: all
  int parallel = 0;       // branches over all questions; 0: chosen
  std::string out;
  bool json = false;
};

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

// "0-4", "3", "0,2,7-9".
std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62U;
  std::vector<std::uint64_t> seeds;
  for (const std::string& item : split_list(text)) {
    const std::size_t dash = item.find('-');
    const std::int64_t first = parse_integer("--seeds", item.substr(0, dash), 0, kMost);
    const std::int64_t last =
        dash == std::string::npos ? first : parse_integer("--seeds", item.substr(dash + 1), 0, kMost);
    if (last < first || last - first > 9999) {
      throw usage_error(fmt::format("--seeds has '{}': a range must rise and hold at most 10000 seeds", item));
    }
    for (std::int64_t seed = first; seed <= last; ++seed) seeds.push_back(static_cast<std::uint64_t>(seed));
  }
  if (seeds.empty()) throw usage_error(fmt::format("--seeds is '{}': it must be numbers or ranges, as 0-4", text));
  return seeds;
}

// Everything that decides a method's results: what a file's rows must have in common.
std::string settings_of(const LlamaModel& model, const SearchOptions& options, std::size_t questions) {
  const Method& method = options.method;
  nlohmann::json out = {{"model", model.name()},
                        {"model_parameters", model.parameters()},
                        {"model_bytes", model.size_bytes()},
                        {"questions", questions},
                        {"method", method.name},
                        {"width", method.width},
                        {"stop_finished", method.stop.finished == StopRule::kAll ? 0 : method.stop.finished},
                        {"temperature", options.sampling.temperature},
                        {"top_k", options.sampling.top_k},
                        {"top_p", options.sampling.top_p},
                        {"min_p", options.sampling.min_p},
                        {"max_tokens", options.max_tokens},
                        {"max_total_tokens", options.max_total_tokens}};
  if (method.stop.consensus > 0) out["consensus"] = method.stop.consensus;
  if (method.stop.certainty > 0) out["certainty"] = method.stop.certainty;
  if (method.retire.enabled) {
    out["warmup"] = method.retire.warmup;
    out["keep"] = method.retire.keep;
    out["window"] = method.retire.window;
  }
  if (method.branch.enabled) {
    out["stat_temperature"] = options.stat_temperature;
    out["tau_v"] = fmt::format("{}", method.branch.tau_v);
    out["tau_h"] = method.branch.tau_h;
    out["branch_k"] = method.branch.k;
    out["max_branches"] = method.branch.max_branches;
    out["criterion"] = static_cast<int>(method.branch.criterion);
    out["freeze"] = static_cast<int>(method.branch.freeze);
  }
  return out.dump();
}

eval::Dataset load_questions(const EvalFlags& flags) {
  std::vector<std::filesystem::path> files = flags.data;
  if (files.empty()) {
    if (flags.dataset != "nano-bench" && flags.dataset != "nano-bench-mini") {
      const eval::DatasetInfo& info = eval::find_dataset(flags.dataset);
      throw usage_error(fmt::format("--data is missing: {} is read from a file that you have ({})", info.name,
                                    info.source.empty() ? "any jsonl, csv or parquet" : info.source));
    }
    files.push_back(find_builtin_data(flags.dataset + ".jsonl"));
  }
  const std::string name = flags.dataset == "nano-bench-mini" ? "nano-bench" : flags.dataset;
  eval::Dataset dataset = eval::load_dataset(name, files, flags.columns);
  if (flags.limit > 0 && flags.limit < dataset.questions.size()) dataset.questions.resize(flags.limit);
  return dataset;
}

eval::Grading grading_of(const eval::DatasetInfo& info) {
  eval::Grading grading;
  grading.vote = [info](const eval::Question& question, std::string_view text, bool opens) {
    return eval::answer_for_vote(info, question, text, opens);
  };
  grading.grade = [info](const eval::Question& question, std::string_view text, bool opens) {
    return eval::grade(info, question, text, opens);
  };
  return grading;
}

// One line that is rewritten on a terminal, and a line every few seconds in a log.
class ProgressLine {
 public:
  ProgressLine(const Terminal& terminal, bool shown) : terminal_(terminal), shown_(shown) {}

  void show(const eval::Progress& progress) {
    score_ += progress.row->score;
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    const bool last = progress.done == progress.total;
    if (!shown_ || (!last && now - painted_ < (terminal_.interactive ? 0.1 : 10.0))) return;
    painted_ = now;
    const auto done = static_cast<double>(progress.done);
    const double left = now / done * static_cast<double>(progress.total - progress.done);
    const std::string line = fmt::format("{} of {} done, {} left; {:.1f}% right; at {}, seed {}",
                                         grouped(static_cast<std::int64_t>(progress.done)),
                                         grouped(static_cast<std::int64_t>(progress.total)), seconds(left),
                                         100 * score_ / done, progress.row->key.method, progress.row->key.seed);
    write_stderr(terminal_.interactive
                     ? "\r" + shorten(line, terminal_.size().columns - 1) + "\x1b[K" + (last ? "\n" : "")
                     : "dts: " + line + "\n");
  }

 private:
  const Terminal& terminal_;
  bool shown_;
  double score_ = 0;
  double painted_ = -1e9;
  Clock::time_point start_ = Clock::now();
};

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string table(const std::vector<eval::Summary>& summaries) {
  std::string out = fmt::format("{:<18} {:>5} {:>6}  {:<14} {:<22} {:>8} {:>8} {:>7} {:>7} {:>8}\n", "method", "rows",
                                "right", "95%", "against standard", "tokens", "steps", "events", "never", "seconds");
  for (const eval::Summary& s : summaries) {
    const std::string interval = percent(s.accuracy.low) + " to " + percent(s.accuracy.high);
    const std::string gain = s.paired ? fmt::format("{:+.1f} ({:+.1f} to {:+.1f})", 100 * s.difference.mean,
                                                    100 * s.difference.low, 100 * s.difference.high)
                                      : "";
    out += fmt::format("{:<18} {:>5} {:>6}  {:<14} {:<22} {:>8.0f} {:>8.0f} {:>7.1f} {:>6}% {:>8.2f}\n", s.method,
                       s.rows, percent(s.accuracy.mean), interval, gain, s.tokens, s.steps, s.branch_events,
                       percent(s.unfinished), s.seconds);
  }
  return out;
}

nlohmann::json to_json(const eval::Summary& s) {
  nlohmann::json out = {{"dataset", s.dataset},
                        {"method", s.method},
                        {"questions", s.questions},
                        {"seeds", s.seeds},
                        {"rows", s.rows},
                        {"accuracy", s.accuracy.mean},
                        {"accuracy_low", s.accuracy.low},
                        {"accuracy_high", s.accuracy.high},
                        {"tokens", s.tokens},
                        {"branch_tokens", s.branch_tokens},
                        {"chosen_tokens", s.chosen_tokens},
                        {"steps", s.steps},
                        {"branch_events", s.branch_events},
                        {"seconds", s.seconds},
                        {"flops", s.flops},
                        {"unfinished", s.unfinished},
                        {"unextracted", s.unextracted}};
  if (s.paired) {
    out["difference"] = s.difference.mean;
    out["difference_low"] = s.difference.low;
    out["difference_high"] = s.difference.high;
  }
  return out;
}

std::vector<eval::Variant> make_variants(const EvalFlags& flags, const LlamaModel& model) {
  std::vector<eval::Variant> variants;
  for (const std::string& name : flags.methods) {
    SearchFlags search = flags.search;
    search.method = name;
    eval::Variant variant{name, search.options()};
    variant.options.sampling = flags.sampling.over(model.recommended_sampling());
    validate(variant.options, model.vocabulary().size());
    variants.push_back(std::move(variant));
  }
  return variants;
}

int evaluate(EvalFlags& flags) {
  if (flags.methods.empty()) flags.methods = {flags.search.method};
  const eval::Dataset dataset = load_questions(flags);
  const Interrupt interrupt;
  const ModelFileGuard file(flags.model.path.empty() ? find_builtin_model() : ModelFile{flags.model.path});
  LlamaModelOptions model_options;
  model_options.path = file.get().path;
  model_options.gpu_layers = flags.model.gpu_layers;
  const LlamaModel model(model_options);
  std::vector<eval::Variant> variants = make_variants(flags, model);

  int widest = 1;
  for (const eval::Variant& variant : variants) widest = std::max(widest, variant.options.method.max_live());
  // Enough for a few of the widest searches at once; a step over more branches costs less a branch.
  constexpr int kMostBranches = 192;
  const int branches = flags.parallel > 0 ? flags.parallel : std::max(widest, kMostBranches / widest * widest);
  const auto engine =
      make_llama_engine(model, flags.model.engine(std::max(branches, widest), flags.model.context_size));
  for (eval::Variant& variant : variants) {
    variant.options.max_tokens = std::min(variant.options.max_tokens, engine->info().context_length);
  }

  eval::Store store(flags.out);
  for (const eval::Variant& variant : variants) {
    store.require_settings(std::string(dataset.info.name), variant.label,
                           settings_of(model, variant.options, dataset.questions.size()));
  }
  const Terminal terminal = detect_terminal(STDERR_FILENO, false);
  ProgressLine line(terminal, !flags.json);
  eval::RunnerInputs inputs;
  inputs.engine = engine.get();
  inputs.vocabulary = &model.vocabulary();
  inputs.model = model.name();
  inputs.dataset = &dataset;
  inputs.variants = std::move(variants);
  inputs.seeds = flags.seeds;
  inputs.grading = grading_of(dataset.info);
  inputs.on_row = [&line](const eval::Progress& progress) { line.show(progress); };
  inputs.stopping = [] { return Interrupt::requested(); };
  const bool finished = eval::run_evaluation(inputs, store);

  const std::vector<eval::Row> rows = store.rows();
  const std::vector<eval::Summary> summaries = eval::summarise(rows);
  if (flags.json) {
    nlohmann::json out = nlohmann::json::array();
    for (const eval::Summary& summary : summaries) out.push_back(to_json(summary));
    write_stdout(out.dump(2) + "\n");
  } else {
    write_stdout(table(summaries));
    if (!finished) print_note(fmt::format("stopped; the same command goes on where {} ends", flags.out));
  }
  return finished ? kExitAnswered : kExitUnfinished;
}

}  // namespace

void add_eval_command(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "compare methods on a dataset");
  command->option_defaults()->group("Evaluation");
  add_value(*command, "--dataset", "NAME", "which questions (default nano-bench; nano-bench-mini has 30 of them)",
            [flags](const std::string& text) { flags->dataset = text; });
  add_value(*command, "--data", "FILE,...", "the dataset's file or files, as its hub has them",
            [flags](const std::string& text) {
              for (const std::string& item : split_list(text)) flags->data.emplace_back(item);
            });
  add_value(*command, "--question-field", "NAME", "column with the question",
            [flags](const std::string& text) { flags->columns.question_field = text; });
  add_value(*command, "--answer-field", "NAME", "column with the right answer",
            [flags](const std::string& text) { flags->columns.answer_field = text; });
  add_value(*command, "--methods", "NAME,...", "methods to compare (default: the one of --method)",
            [flags](const std::string& text) { flags->methods = split_list(text); });
  add_value(*command, "--seeds", "LIST", "seeds, as 0-4 or 0,3,7 (default 0-4)",
            [flags](const std::string& text) { flags->seeds = parse_seeds(text); });
  add_value(*command, "--limit", "N", "only the first N questions", [flags](const std::string& text) {
    flags->limit = static_cast<std::size_t>(parse_integer("--limit", text, 1));
  });
  add_value(*command, "--parallel", "N", "branches at once over all questions (default: up to 192)",
            [flags](const std::string& text) {
              flags->parallel = static_cast<int>(parse_integer("--parallel", text, 1, 255));
            });
  add_value(*command, "-o,--out", "FILE", "where results are kept; an evaluation goes on where this file ends",
            [flags](const std::string& text) { flags->out = text; })
      ->required();
  command->add_flag("--json", flags->json, "the summary as JSON");
  add_model_options(*command, flags->model);
  add_search_options(*command, flags->search);
  add_sampling_options(*command, flags->sampling);
  command->callback([flags, &exit_code] { exit_code = evaluate(*flags); });
}

}  // namespace dts::cli
