// `dts run`: one question, decoded as a tree, watched and answered.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/busy_machine.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/decoding_flags.h"
#include "cli/example.h"
#include "cli/interrupt.h"
#include "cli/model_loader.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/output_format.h"
#include "cli/prompt_source.h"
#include "cli/question_run.h"
#include "cli/run_report.h"
#include "cli/spelling.h"
#include "cli/tree_formats.h"
#include "cli/view.h"
#include "dts/answer.h"
#include "dts/error.h"
#include "dts/model.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "dts/tree_file.h"
#include "io/whole_file.h"
#include "question/answer_form.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

using Clock = std::chrono::steady_clock;

struct RunFlags {
  PromptSource prompt;
  std::string system;
  bool raw = false;
  std::vector<std::string> stop;
  std::optional<AnswerForm> answer;  // none: auto, but for the built-in model, which knows no such words
  ModelFlags model;
  DecodingOptions decoding;
  bool json = false;
  std::string save_tree;
  bool verbose = false;
  bool quiet = false;
  bool no_colour = false;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// As the name's ending says; a tree for dts tree where it says nothing.
OutputFormat save_format(const std::string& path) {
  return format_of("--save-tree", path, OutputFormat::kByName,
                   {OutputFormat::kJson, OutputFormat::kHtml, OutputFormat::kSvg, OutputFormat::kPdf,
                    OutputFormat::kDot, OutputFormat::kText},
                   OutputFormat::kJson);
}

// Fails now rather than after minutes of decoding.
void check_writable(const std::string& path) {
  if (path.empty()) return;
  if (path == "-")
    throw usage_error("--save-tree is '-': it must be a file; --json writes the tree to standard output");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(fmt::format("--save-tree '{}': it is a directory, not a file", path));
  }
  // A file is replaced by renaming, for which its directory counts; a device or a pipe is written to as it is.
  save_format(path);
  const bool replaced = !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
  const std::filesystem::path file = std::filesystem::absolute(path);
  const std::filesystem::path target = replaced ? file.parent_path() : file;
  for (const std::filesystem::path& place : {target, file}) {
    if (!std::filesystem::exists(place, ignored) && place != target) continue;
    if (access(place.c_str(), W_OK) == 0) continue;
    throw Error(fmt::format("--save-tree '{}': cannot write to {}: {}", path, place.string(), strerror(errno)));
  }
}

// Where nobody said how long trajectories may be and memory decides, it should not go unnoticed.
void note_short_context(const RunFlags& flags, const ModelInfo& model, const EnginePlan& plan, int room, int wanted) {
  const bool by_memory = plan.context_length < model.training_context && room < wanted;
  if (flags.quiet || flags.decoding.max_tokens || flags.model.context_size > 0 || !by_memory) return;
  print_note(fmt::format(
      "memory has room for trajectories of {} (the model could have {}); --kv unified, --kv-type q8_0 or fewer "
      "branches make more, and -n says how many",
      counted(room, "token"), grouped(model.training_context)));
}

// While a large model is read: one line that is gone afterwards.
class LoadingLine {
 public:
  LoadingLine(const Terminal& terminal, bool shown) : shown_(shown && terminal.interactive) {}
  ~LoadingLine() {
    if (percent_ >= 0) write_stderr("\r\x1b[K");
  }
  LoadingLine(const LoadingLine&) = delete;
  LoadingLine& operator=(const LoadingLine&) = delete;

  void show(float fraction) {
    const int percent = static_cast<int>(100 * fraction);
    if (!shown_ || percent == percent_ || since(start_) < 0.25) return;
    percent_ = percent;
    write_stderr(fmt::format("\rloading the model {}%\x1b[K", percent));
  }

 private:
  bool shown_;
  int percent_ = -1;
  Clock::time_point start_ = Clock::now();
};

// Null when it was interrupted.
std::unique_ptr<LoadedModel> load(const RunFlags& flags, const Terminal& terminal) {
  if (flags.model.is_built_in() && !flags.prompt.example && !flags.quiet && !flags.json) {
    print_note(
        "this is the tiny built-in model, which knows three kinds of problems (dts run --example); "
        "-m model.gguf asks a real one");
  }
  LoadingLine line(terminal, !flags.quiet && !flags.json);
  LoadingHooks hooks;
  hooks.progress = [&line](float fraction) { line.show(fraction); };
  hooks.stopping = [] { return Interrupt::requested(); };
  hooks.quiet = flags.quiet;
  return load_model(flags.model, hooks);
}

