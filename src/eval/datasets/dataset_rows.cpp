#include "eval/datasets/dataset_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dts/error.h"
#include "eval/datasets/choices.h"
#include "eval/datasets/gold.h"
#include "text/ascii.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace dts::eval {
namespace {

using namespace text;

using Names = std::vector<std::string>;

// One column of a dataset, under each of the names it has in people's files, the likeliest first.
struct Fields {
  Names question, answer, id, task, difficulty, release, removal;
  Names wrong_answers;  // each of them is needed
};

Fields fields_of(const DatasetInfo& info, const DatasetOptions& options) {
  Fields fields;
  if (info.name == "aime24" || info.name == "aime25") {
    fields.question = {"Problem", "problem", "question"};
    fields.answer = {"Answer", "answer"};
    fields.id = {"ID", "id", "problem_idx"};
  } else if (info.name == "gpqa-diamond") {
    fields.question = {"Question"};
    fields.answer = {"Correct Answer"};
    fields.wrong_answers = {"Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"};
    fields.id = {"Record ID"};
    fields.task = {"High-level domain"};
    fields.difficulty = {"Writer's Difficulty Estimate"};
  } else if (info.name == "livebench-reasoning") {
    fields.question = {"turns"};
    fields.answer = {"ground_truth"};
    fields.id = {"question_id"};
    fields.task = {"task"};
    fields.difficulty = {"level"};
    fields.release = {"livebench_release_date"};
    fields.removal = {"livebench_removal_date"};
  } else if (info.name == "math-500") {
    fields.question = {"problem"};
    fields.answer = {"answer"};
    fields.id = {"unique_id"};
    fields.task = {"subject"};
    fields.difficulty = {"level"};
  } else {  // gsm8k, the nano-benches, custom
    fields.question = {"question"};
    fields.answer = {"answer"};
    fields.id = {"id"};
    if (info.name == "nano-bench" || info.name == "nano-bench-mini") {
      fields.task = {"family"};
      fields.difficulty = {"difficulty"};
    }
  }
  if (!options.question_field.empty()) fields.question = {options.question_field};
  if (!options.answer_field.empty()) fields.answer = {options.answer_field};
  if (!options.id_field.empty()) fields.id = {options.id_field};
  return fields;
}

// The first of the names that the table has. A name that is there twice means nothing.
const DataColumn* find_any(const DataTable& table, const Names& names) {
  for (const std::string& name : names) {
    const auto count = std::count(table.present.begin(), table.present.end(), name);
    if (count > 1) throw Error(fmt::format("{}: has {} columns {}", table.label, count, in_quotes(name)));
    if (const DataColumn* column = find_column(table, name)) return column;
  }
  return nullptr;
}

// The columns of one dataset in one table; null for those that are optional and not there.
struct Columns {
  const DataColumn* question = nullptr;
  const DataColumn* answer = nullptr;
  const DataColumn* id = nullptr;
  const DataColumn* task = nullptr;
  const DataColumn* difficulty = nullptr;
  const DataColumn* release = nullptr;
  const DataColumn* removal = nullptr;
  std::vector<const DataColumn*> wrong_answers;
};

Columns find_columns(const DatasetInfo& info, const DataTable& table, const DatasetOptions& options) {
  const Fields fields = fields_of(info, options);
  Names missing;
  const auto required = [&](const Names& names) {
    const DataColumn* column = find_any(table, names);
    if (column == nullptr) missing.push_back(names.front());
    return column;
  };
  Columns columns;
  columns.question = required(fields.question);
  columns.answer = required(fields.answer);
  for (const std::string& name : fields.wrong_answers) columns.wrong_answers.push_back(required({name}));
  const bool is_livebench = info.answers == AnswerKind::kLiveBench;
  columns.id = is_livebench || !options.id_field.empty() ? required(fields.id) : find_any(table, fields.id);
  columns.task = is_livebench ? required(fields.task) : find_any(table, fields.task);
  columns.release = is_livebench ? required(fields.release) : nullptr;
  columns.removal = find_any(table, fields.removal);
  columns.difficulty = find_any(table, fields.difficulty);
  if (!missing.empty()) {
    const std::string hint =
        info.name == "custom"
            ? fmt::format("; name yours with {} and {}", option_name("question_field"), option_name("answer_field"))
            : "";
    throw Error(fmt::format("{}: {} needs the column{} {}; the file has {}{}", table.label, info.name,
                            missing.size() > 1 ? "s" : "", list_in_quotes(missing), list_in_quotes(table.present),
                            hint));
  }
  return columns;
}

bool is_date(std::string_view text) {
  constexpr std::string_view kPattern = "dddd-dd-dd";
  if (text.size() != kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kPattern[i] == 'd' ? (text[i] < '0' || text[i] > '9') : text[i] != kPattern[i]) return false;
  }
  return true;
}

