// `dts eval`: methods x seeds x questions on one engine, every result kept the moment it is there.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments.h"
#include "cli/builtin_model.h"
#include "cli/busy_machine.h"
#include "cli/commands.h"
#include "cli/decoding_flags.h"
#include "cli/eval_output.h"
#include "cli/eval_session.h"
#include "cli/interrupt.h"
#include "cli/lists.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "dts/error.h"
#include "eval/datasets/dataset.h"
#include "eval/report/metrics.h"
#include "eval/run/protocol.h"
#include "eval/run/runner.h"
#include "eval/run/variants.h"
#include "eval/store/store.h"
#include "text/ascii.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr std::string_view kListReleases = "list";  // in the place of a date

struct DatasetSource {
  std::string name;
  std::vector<std::filesystem::path> files;  // empty: it comes with the built-in model
};

struct EvalFlags {
  ModelFlags model;
  DecodingOptions decoding;
  std::vector<DatasetSource> datasets;
  std::vector<std::filesystem::path> data;
  eval::DatasetOptions columns;
  std::vector<std::string> methods;
  std::optional<std::vector<std::uint64_t>> seeds;
  bool paper = false;
  std::optional<int> samples;  // of `standard` a problem, for the length study
  std::size_t limit = 0;       // questions; 0: all
  int parallel = 0;            // branches over all questions; 0: chosen
  int workers = 0;             // engines; 0: chosen
  std::string out;
  bool json = false;
  bool skip_long = false;
  bool timing = false;          // one question at a time
  std::size_t show_prompt = 0;  // the question, from 1, whose prompt is shown; 0: none
  std::string command;          // as it was given
};

// "aime24=aime24.parquet,livebench-reasoning=spatial.jsonl+zebra.jsonl,nano-bench".
std::vector<DatasetSource> parse_datasets(const std::string& text) {
  std::vector<DatasetSource> sources;
  for (const std::string& item : split_list(text)) {
    const std::size_t equals = item.find('=');
    DatasetSource source{item.substr(0, equals), {}};
    if (equals != std::string::npos) {
      for (const std::string& file : split_list(item.substr(equals + 1), '+')) source.files.emplace_back(file);
    }
    const bool twice = std::any_of(sources.begin(), sources.end(),
                                   [&](const DatasetSource& other) { return other.name == source.name; });
    if (twice) throw usage_error(fmt::format("--dataset has '{}' twice", source.name));
    sources.push_back(std::move(source));
  }
  if (sources.empty()) throw usage_error("--dataset is '': it must be a name, as dts eval --help lists them");
  return sources;
}

bool is_builtin(const std::string& dataset) { return dataset == "nano-bench" || dataset == "nano-bench-mini"; }

// With the files that it is read from: those that were given, else the ones that come with the program.
DatasetSource with_files(const EvalFlags& flags, DatasetSource source) {
  const eval::DatasetInfo& info = eval::find_dataset(source.name);
  if (source.files.empty()) source.files = flags.data;
  if (source.files.empty()) {
    if (!is_builtin(source.name)) {
      throw usage_error(fmt::format("--data is missing: {} is read from a file that you have ({})", info.name,
                                    info.source.empty() ? "any jsonl, csv or parquet" : info.source));
    }
    source.files.emplace_back(find_builtin_data(source.name + ".jsonl"));
  }
  return source;
}

eval::Dataset load_questions(const EvalFlags& flags, const DatasetSource& source) {
  eval::Dataset dataset = eval::load_dataset(source.name, source.files, flags.columns);
  if (flags.limit > 0 && flags.limit < dataset.questions.size()) dataset.questions.resize(flags.limit);
  return dataset;
}

// --release list
int list_releases(const EvalFlags& flags) {
  for (const DatasetSource& source : flags.datasets) {
    if (source.name != "livebench-reasoning") {
      throw usage_error(fmt::format("--release is for livebench-reasoning: {} has no releases", source.name));
    }
    for (const eval::Release& release : eval::livebench_releases(source.files)) {
      write_stdout(
          fmt::format("{}  {}\n", release.date, counted(static_cast<std::int64_t>(release.questions), "question")));
    }
  }
  return kExitAnswered;
}

