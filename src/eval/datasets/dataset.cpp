#include "eval/datasets/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "dts/error.h"
#include "eval/datasets/choices.h"
#include "eval/datasets/dataset_rows.h"
#include "eval/datasets/input_file.h"
#include "eval/datasets/table.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

constexpr std::array<DatasetInfo, 9> kDatasets = {{
    {"aime24", "AIME 2024 I and II: competition mathematics, whole numbers from 0 to 999",
     "Maxwell-Jia/AIME_2024 (parquet)", 30, AnswerKind::kInteger, PromptStyle::kBoxed},
    {"aime25", "AIME 2025 I and II", "math-ai/aime25 (jsonl), MathArena/aime_2025 (parquet)", 30, AnswerKind::kInteger,
     PromptStyle::kBoxed},
    {"gpqa-diamond", "GPQA Diamond: graduate science, four options", "Idavidrein/gpqa, gpqa_diamond.csv", 198,
     AnswerKind::kLetter, PromptStyle::kMultipleChoice},
    {"livebench-reasoning", "LiveBench reasoning: spatial, zebra_puzzle, web_of_lies_v2",
     "livebench/reasoning (parquet), or question.jsonl of each task", 200, AnswerKind::kLiveBench,
     PromptStyle::kVerbatim},
    {"gsm8k", "GSM8K: word problems of school mathematics", "openai/gsm8k, main/test (parquet or jsonl)", 1319,
     AnswerKind::kNumber, PromptStyle::kBoxed},
    {"math-500", "MATH-500: competition mathematics, answers in LaTeX", "HuggingFaceH4/MATH-500, test.jsonl", 500,
     AnswerKind::kMath, PromptStyle::kBoxed},
    {"nano-bench", "puzzles for the built-in model", "jsonl: id, family, difficulty, question, answer", 200,
     AnswerKind::kMath, PromptStyle::kVerbatim},
    {"nano-bench-mini", "30 of them, for a quick look", "jsonl: id, family, difficulty, question, answer", 30,
     AnswerKind::kMath, PromptStyle::kVerbatim},
    {"custom", "your own questions, in columns that you name", "any jsonl, csv or parquet file", 0, AnswerKind::kMath,
     PromptStyle::kBoxed},
}};

std::vector<Question> parse_questions(const DatasetInfo& info, std::string_view bytes, const std::string& label,
                                      const DatasetOptions& options, std::size_t first_number) {
  return read_questions(info, read_table(bytes, label, wanted_columns(info, options)), options, first_number);
}

Dataset finish(const DatasetInfo& info, std::vector<Question> questions, const std::string& label,
               const DatasetOptions& options) {
  if (questions.empty()) {
    throw Error(options.release.empty()
                    ? fmt::format("{}: has no questions", label)
                    : fmt::format("{}: has no questions of the release {}", label, in_quotes(options.release)));
  }
  Dataset dataset{info, std::move(questions), {}};
  if (info.answers == AnswerKind::kLetter && !options.fixed_order) dataset.shuffle = options.seed;
  return dataset;
}

// Within a file the rows are named by read_questions; across files only the ids can be.
void require_unique(const std::vector<Question>& questions, const std::string& label) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!places.emplace(questions[i].id, i).second) {
      throw Error(fmt::format("{}: the question {} is in an earlier file, too", label, in_quotes(questions[i].id)));
    }
  }
}

}  // namespace

ShownQuestion shown_to(const Dataset& dataset, const Question& question, std::uint64_t seed) {
  ShownQuestion shown{question, {}};
  const std::size_t n = question.choices.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (dataset.shuffle) order = choice_order(*dataset.shuffle, seed, question.id, n);
  for (std::size_t i = 0; i < n; ++i) {
    const char original = letter_of_choice(order[i]);
    shown.order += original;
    shown.question.choices[i] = question.choices[order[i]];
    if (question.answer == std::string(1, original)) shown.question.answer = letter_of_choice(i);
  }
  return shown;
}

std::vector<Release> livebench_releases(std::span<const std::filesystem::path> files) {
  const DatasetInfo& info = find_dataset("livebench-reasoning");
  std::vector<QuestionDates> dates;
  for (const std::filesystem::path& file : files) {
    const DataTable table = read_table(read_input_file(file), file.string(), wanted_columns(info, {}));
    const std::vector<QuestionDates> some = read_dates(info, table);
    dates.insert(dates.end(), some.begin(), some.end());
  }
  std::set<std::string> days;
  for (const QuestionDates& question : dates) {
    days.insert(question.release);
    if (!question.removal.empty()) days.insert(question.removal);
  }
  std::vector<Release> releases;
  for (const std::string& day : days) {
    const auto out = std::count_if(dates.begin(), dates.end(), [&](const QuestionDates& question) {
      return question.release <= day && (question.removal.empty() || question.removal > day);
    });
    releases.push_back({day, static_cast<std::size_t>(out)});
  }
  return releases;
}

std::span<const DatasetInfo> datasets() { return kDatasets; }

const DatasetInfo& find_dataset(std::string_view name) {
  const auto found =
      std::find_if(kDatasets.begin(), kDatasets.end(), [&](const DatasetInfo& info) { return info.name == name; });
  if (found != kDatasets.end()) return *found;
  std::vector<std::string> names;
  for (const DatasetInfo& info : kDatasets) names.emplace_back(info.name);
  throw usage_error(
      fmt::format("{} {}: should be one of {}", option_name("dataset"), in_quotes(name), list_in_quotes(names)));
}

Dataset parse_dataset(std::string_view name, std::string_view bytes, const std::string& label,
                      const DatasetOptions& options) {
  const DatasetInfo& info = find_dataset(name);
  return finish(info, parse_questions(info, bytes, label, options, 1), label, options);
}

Dataset load_dataset(std::string_view name, const std::filesystem::path& file, const DatasetOptions& options) {
  return load_dataset(name, std::span(&file, 1), options);
}

Dataset load_dataset(std::string_view name, std::span<const std::filesystem::path> files,
                     const DatasetOptions& options) {
  const DatasetInfo& info = find_dataset(name);
  std::vector<Question> all;
  std::string label = option_name("data");
  for (const std::filesystem::path& file : files) {
    label = file.string();
    std::vector<Question> some = parse_questions(info, read_input_file(file), label, options, all.size() + 1);
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    require_unique(all, label);
  }
  return finish(info, std::move(all), label, options);
}

}  // namespace dts::eval