class RowReader {
 public:
  RowReader(const DatasetInfo& info, const DataTable& table, const Columns& columns, const DatasetOptions& options)
      : info_(info), table_(table), columns_(columns), options_(options) {}

  // Nothing when the question is not in the release that was asked for.
  std::optional<Question> read(std::size_t row, std::size_t number) const {
    Question question;
    question.id = columns_.id != nullptr ? text(*columns_.id, row) : std::to_string(number);
    if (columns_.task != nullptr) question.task = optional_text(*columns_.task, row);
    if (columns_.difficulty != nullptr) question.difficulty = optional_text(*columns_.difficulty, row);
    if (info_.answers == AnswerKind::kLiveBench) {
      question.release = date(*columns_.release, row);
      if (!in_release(question, row)) return std::nullopt;
      require_known_task(question, row);
      question.text = only_turn(row);
    } else {
      question.text = text(*columns_.question, row);
    }
    read_answer(question, row);
    return question;
  }

  QuestionDates dates(std::size_t row) const {
    const bool removed = columns_.removal != nullptr && !optional_text(*columns_.removal, row).empty();
    return {date(*columns_.release, row), removed ? date(*columns_.removal, row) : std::string()};
  }

 private:
  [[noreturn]] void fail(const DataColumn& column, std::size_t row, const std::string& problem) const {
    throw Error(fmt::format("{} {}", where(table_, row, column.name), problem));
  }

  // A text or number as trimmed text; empty when it is null.
  std::string optional_text(const DataColumn& column, std::size_t row) const {
    const DataCell& cell = column.cells[row];
    if (std::holds_alternative<std::monostate>(cell)) return {};
    if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&cell)) return number_text(*number);
    if (const auto* text = std::get_if<std::string>(&cell)) return checked(*text, column, row);
    fail(column, row, fmt::format("is {}; should be text", kind_of(cell)));
  }

  std::string text(const DataColumn& column, std::size_t row) const {
    std::string value = optional_text(column, row);
    if (value.empty()) {
      const bool null = std::holds_alternative<std::monostate>(column.cells[row]);
      fail(column, row, null ? "is missing or null" : "is empty");
    }
    return value;
  }

  // 70.0 is how a column of whole numbers looks once one of them was missing.
  static std::string number_text(double number) {
    if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
    return fmt::format("{}", number);
  }

  std::string checked(const std::string& value, const DataColumn& column, std::size_t row) const {
    if (!is_valid_utf8(value)) fail(column, row, fmt::format("is not UTF-8: {}", in_quotes(value)));
    return std::string(trim(value));
  }

  // YYYY-MM-DD, from a date or a time.
  std::string date(const DataColumn& column, std::size_t row) const {
    if (const auto* number = std::get_if<std::int64_t>(&column.cells[row])) return date_of(*number, column, row);
    std::string value = optional_text(column, row).substr(0, 10);
    if (!is_date(value)) fail(column, row, fmt::format("is {}; should be a date YYYY-MM-DD", in_quotes(value)));
    return value;
  }

  // Seconds or milliseconds since 1970, as exports write times; no question is of a day where the two meet.
  std::string date_of(std::int64_t number, const DataColumn& column, std::size_t row) const {
    constexpr std::int64_t kLeastMilliseconds = 100'000'000'000;
    const std::int64_t seconds = number >= kLeastMilliseconds ? number / 1000 : number;
    constexpr std::int64_t kDay = 86'400;
    constexpr std::int64_t kLeast = 946'684'800;  // the year 2000: below, it is rather a date without its dashes
    if (seconds < kLeast || seconds / kDay > 100'000) {
      fail(column, row,
           fmt::format("is {}; should be a date YYYY-MM-DD, or a time in seconds or milliseconds since "
                       "1970",
                       number));
    }
    const std::chrono::year_month_day day(std::chrono::sys_days(std::chrono::days(seconds / kDay)));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
  }

  bool in_release(const Question& question, std::size_t row) const {
    if (options_.release.empty()) return true;
    if (question.release > options_.release) return false;
    const std::string removal = dates(row).removal;
    return removal.empty() || removal > options_.release;
  }

  void require_known_task(const Question& question, std::size_t row) const {
    static const Names tasks = {"spatial", "zebra_puzzle", "web_of_lies_v2", "house_traversal"};
    if (std::find(tasks.begin(), tasks.end(), question.task) != tasks.end()) return;
    fail(*columns_.task, row,
         fmt::format("is {}; should be one of {}", in_quotes(question.task), list_in_quotes(tasks)));
  }

  std::string only_turn(std::size_t row) const {
    const DataColumn& column = *columns_.question;
    const auto* turns = std::get_if<TextList>(&column.cells[row]);
    if (turns == nullptr)
      fail(column, row, fmt::format("is {}; should be a list of texts", kind_of(column.cells[row])));
    if (turns->size() != 1) fail(column, row, fmt::format("has {} turns; should have one", turns->size()));
    std::string turn = checked(turns->front(), column, row);
    if (turn.empty()) fail(column, row, "is empty");
    return turn;
  }

  void read_answer(Question& question, std::size_t row) const {
    const DataColumn& column = *columns_.answer;
    const std::string written = text(column, row);
    switch (info_.answers) {
      case AnswerKind::kInteger:
        question.answer = require_gold(aime_gold(written), "a whole number from 0 to 999", written, row);
        return;
      case AnswerKind::kNumber:
        question.answer = require_gold(gsm8k_gold(written), "a number, or end in '#### ' and a number", written, row);
        return;
      case AnswerKind::kLetter:
        read_choices(question, written, row);
        return;
      case AnswerKind::kMath:
      case AnswerKind::kLiveBench:
        question.answer = written;
        return;
    }
  }

  std::string require_gold(std::optional<std::string> gold, std::string_view should_be, const std::string& written,
                           std::size_t row) const {
    if (gold) return *std::move(gold);
    // The end is where a worked solution has its answer.
    const std::string shown =
        written.size() <= 60 ? in_quotes(written) : "'..." + in_quotes(written.substr(written.size() - 50)).substr(1);
    fail(*columns_.answer, row, fmt::format("is {}; should be {}", shown, should_be));
  }

  void read_choices(Question& question, const std::string& right, std::size_t row) const {
    std::vector<std::string> written = {right};
    for (const DataColumn* column : columns_.wrong_answers) written.push_back(text(*column, row));
    for (const std::size_t from : choice_order(options_.seed, question.id, written.size())) {
      if (from == 0) question.answer = letter_of_choice(question.choices.size());
      question.choices.push_back(written[from]);
    }
  }

  const DatasetInfo& info_;
  const DataTable& table_;
  const Columns& columns_;
  const DatasetOptions& options_;
};

}  // namespace

