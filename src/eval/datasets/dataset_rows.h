// From the rows of a table to the questions of one dataset.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eval/datasets/dataset.h"
#include "eval/datasets/table.h"

namespace dts::eval {

// The names under which people's files have the dataset's columns, all that are worth reading.
std::vector<std::string> wanted_columns(const DatasetInfo& info, const DatasetOptions& options);

// One question a row, checked; for LiveBench those of the release. `first_number` numbers the rows of a file without
// ids. Throws Error naming the columns that are missing and those there are, or the row and column that is wrong.
std::vector<Question> read_questions(const DatasetInfo& info, const DataTable& table, const DatasetOptions& options,
                                     std::size_t first_number);

// When a question of LiveBench came out and was withdrawn, YYYY-MM-DD; `removal` may be empty.
struct QuestionDates {
  std::string release;
  std::string removal;
};
std::vector<QuestionDates> read_dates(const DatasetInfo& info, const DataTable& table);

}  // namespace dts::eval
