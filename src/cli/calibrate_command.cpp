// `dts calibrate`: where a model's entropy and varentropy lie, how often the thresholds would branch, and which would
// branch as often as wanted.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/arguments.h"
#include "cli/calibration_picture.h"
#include "cli/commands.h"
#include "cli/decoding_flags.h"
#include "cli/example.h"
#include "cli/interrupt.h"
#include "cli/model_loader.h"
#include "cli/output.h"
#include "dts/error.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "io/whole_file.h"
#include "text/ascii.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

constexpr int kDefaultTokens = 512;      // of a trajectory
constexpr int kMostBranchesAtOnce = 16;  // decoded together
constexpr int kBuiltInQuestions = 12;    // of the built-in model's own
constexpr std::size_t kLargestFile = std::size_t{16} << 20U;

// For a model that reasons: short, of several kinds, with paths that differ.
constexpr std::array kQuestions = {
    "How many positive integers below 200 are divisible by neither 2 nor 3 nor 5?",
    "A train leaves at 9:40 and arrives at 13:05 after two stops of 7 minutes each. How long was it moving?",
    "Find all real x with |x - 3| + |x + 1| = 6.",
    "In a bag are 4 red and 6 blue balls. Two are drawn without putting back. How probable is it that they differ?",
    "Write a function that returns the second largest number of a list, and say what it does with repeated numbers.",
    "Which is heavier, a litre of ice or a litre of water, and why? Answer in three sentences.",
};

struct CalibrateFlags {
  ModelFlags model;
  DecodingOptions decoding;
  std::string prompt;
  std::string prompts;  // file, one prompt a line
  int trajectories = 4;
  double rate = 0;
  ThresholdChoice choice = ThresholdChoice::kTauV;
  std::string save;
  std::string svg;
  std::string html;
  bool json = false;
  bool quiet = false;
  bool raw = false;
  bool no_colour = false;
};

std::vector<std::string> prompts_of(const CalibrateFlags& flags) {
  std::vector<std::string> prompts;
  if (!flags.prompt.empty()) prompts.push_back(flags.prompt);
  if (!flags.prompts.empty()) {
    std::istringstream lines(read_whole_file(flags.prompts, kLargestFile));
    for (std::string line; std::getline(lines, line);) {
      if (!text::trim(line).empty()) prompts.emplace_back(text::trim(line));
    }
    if (prompts.empty()) throw Error(fmt::format("{}: there is no prompt in it", flags.prompts));
  }
  if (!prompts.empty()) return prompts;
  if (!flags.model.is_built_in()) return {kQuestions.begin(), kQuestions.end()};
  for (int i = 1; i <= kBuiltInQuestions; ++i) prompts.push_back(read_example(i).question);
  return prompts;
}

ChatPrompt prompt_of(const CalibrateFlags& flags, const std::string& question, const Vocabulary& vocabulary) {
  if (flags.raw) return {question, vocabulary.tokenize_prompt(question), false};
  const std::vector<ChatMessage> messages = {{"user", question}};
  return vocabulary.chat(messages);
}

// What is counted while it runs: one line on a terminal.
class CountLine {
 public:
  explicit CountLine(bool shown) : shown_(shown) {}
  ~CountLine() {
    if (last_ > 0) write_stderr("\r\x1b[K");
  }
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  void show(std::size_t tokens, int done, int all) {
    constexpr std::size_t kEvery = 64;
    if (!shown_ || tokens < last_ + kEvery) return;
    last_ = tokens;
    write_stderr(fmt::format("\r{} tokens, {} of {} trajectories\x1b[K",
                             text::grouped(static_cast<std::int64_t>(tokens)), done, all));
  }

 private:
  bool shown_;
  std::size_t last_ = 0;
};