std::vector<std::string> wanted_columns(const DatasetInfo& info, const DatasetOptions& options) {
  const Fields fields = fields_of(info, options);
  std::vector<std::string> wanted;
  for (const Names* names : {&fields.question, &fields.answer, &fields.id, &fields.task, &fields.difficulty,
                             &fields.release, &fields.removal, &fields.wrong_answers}) {
    wanted.insert(wanted.end(), names->begin(), names->end());
  }
  return wanted;
}

std::vector<QuestionDates> read_dates(const DatasetInfo& info, const DataTable& table) {
  const Columns columns = find_columns(info, table, {});
  const DatasetOptions none;
  const RowReader reader(info, table, columns, none);
  std::vector<QuestionDates> dates;
  for (std::size_t row = 0; row < table.rows; ++row) dates.push_back(reader.dates(row));
  return dates;
}

std::vector<Question> read_questions(const DatasetInfo& info, const DataTable& table, const DatasetOptions& options,
                                     std::size_t first_number) {
  if (!options.release.empty() && !is_date(options.release)) {
    throw usage_error(
        fmt::format("{} {}: should be a date YYYY-MM-DD", option_name("release"), in_quotes(options.release)));
  }
  const Columns columns = find_columns(info, table, options);
  const RowReader reader(info, table, columns, options);
  std::vector<Question> questions;
  std::unordered_map<std::string, std::size_t> rows;  // of ids
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::optional<Question> question = reader.read(row, first_number + row);
    if (!question) continue;
    const auto [found, is_new] = rows.emplace(question->id, row);
    if (!is_new) {
      throw Error(fmt::format("{} is {}, as in row {}; every id should be there once",
                              where(table, row, columns.id->name), in_quotes(question->id), found->second + 1));
    }
    questions.push_back(*std::move(question));
  }
  return questions;
}

}  // namespace dts::eval
