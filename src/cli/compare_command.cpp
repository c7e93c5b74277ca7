// `dts compare`: one question, several methods, side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments.h"
#include "cli/busy_machine.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/decoding_flags.h"
#include "cli/example.h"
#include "cli/interrupt.h"
#include "cli/lists.h"
#include "cli/model_loader.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/output_format.h"
#include "cli/prompt_source.h"
#include "cli/question_run.h"
#include "cli/view.h"
#include "draw/pdf.h"
#include "dts/error.h"
#include "eval/report/render.h"
#include "eval/run/variants.h"
#include "io/whole_file.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

struct CompareFlags {
  PromptSource prompt;
  std::string expected;
  QuestionText text;
  std::vector<std::string> methods = {"standard", "dts-stable"};
  std::optional<std::vector<std::uint64_t>> seeds;
  ModelFlags model;
  DecodingOptions decoding;
  bool json = false;
  std::string output = "-";
  OutputFormat format = OutputFormat::kByName;
  bool no_colour = false;
};

const std::vector<OutputFormat> kFormats = {OutputFormat::kText, OutputFormat::kHtml,     OutputFormat::kSvg,
                                            OutputFormat::kJson, OutputFormat::kMarkdown, OutputFormat::kCsv,
                                            OutputFormat::kTex,  OutputFormat::kPdf};

struct PlannedRun {
  std::string label;
  SearchOptions options;
};

std::vector<PlannedRun> plan_of(const CompareFlags& flags, const SamplingOptions& recommended) {
  DecodingOptions base = flags.decoding;
  base.set_sampling(base.sampling(recommended));
  const std::vector<std::uint64_t> seeds =
      flags.seeds.value_or(std::vector<std::uint64_t>{flags.decoding.seed.value_or(0)});
  std::vector<PlannedRun> plan;
  for (const std::string& spec : flags.methods) {
    SearchOptions options = eval::parse_variant(spec, base);
    for (const std::uint64_t seed : seeds) {
      options.seed = seed;
      plan.push_back({spec, options});
    }
  }
  return plan;
}

// Which run is under way, on one line of a terminal that is gone afterwards.
class RunLine : public View {
 public:
  RunLine(const Terminal& terminal, bool shown) : terminal_(terminal), shown_(shown && terminal.interactive) {}
  ~RunLine() override { RunLine::close(); }

  void begin(const PlannedRun& run, std::size_t number, std::size_t all) {
    name_ = fmt::format("{} of {}: {}, seed {}", number, all, run.label, run.options.seed);
    show("");
  }
  void prefilling(int /*done*/, int /*total*/) override {}
  void stepped(const Snapshotter& search) override {
    if (!shown_ || ++steps_ % 16 != 0) return;  // a snapshot costs more than a line
    const Snapshot s = search.take();
    show(fmt::format(", step {}, {} live, {} finished", grouped(s.step), s.live, s.finished));
  }
  void stopping() override { show(", stopping"); }
  void close() override {
    if (painted_) write_stderr("\r\x1b[K");
    painted_ = false;
  }

 private:
  void show(const std::string& what) {
    if (!shown_) return;
    painted_ = true;
    write_stderr("\r" + shorten(one_line(name_ + what), terminal_.size().columns - 1) + "\x1b[K");
  }

  const Terminal& terminal_;
  bool shown_;
  bool painted_ = false;
  int steps_ = 0;
  std::string name_;
};

std::string render(const CompareFlags& flags, OutputFormat format, const Comparison& comparison) {
  switch (format) {
    case OutputFormat::kHtml:
      return eval::report::to_html(comparison_report(comparison));
    case OutputFormat::kMarkdown:
      return eval::report::to_markdown(comparison_report(comparison));
    case OutputFormat::kCsv:
      return eval::report::to_csv(comparison_report(comparison));
    case OutputFormat::kTex:
      return eval::report::to_tex(comparison_report(comparison));
    case OutputFormat::kSvg:
      return comparison_svg(comparison);
    case OutputFormat::kPdf:
      return svg_to_pdf(comparison_svg(comparison));
    case OutputFormat::kJson:
      return comparison_json(comparison).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    default:
      break;
  }
  Terminal terminal = detect_terminal(STDOUT_FILENO, flags.no_colour);
  if (flags.output != "-") terminal.interactive = terminal.colour = false;
  return comparison_text(comparison, terminal);
}