// Plain trajectories: what the thresholds would make of them, without their having made anything of it.
void decode(const CalibrateFlags& flags, const Model& model, const std::vector<ChatPrompt>& prompts,
            CalibrationReport& report) {
  SearchOptions options = flags.decoding.search();
  options.sampling = flags.decoding.sampling(model.recommended_sampling().options);
  options.method = make_method("standard", {});
  options.top_k = 1;  // without a candidate nobody would compute H and VE
  options.max_tokens = flags.decoding.max_tokens.value_or(kDefaultTokens);
  std::size_t longest = 0;
  for (const ChatPrompt& prompt : prompts) longest = std::max(longest, prompt.tokens.size());
  const int context = std::min(static_cast<int>(longest) + options.max_tokens,
                               model.info().training_context > 0 ? model.info().training_context : 1 << 30);
  const int all = static_cast<int>(prompts.size()) * flags.trajectories;
  const std::unique_ptr<Engine> engine = model.make_engine(
      {.max_branches = std::min({all, kMostBranchesAtOnce, model.info().most_branches}), .context_length = context});
  limit_tokens(options, engine->info().context_length - static_cast<int>(longest));
  report.exact = engine->info().capabilities.exact_statistics;

  Scheduler scheduler(*engine);
  CountLine line(detect_terminal(STDERR_FILENO, flags.no_colour).interactive && !flags.quiet && !flags.json);
  std::vector<JobId> ids;
  std::vector<std::shared_ptr<Search>> searches;
  int done = 0;
  std::string failure;
  const std::uint64_t seed = options.seed;
  for (int i = 0; i < all; ++i) {
    const ChatPrompt& prompt = prompts[static_cast<std::size_t>(i / flags.trajectories)];
    options.seed = seed + static_cast<std::uint64_t>(i);
    std::shared_ptr<Search> search = make_text_search(model.vocabulary(), prompt, options);
    search->on_predictions = [&report, i](std::span<const Prediction> predictions) {
      for (const Prediction& prediction : predictions) {
        if (prediction.status == Prediction::Status::kOk && std::isfinite(prediction.entropy)) {
          report.tokens.push_back({prediction.entropy, prediction.varentropy, i});
        }
      }
    };
    Job job;
    job.search = search;
    job.max_seconds = flags.decoding.max_seconds;
    job.on_done = [&done, &failure, at = search.get()](const JobTimes&) {
      ++done;
      if (at->reason() == StopReason::kFailed) failure = at->outcome().error;
    };
    searches.push_back(std::move(search));
    ids.push_back(scheduler.submit(std::move(job)));
  }
  bool cancelled = false;
  while (scheduler.step()) {
    line.show(report.tokens.size(), done, all);
    if (!Interrupt::requested() || cancelled) continue;
    cancelled = true;  // what has come is shown
    for (const JobId id : ids) scheduler.cancel(id);
  }
  if (report.tokens.empty()) throw Error(failure.empty() ? "there is not one token to look at" : failure);
  report.trajectories = all;
}

nlohmann::json to_json(const CalibrationReport& report) {
  const auto rate = [&](const Thresholds& thresholds) -> nlohmann::json {
    const BranchRate found = branch_rate(report.tokens, thresholds);
    return {
        {"tau_v", thresholds.tau_v}, {"tau_h", thresholds.tau_h}, {"rate", found.per_thousand}, {"error", found.error}};
  };
  nlohmann::json out = {{"model", report.model},
                        {"prompts", report.prompts},
                        {"trajectories", report.trajectories},
                        {"tokens", report.tokens.size()},
                        {"stat_temp", report.stat_temperature},
                        {"exact", report.exact},
                        {"choose", dts::name_of(kThresholdChoices, report.choice)},
                        {"present", rate(report.present)},
                        {"table", nlohmann::json::array()}};
  const Quantiles values = quantiles(report.tokens);
  out["quantiles"] = {{"shares", Quantiles::kShares}, {"entropy", values.entropy}, {"varentropy", values.varentropy}};
  for (const double wanted : kShownRates) {
    nlohmann::json row = rate(thresholds_for(report.tokens, wanted, report.present, report.choice));
    row["wanted"] = wanted;
    out["table"].push_back(row);
  }
  if (report.wanted_rate > 0) {
    out["chosen"] = rate(report.chosen);
    out["chosen"]["wanted"] = report.wanted_rate;
  }
  return out;
}