void print_facts(const std::string& name, const ModelInfo& model, const EnginePlan& plan) {
  write_stderr(fmt::format("model    {} ({}), {} parameters, {} bytes, trained for {} tokens\n{}\n", one_line(name),
                           one_line(model.architecture), scaled(static_cast<double>(model.parameters)),
                           grouped(model.size_bytes), grouped(model.training_context), plan.description));
}

FrameTitle make_title(const std::string& model, const SearchOptions& options, const std::string& question,
                      const Glyphs& glyphs) {
  FrameTitle title;
  title.model = one_line(model);
  title.method = options.method.name;
  title.settings = describe_settings(options, glyphs);
  title.sampling = describe_sampling(options.sampling, glyphs);
  title.question = one_line(question);
  title.max_live = options.method.max_live();
  // A tree that grows to its end finishes as many as it comes to have.
  const int all = options.method.branch.enabled ? options.method.max_live() : options.method.width;
  title.wanted = options.method.stop.finished == StopRule::kAll ? all : options.method.stop.finished;
  return title;
}

std::unique_ptr<View> choose_view(const RunFlags& flags, const FrameTitle& title, const Terminal& terminal) {
  if (flags.quiet || flags.json) return make_silent_view();
  return terminal.interactive ? make_live_view(title, terminal) : make_line_view(title);
}

// Beside an example's answer: what the other way of decoding makes of it. Standard decoding, unless that is what was
// asked for.
ComparedRun decode_beside(const RunFlags& flags, Engine& engine, const Model& model, const ChatPrompt& prompt,
                          const QuestionText& text, const SearchOptions& options) {
  DecodingOptions decoding;
  decoding.method = options.method.name == "standard" ? "dts-stable" : "standard";
  SearchOptions other = decoding.search();
  other.sampling = options.sampling;
  other.seed = options.seed;
  other.max_tokens = options.max_tokens;
  const std::unique_ptr<View> view = make_silent_view();
  return {decoding.method, other.seed,
          decode(engine, model.vocabulary(), prompt, other, text, flags.decoding.max_seconds, *view)};
}

// `beside`: of an example, the runs of both methods; these are what one came to see. Empty: none.
int print_result(const RunFlags& flags, const Comparison& beside, const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  // The tree first, for a reader that goes away; but an answer is not lost to a tree that cannot be kept.
  std::optional<Error> not_saved;
  if (!flags.save_tree.empty()) {
    try {
      write_whole_file(flags.save_tree, draw_as(document, save_format(flags.save_tree)));
    } catch (const Error& error) {
      not_saved = error;
    }
  }
  if (flags.json) {
    write_stdout(to_json_text(document));
  } else if (flags.quiet) {
    if (outcome.winner) write_stdout(bare_answer(document) + "\n");
  } else {
    const Terminal terminal = detect_terminal(STDOUT_FILENO, flags.no_colour);
    std::string report;
    if (beside.runs.empty() || flags.verbose) report = report_text(document, terminal);
    if (!beside.runs.empty()) {
      if (!report.empty()) report += "\n";
      report += example_text(beside, terminal, !flags.verbose);
      if (!flags.verbose) {
        constexpr std::string_view kMore = "-v adds what it wrote and what it cost; dts serve shows it in a browser";
        report += "\n" + styled(kMore, Style::kDim, terminal.colour) + "\n";
      }
    }
    write_stdout(report);
  }
  if (not_saved) throw *not_saved;
  if (outcome.reason == StopReason::kFailed) throw Error(outcome.error);
  return outcome.winner ? kExitAnswered : kExitUnfinished;
}