std::vector<eval::PlannedVariant> plan_of(const EvalFlags& flags, std::string_view dataset) {
  const std::vector<std::uint64_t> seeds = flags.seeds.value_or(std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  if (flags.paper) return eval::paper_protocol(seeds, flags.samples.value_or(eval::paper_samples(dataset)));
  std::vector<eval::PlannedVariant> plan;
  for (const std::string& spec : flags.methods) plan.push_back({spec, spec, "", seeds});
  if (plan.empty() && !flags.samples) plan.push_back({flags.decoding.method, flags.decoding.method, "", seeds});
  if (flags.samples.value_or(0) > 0) plan.push_back(eval::sampling_study(*flags.samples));
  return plan;
}

std::vector<eval::Variant> make_variants(const EvalFlags& flags, const Model& model,
                                         const std::vector<eval::PlannedVariant>& plan) {
  DecodingOptions base = flags.decoding;
  base.set_sampling(base.sampling(model.recommended_sampling().options));
  std::vector<eval::Variant> variants;
  for (const eval::PlannedVariant& planned : plan) {
    eval::Variant variant{planned.label, eval::parse_variant(planned.spec, base), planned.seeds};
    validate(variant.options, model.vocabulary().size());
    variants.push_back(std::move(variant));
  }
  return variants;
}

// One dataset with what is to be done on it.
struct DatasetPart {
  eval::Dataset dataset;
  std::vector<eval::PlannedVariant> plan;
  std::vector<eval::Variant> variants;
};

// Settings are settled before anything is decoded: a change is refused at once. Returns the rows to be made.
std::size_t settle(const EvalFlags& flags, const EvalSession& session, const std::vector<DatasetPart>& parts,
                   eval::Store& store) {
  const std::string source = sampling_source(flags.decoding, session.model().recommended_sampling().source);
  std::size_t to_make = 0;
  std::string text;
  for (const DatasetPart& part : parts) {
    const std::string dataset(part.dataset.info.name);
    std::vector<PlanLine> lines;
    for (std::size_t i = 0; i < part.variants.size(); ++i) {
      const eval::Variant& variant = part.variants[i];
      store.require_settings({session.name(), dataset, variant.label, session.settings(part.dataset, variant, source)});
      PlanLine line{variant.label, part.plan[i].purpose, part.dataset.questions.size(), variant.seeds.size()};
      for (const std::uint64_t seed : variant.seeds) {
        for (const eval::Question& question : part.dataset.questions) {
          line.there += store.has({session.name(), dataset, variant.label, seed, question.id}) ? 1U : 0U;
        }
      }
      to_make += line.questions * line.seeds - line.there;
      lines.push_back(std::move(line));
    }
    text += plan_text(dataset, lines);
    if (!part.variants.empty()) {
      text += fmt::format("  up to {} tokens a trajectory\n", grouped(part.variants.front().options.max_tokens));
    }
  }
  if (!flags.json) write_stderr(text + session.prepared());
  return to_make;
}

std::size_t missing_rows(const EvalSession& session, const std::vector<DatasetPart>& parts, const eval::Store& store) {
  std::size_t missing = 0;
  for (const DatasetPart& part : parts) {
    for (const eval::Variant& variant : part.variants) {
      for (const std::uint64_t seed : variant.seeds) {
        for (const eval::Question& question : part.dataset.questions) {
          const std::string dataset(part.dataset.info.name);
          missing += store.has({session.name(), dataset, variant.label, seed, question.id}) ? 0U : 1U;
        }
      }
    }
  }
  return missing;
}

// The question as the model is asked it, its chat template and all.
int show_prompt(const EvalFlags& flags, const EvalSession& session, const std::vector<DatasetPart>& parts) {
  const eval::Dataset& dataset = parts.front().dataset;
  if (flags.show_prompt > dataset.questions.size()) {
    throw usage_error(fmt::format("--show-prompt is {}: {} has {}", flags.show_prompt, dataset.info.name,
                                  counted(static_cast<std::int64_t>(dataset.questions.size()), "question")));
  }
  const std::uint64_t seed = parts.front().plan.front().seeds.front();
  const eval::ShownQuestion shown = eval::shown_to(dataset, dataset.questions[flags.show_prompt - 1], seed);
  const ChatPrompt prompt = eval::chat_prompt(session.model().vocabulary(), dataset, shown.question);
  write_stdout(prompt.text + "\n");
  return kExitAnswered;
}

int evaluate(EvalFlags& flags) {
  flags.decoding.search();
  if (flags.datasets.empty()) flags.datasets = {{"nano-bench", {}}};
  if (flags.datasets.size() > 1 && !flags.data.empty()) {
    throw usage_error("--data goes with one dataset; for several it is --dataset NAME=FILE,NAME=FILE");
  }
  for (DatasetSource& source : flags.datasets) source = with_files(flags, std::move(source));
  if (flags.columns.release == kListReleases) return list_releases(flags);
  std::vector<DatasetPart> parts;
  for (const DatasetSource& source : flags.datasets) {
    DatasetPart part{load_questions(flags, source), plan_of(flags, source.name), {}};
    // Whatever is wrong with a method is said before a model is loaded.
    for (const eval::PlannedVariant& planned : part.plan) {
      eval::parse_variant(planned.spec, flags.decoding);
    }
    parts.push_back(std::move(part));
  }
  if (flags.out.empty() && flags.show_prompt == 0) {
    throw usage_error("-o is missing: the file that keeps the results, as -o results.db");
  }
  // A file that is something else is refused before a model is loaded, and none is made when loading fails.
  if (!flags.out.empty() && std::filesystem::exists(flags.out)) eval::Store::check(flags.out);
  const Interrupt interrupt;
  EvalSession session(flags.model, flags.workers, flags.timing);
  std::vector<EvalWork> all;
  for (DatasetPart& part : parts) {
    part.variants = make_variants(flags, session.model(), part.plan);
    all.push_back({&part.dataset, &part.variants});
  }
  if (flags.show_prompt > 0) return show_prompt(flags, session, parts);
  session.prepare(all, flags.parallel, flags.skip_long ? LongPrompts::kSkip : LongPrompts::kRefuse);

  eval::Store store(flags.out);
  session.choose_name(store);
  const std::size_t to_make = settle(flags, session, parts, store);
  if (to_make > 0) store.note_run(flags.command);
  const Terminal terminal = detect_terminal(STDERR_FILENO, false);
  if (!flags.json && to_make > 0) note_busy_machine(flags.model, terminal);
  bool finished = true;
  {
    ProgressLine line(terminal, to_make, !flags.json);
    const auto show = [&line](const eval::Row& row) { line.show(row); };
    for (const DatasetPart& part : parts) {
      finished = finished && session.run(part.dataset, part.variants, flags.out, show);
    }
  }

  const std::vector<eval::Row> rows = store.rows();
  const std::vector<eval::Summary> summaries = eval::summarise(rows);
  const TimedMethods timed(store);
  if (flags.json) {
    write_stdout(summary_json(summaries, timed).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    write_stdout(summary_text(summaries, timed));
    if (!finished) print_note(fmt::format("stopped; the same command goes on where {} ends", flags.out));
    if (const std::size_t missing = finished ? missing_rows(session, parts, store) : 0; missing > 0) {
      print_note(fmt::format("{} being made by another process: the figures above are without them",
                             missing == 1 ? "1 row is" : fmt::format("{} rows are", missing)));
    }
  }
  return finished ? kExitAnswered : kExitUnfinished;
}

// Flags of a single search that an evaluation has no use for: ignored, they would mislead.
void refuse_search_flags(const CLI::App& command) {
  if (command.get_option("--seed")->count() > 0) {
    throw usage_error("--seed is for one search: an evaluation takes several, as --seeds 0-4 or --seeds 7");
  }
  if (command.get_option("--max-seconds")->count() > 0) {
    throw usage_error(
        "--max-seconds would make results depend on the machine: -n and --max-total-tokens bound an evaluation's "
        "searches");
  }
}

// Results are a database: under the name of a page or a table nobody would find them, and they would hide the report.
void refuse_report_names(const std::string& out) {
  const std::string ending = lower_case(std::filesystem::path(out).extension().string());
  for (const char* other :
       {".html", ".htm", ".md", ".tex", ".csv", ".json", ".jsonl", ".svg", ".pdf", ".txt", ".parquet"}) {
    if (ending != other) continue;
    throw usage_error(fmt::format(
        "-o is '{}': results are kept in a database, as results.db; dts report makes {} from it", out, ending));
  }
}

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The command as it was given, for the results' own record: it can be given again.
std::string command_line(const CLI::App& command) {
  std::string out = "dts " + command.get_name();
  for (const CLI::Option* option : command.parse_order()) {
    out += " " + option->get_name();
    if (option->get_items_expected_max() == 0) continue;
    for (const std::string& value : option->results()) out += " " + shell_word(value);
  }
  return out;
}

// --paper means the paper's numbers: a flag that changes them contradicts it.
void refuse_method_flags(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0 && option->get_group() == "Method") {
      throw usage_error(fmt::format("{} and --paper contradict each other: --paper has the paper's methods and numbers",
                                    option->get_name()));
    }
  }
}

}  // namespace