int calibrate(const CalibrateFlags& flags) {
  if (!flags.save.empty() && flags.rate == 0) {
    throw usage_error("--save needs --rate: how many decisions a thousand tokens should have");
  }
  flags.decoding.search();  // what is wrong with it is said before a model is loaded
  const std::vector<std::string> questions = prompts_of(flags);
  const Interrupt interrupt;
  LoadingHooks hooks;
  hooks.stopping = [] { return Interrupt::requested(); };
  hooks.quiet = flags.quiet || flags.json;
  const std::unique_ptr<LoadedModel> loaded = load_model(flags.model, hooks);
  if (!loaded) {
    print_error("interrupted while the model was being loaded");
    return kExitUnfinished;
  }
  const Model& model = **loaded;
  std::vector<ChatPrompt> prompts;
  for (const std::string& question : questions) prompts.push_back(prompt_of(flags, question, model.vocabulary()));

  CalibrationReport report;
  report.model = model.info().name;
  report.prompts = static_cast<int>(prompts.size());
  report.stat_temperature = flags.decoding.stat_temperature;
  report.present = {flags.decoding.numbers.branch.tau_v, flags.decoding.numbers.branch.tau_h};
  decode(flags, model, prompts, report);
  report.wanted_rate = flags.rate;
  report.choice = flags.choice;
  if (flags.rate > 0) report.chosen = thresholds_for(report.tokens, flags.rate, report.present, flags.choice);

  if (!flags.svg.empty()) write_whole_file(flags.svg, calibration_svg(report));
  if (!flags.html.empty()) write_whole_file(flags.html, calibration_html(report));
  if (!flags.save.empty()) write_whole_file(flags.save, calibration_profile(report));
  if (flags.json) {
    write_stdout(to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    write_stdout(calibration_text(report, detect_terminal(STDOUT_FILENO, flags.no_colour)));
    if (!flags.save.empty()) print_note(fmt::format("{} is what --profile reads", flags.save));
  }
  return kExitAnswered;
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("calibrate", "find the thresholds that suit a model");
  auto flags = std::make_shared<CalibrateFlags>();
  command->footer(
      "Samples a few plain trajectories and shows where entropy (H) and varentropy (VE) lie, how often the present\n"
      "--tau-v and --tau-h would branch per thousand tokens, and which would do so as often as --rate says.\n"
      "--choose tau-v keeps --tau-h (the default), tau-h keeps --tau-v; both lets --tau-h leave out the tenth with\n"
      "the most entropy of the tokens with the most varentropy, where the model guesses among many, and finds\n"
      "--tau-v then.\n"
      "Ctrl-C ends the sampling and shows what has come.\n\n"
      "  dts calibrate -hf ORG/REPO --rate 10 --save model.toml --html model.html\n"
      "  dts run -hf ORG/REPO --profile model.toml \"...\"");
  command->option_defaults()->group("Calibration");
  add_value(*command, "question", "PROMPT", "a prompt (default: a few built-in ones)",
            [flags](const std::string& text) { flags->prompt = text; });
  add_value(*command, "--prompts", "FILE", "prompts, one a line; - is standard input",
            [flags](const std::string& text) { flags->prompts = text; });
  add_value(*command, "--trajectories", "N", "trajectories to sample for a prompt (default 4)",
            [flags](const std::string& text) {
              flags->trajectories = static_cast<int>(parse_integer("--trajectories", text, 1, 10000));
            });
  add_value(*command, "--rate", "X", "decisions that a thousand tokens should have", [flags](const std::string& text) {
    flags->rate = parse_number("--rate", text);
    if (!(flags->rate > 0 && flags->rate <= 1000)) {
      throw usage_error(fmt::format("--rate is {}: it must be a number above 0 and at most 1000", text));
    }
  });
  add_choice<ThresholdChoice>(
      *command, "--choose", flags->choice,
      {{"tau-v", ThresholdChoice::kTauV}, {"tau-h", ThresholdChoice::kTauH}, {"both", ThresholdChoice::kBoth}},
      "what --rate and the table choose (default tau-v)");
  command->add_flag("--raw", flags->raw, "give the model the prompts as they are, without its chat template");
  add_value(*command, "--save", "FILE", "write the thresholds for --rate as a profile, which --profile reads",
            [flags](const std::string& text) { flags->save = text; });
  add_value(*command, "--svg", "FILE", "write the map as SVG", [flags](const std::string& text) { flags->svg = text; });
  add_value(*command, "--html", "FILE", "write map and tables as a page",
            [flags](const std::string& text) { flags->html = text; });
  command->add_flag("--json", flags->json, "the figures as JSON, and nothing else");
  command->add_flag("-q,--quiet", flags->quiet, "no notes and no progress");
  command->add_flag("--no-color", flags->no_colour, "no colours (as the environment's NO_COLOR)");
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);
  command->callback([flags, &exit_code] { exit_code = calibrate(*flags); });
}

}  // namespace dts::cli