int run(const RunFlags& flags) {
  flags.decoding.search();  // what is wrong with it is said before a model is loaded
  for (const std::string& text : flags.stop) {
    if (text.empty()) throw usage_error("--stop is '': it must have at least one character");
  }
  check_writable(flags.save_tree);
  const std::optional<Example> example = choose_example(flags.prompt);
  const std::string question = example ? example->question : read_prompt(flags.prompt);

  const Interrupt interrupt;
  const Terminal terminal = detect_terminal(STDERR_FILENO, flags.no_colour);
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<LoadedModel> loaded = load(flags, terminal);
  if (!loaded) {
    print_error("interrupted while the model was being loaded");
    return kExitUnfinished;
  }
  if (!flags.quiet && !flags.json) note_busy_machine(flags.model, terminal);
  const Model& model = **loaded;
  SearchOptions options = checked_search(flags.decoding, model.info().most_branches);
  options.sampling = flags.decoding.sampling(model.recommended_sampling().options);

  const QuestionText text{question, flags.system, flags.raw, flags.stop,
                          answer_form(flags.model, flags.raw, flags.answer, question)};
  const ChatPrompt prompt = make_prompt(text, model.vocabulary());
  const auto prompt_tokens = static_cast<int>(prompt.tokens.size());
  validate(options, model.vocabulary().size());
  // An example is answered by another method, too, and that may be the wider one.
  const int branches = std::max(options.method.max_live(), example ? DecodingOptions().search().method.max_live() : 1);
  const EnginePlan plan =
      model.plan_engine({.max_branches = std::min(branches, model.info().most_branches),
                         .context_length = choose_context(flags.model, flags.decoding, model.info(), prompt_tokens)});
  if (flags.verbose) print_facts(loaded->id(), model.info(), plan);
  const std::unique_ptr<Engine> engine = plan.make();
  const double load_seconds = since(start);

  const int room = engine->info().context_length - prompt_tokens;
  if (room < 1) {
    throw usage_error(fmt::format("the prompt has {}, but the context (--ctx-size) holds {}: shorten the prompt",
                                  counted(prompt_tokens, "token"), engine->info().context_length));
  }
  if (flags.decoding.max_tokens && *flags.decoding.max_tokens > room && !flags.quiet) {
    print_note(fmt::format("--predict is {}, but beside the prompt the context (--ctx-size) has room for {}",
                           *flags.decoding.max_tokens, room));
  }
  note_short_context(flags, model.info(), plan, room, options.max_tokens);
  limit_tokens(options, room);

  const FrameTitle title = make_title(loaded->id(), options, question, glyphs(terminal.unicode));
  const std::unique_ptr<View> view = choose_view(flags, title, terminal);
  TreeDocument document = decode(*engine, model.vocabulary(), prompt, options, text, flags.decoding.max_seconds, *view);
  view->close();
  document.model = loaded->id();
  document.question = question;
  document.times.load = load_seconds;
  Comparison beside{loaded->id(), question, example ? example->answer : std::string(), {}, true};
  if (example && !flags.quiet && !flags.json && !Interrupt::requested()) {
    beside.runs.push_back(decode_beside(flags, *engine, model, prompt, text, options));
    beside.runs.push_back({options.method.name, options.seed, document});
    beside.colours_from = 1;
    if (options.method.name == "standard") {
      std::swap(beside.runs[0], beside.runs[1]);
      beside.colours_from = 0;
    }
  }
  return print_result(flags, beside, document);
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "answer one question");
  auto flags = std::make_shared<RunFlags>();
  command->footer(
      "The prompt is read from PROMPT, -p, -f or standard input. Ctrl-C ends the search and gives the best answer so "
      "far;\n"
      "a second one quits at once.\n\n"
      "  dts run -m model.gguf \"How many primes are below 50?\"\n"
      "  dts run -m model.gguf --method dts-greedy --save-tree tree.json -f question.txt\n"
      "  dts run -m model.gguf --json < question.txt | dts tree - --format html");
  command->option_defaults()->group("Prompt");
  add_prompt_options(*command, flags->prompt,
                     "ask problem N of the built-in model's own (default 1), with standard decoding beside it");
  add_value(*command, "--system", "TEXT", "system message", [flags](const std::string& text) { flags->system = text; });
  command->add_flag("--raw", flags->raw, "give the model the prompt as it is, without its chat template");
  command->add_option("--stop", flags->stop, "end a trajectory where its answer comes to this text; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  add_answer_option(*command, flags->answer, "auto; the built-in model is asked as it is");
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);

  command->option_defaults()->group("Output");
  command->add_flag("--json", flags->json, "one JSON document with the whole tree, and nothing else");
  add_value(*command, "--save-tree", "FILE",
            "keep the tree: FILE.json for dts tree; .html, .svg, .pdf, .dot or .txt draw it",
            [flags](const std::string& text) {
              if (text.empty()) throw usage_error("--save-tree is '': it must be a file");
              flags->save_tree = text;
            });
  command->add_flag("-v,--verbose", flags->verbose,
                    "also the model's facts and the memory plan; of an example, the whole report");
  command->add_flag("-q,--quiet", flags->quiet, "the answer alone: what is in its \\boxed{}, where there is one");
  command->add_flag("--no-color", flags->no_colour, "no colours (as the environment's NO_COLOR)");
  command->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace dts::cli