int compare(CompareFlags& flags) {
  const OutputFormat format = flags.json
                                  ? OutputFormat::kJson
                                  : format_of("--output", flags.output, flags.format, kFormats, OutputFormat::kText);
  // Whatever is wrong is said before a model is loaded.
  plan_of(flags, {});
  for (const std::string& text : flags.text.stop) {
    if (text.empty()) throw usage_error("--stop is '': it must have at least one character");
  }
  if (std::optional<Example> example = choose_example(flags.prompt)) {
    flags.text.question = std::move(example->question);
    if (flags.expected.empty()) flags.expected = std::move(example->answer);
  } else {
    flags.text.question = read_prompt(flags.prompt);
  }

  const Interrupt interrupt;
  const Terminal terminal = detect_terminal(STDERR_FILENO, flags.no_colour);
  const bool to_terminal = format == OutputFormat::kText && flags.output == "-";
  const std::unique_ptr<LoadedModel> loaded = load_model(
      flags.model, {.progress = nullptr, .stopping = [] { return Interrupt::requested(); }, .quiet = !to_terminal});
  if (!loaded) {
    print_error("interrupted while the model was being loaded");
    return kExitUnfinished;
  }
  note_busy_machine(flags.model, terminal);
  const Model& model = **loaded;
  std::vector<PlannedRun> plan = plan_of(flags, model.recommended_sampling().options);
  QuestionText text = flags.text;
  text.form = answer_form(flags.model, text.raw, std::nullopt, text.question);
  const ChatPrompt prompt = make_prompt(text, model.vocabulary());
  const auto prompt_tokens = static_cast<int>(prompt.tokens.size());
  int widest = 1;
  for (const PlannedRun& run : plan) {
    validate(run.options, model.vocabulary().size());
    widest = std::max(widest, run.options.method.max_live());
  }
  if (widest > model.info().most_branches) {
    throw usage_error(
        fmt::format("--methods want {} branches: this model's engine can keep {}", widest, model.info().most_branches));
  }
  const std::unique_ptr<Engine> engine =
      model
          .plan_engine({.max_branches = widest,
                        .context_length = choose_context(flags.model, flags.decoding, model.info(), prompt_tokens)})
          .make();
  const int room = engine->info().context_length - prompt_tokens;
  if (room < 1) {
    throw usage_error(fmt::format("the prompt has {}, but the context (--ctx-size) holds {}: shorten the prompt",
                                  counted(prompt_tokens, "token"), engine->info().context_length));
  }

  Comparison comparison{loaded->id(), flags.text.question, flags.expected, {}, true};
  RunLine line(terminal, !flags.json);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    line.begin(plan[i], i + 1, plan.size());
    limit_tokens(plan[i].options, room);
    TreeDocument document =
        decode(*engine, model.vocabulary(), prompt, plan[i].options, text, flags.decoding.max_seconds, line);
    document.model = loaded->id();
    document.question = flags.text.question;
    const bool failed = document.outcome.reason == StopReason::kFailed;
    if (failed)
      throw Error(fmt::format("{}, seed {}: {}", plan[i].label, plan[i].options.seed, document.outcome.error));
    if (document.outcome.reason == StopReason::kCancelled) {
      comparison.complete = false;
      break;
    }
    comparison.runs.push_back({plan[i].label, plan[i].options.seed, std::move(document)});
  }
  line.close();
  if (comparison.runs.empty()) {
    print_error("interrupted before the first method came to its end");
    return kExitUnfinished;
  }
  write_whole_file(flags.output, render(flags, format, comparison));
  if (!comparison.complete) print_note("interrupted: what came after is not shown");
  const bool answered = std::all_of(comparison.runs.begin(), comparison.runs.end(),
                                    [](const ComparedRun& run) { return run.document.outcome.winner.has_value(); });
  return comparison.complete && answered ? kExitAnswered : kExitUnfinished;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compare", "answer one question with several methods, side by side");
  auto flags = std::make_shared<CompareFlags>();
  command->footer(
      "The methods are decoded one after another, so that their times can be compared. With --expect, or for an\n"
      "--example, it says which of them is right.\n\n"
      "  dts compare --example\n"
      "  dts compare --example 3 --methods standard,self-consistency,dts-greedy,dts-stable --seeds 0-4\n"
      "  dts compare -m model.gguf \"How many primes are below 50?\" --expect 15 -o primes.html");
  command->option_defaults()->group("Question");
  add_prompt_options(*command, flags->prompt, "ask problem N of the built-in model's own (default 1)");
  add_value(*command, "--expect", "ANSWER", "the right answer, to say who is right", [flags](const std::string& text) {
    if (text.empty()) throw usage_error("--expect is '': it must be an answer");
    flags->expected = text;
  });
  add_value(*command, "--system", "TEXT", "system message",
            [flags](const std::string& text) { flags->text.system = text; });
  command->add_flag("--raw", flags->text.raw, "give the model the prompt as it is, without its chat template");
  command
      ->add_option("--stop", flags->text.stop,
                   "end a trajectory where its answer comes to this text; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->option_defaults()->group("What is compared");
  add_value(*command, "--methods", "NAME,...",
            "the methods (default standard,dts-stable); with numbers of its own as dts-stable:tau-h=1.2",
            [flags](const std::string& text) { flags->methods = parse_methods(text); });
  add_value(*command, "--seeds", "LIST", "several seeds, as 0-4 or 0,3,7",
            [flags](const std::string& text) { flags->seeds = parse_seeds(text); });
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);
  command->get_option("--method")->group("");  // --methods
  command->option_defaults()->group("Output");
  command->add_flag("--json", flags->json, "one JSON document, for programs");
  add_value(*command, "-o,--output", "FILE", "where to write it (default -: standard output)",
            [flags](const std::string& text) { flags->output = text; });
  add_format(*command, flags->format, kFormats, "text");
  command->add_flag("--no-color", flags->no_colour, "no colours (as the environment's NO_COLOR)");
  command->callback([flags, command, &exit_code] {
    if (command->get_option("--method")->count() > 0) {
      throw usage_error("--method is for one method: a comparison takes several, as --methods standard,dts-stable");
    }
    if (flags->seeds && flags->decoding.seed) {
      throw usage_error("--seed and --seeds contradict each other: one of them must go");
    }
    if (flags->json && flags->format != OutputFormat::kByName) {
      throw usage_error("--json and --format contradict each other: one of them must go");
    }
    exit_code = compare(*flags);
  });
}

}  // namespace dts::cli