void add_eval_command(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "compare methods on a dataset");
  command->footer(
      "An evaluation that was stopped goes on with the same command. dts report makes tables and figures from FILE.\n\n"
      "  dts eval --dataset nano-bench-mini --methods standard,dts-stable -o results.db\n"
      "  dts eval -m model.gguf --dataset aime24 --data aime24.parquet --methods standard,dts-stable -o results.db\n"
      "  dts eval -m model.gguf --paper --dataset aime24=aime24.parquet,aime25=aime25.jsonl -o results.db\n"
      "  dts eval -m model.gguf --data mine.jsonl --dataset custom --limit 20 -o mine.db");
  command->option_defaults()->group("Evaluation");
  add_value(*command, "--dataset", "NAME[=FILE],...",
            "which questions (default nano-bench; nano-bench-mini has 30 of them)",
            [flags](const std::string& text) { flags->datasets = parse_datasets(text); });
  add_value(*command, "--data", "FILE,...", "the dataset's file or files, as its hub has them",
            [flags](const std::string& text) {
              for (const std::string& item : split_list(text)) flags->data.emplace_back(item);
            });
  add_value(*command, "--question-field", "NAME", "column with the question",
            [flags](const std::string& text) { flags->columns.question_field = text; });
  add_value(*command, "--answer-field", "NAME", "column with the right answer",
            [flags](const std::string& text) { flags->columns.answer_field = text; });
  add_value(*command, "--id-field", "NAME", "column with the question's id",
            [flags](const std::string& text) { flags->columns.id_field = text; });
  add_value(
      *command, "--release", "DATE",
      "LiveBench: the questions of this release, as 2024-11-25 (default: all there are; list: which there are, and "
      "how many questions each has)",
      [flags](const std::string& text) { flags->columns.release = text; });
  add_value(*command, "--shuffle-seed", "N",
            "multiple choice: from where the orders of the options are drawn (default 0)",
            [flags](const std::string& text) {
              flags->columns.seed = static_cast<std::uint64_t>(
                  parse_integer("--shuffle-seed", text, 0, std::numeric_limits<std::int64_t>::max()));
            });
  command->add_flag("--fixed-options", flags->columns.fixed_order,
                    "multiple choice: one order of the options for all seeds");
  command->add_flag("--timing", flags->timing, "decode one question at a time, so that seconds can be compared");
  command->add_flag("--skip-long", flags->skip_long, "leave out questions whose prompts do not fit the context");
  add_value(*command, "--show-prompt", "N", "show the Nth question as the model is asked it, and do nothing else",
            [flags](const std::string& text) {
              flags->show_prompt = static_cast<std::size_t>(parse_integer("--show-prompt", text, 1));
            });
  add_value(*command, "--methods", "NAME,...",
            "methods to compare (default: the one of --method); with numbers of its own as dts-stable:tau-h=1.2",
            [flags](const std::string& text) { flags->methods = parse_methods(text); });
  command->add_flag("--paper", flags->paper, "the paper's whole protocol: all methods, ablations, the length study");
  add_value(*command, "--length-study", "N", "also N samples a problem, for accuracy by length (--paper: 100)",
            [flags](const std::string& text) {
              flags->samples = static_cast<int>(parse_integer("--length-study", text, 0, 10000));
            });
  add_value(*command, "--seeds", "LIST", "seeds, as 0-4 or 0,3,7 (default 0-4)",
            [flags](const std::string& text) { flags->seeds = parse_seeds(text); });
  add_value(*command, "--limit", "N", "only the first N questions", [flags](const std::string& text) {
    flags->limit = static_cast<std::size_t>(parse_integer("--limit", text, 1));
  });
  add_value(*command, "--parallel", "N", "branches at once over all questions (default: up to 192, as memory allows)",
            [flags](const std::string& text) {
              flags->parallel = static_cast<int>(parse_integer("--parallel", text, 1, std::numeric_limits<int>::max()));
            });
  add_value(
      *command, "--workers", "N", "engines side by side (default: one; for a tiny model one per core)",
      [flags](const std::string& text) { flags->workers = static_cast<int>(parse_integer("--workers", text, 1, 64)); });
  add_value(*command, "-o,--out,--db", "FILE",
            "where results are kept, as results.db: needed; an evaluation goes on where this file ends",
            [flags](const std::string& text) { flags->out = text; });
  command->add_flag("--json", flags->json, "the summary as JSON");
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);
  for (const char* name : {"--seed", "--max-seconds"}) command->get_option(name)->group("");  // not in the help
  command->callback([flags, command, &exit_code] {
    refuse_search_flags(*command);
    if (flags->paper) refuse_method_flags(*command);
    if (flags->paper && !flags->methods.empty()) {
      throw usage_error("--methods and --paper contradict each other: --paper has the paper's methods and numbers");
    }
    refuse_report_names(flags->out);
    if (flags->timing && (flags->workers > 0 || flags->parallel > 0)) {
      throw usage_error("--timing decodes one question at a time: --workers and --parallel contradict it");
    }
    flags->command = command_line(*command);
    exit_code = evaluate(*flags);
  });
}

}  // namespace dts::cli
