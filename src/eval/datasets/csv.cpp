#include "eval/datasets/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dts/error.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& label) : text_(text), label_(label) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  // The next record's fields; false at the end of the text.
  bool next(std::vector<std::string>& fields) {
    skip_empty_lines();
    if (at_ == text_.size()) return false;
    record_line_ = line_;
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      if (count == kMaxColumns) fail(line_, fmt::format("has more than {} fields", kMaxColumns));
      if (count == fields.size()) fields.emplace_back();
      more = read_field(fields[count]);
    }
    fields.resize(count);
    return true;
  }

  std::size_t record_line() const { return record_line_; }

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw Error(fmt::format("{}: line {} {}", label_, line, problem));
  }

 private:
  bool at_line_end() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
  }

  void eat_line_end() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
  }

  void skip_empty_lines() {
    while (at_ < text_.size() && at_line_end()) eat_line_end();
  }

  // Reads one field and the comma or line end after it; true when the record goes on.
  bool read_field(std::string& field) {
    field.clear();
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted(field);
    } else {
      read_plain(field);
    }
    if (at_ == text_.size()) return false;
    if (text_[at_] == ',') {
      ++at_;
      return true;
    }
    eat_line_end();
    return false;
  }

  void read_plain(std::string& field) {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != ',' && !at_line_end(); ++at_) {
      if (text_[at_] == '"')
        fail(line_, "has a quote inside an unquoted field; such a field is quoted, its quotes doubled");
      if (text_[at_] == '\r') fail(line_, "has a carriage return without a line feed outside quotes");
    }
    field = text_.substr(begin, at_ - begin);
  }

  void read_quoted(std::string& field) {
    const std::size_t opened_on = line_;
    ++at_;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) fail(opened_on, "opens a quote that is never closed");
      line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
      field += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '"') break;
      field += '"';
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) {
      fail(line_,
           fmt::format("has {} after a closing quote; should be a comma or the line's end (a quote inside quotes "
                       "is doubled)",
                       in_quotes(text_.substr(at_, 1))));
    }
  }

  std::string_view text_;
  const std::string& label_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

}  // namespace

DataTable read_csv(std::string_view text, const std::string& label, std::span<const std::string> wanted) {
  CsvParser parser(text, label);
  DataTable table;
  table.label = label;
  if (!parser.next(table.present)) throw Error(fmt::format("{}: is empty; should be csv with a header", label));

  std::vector<std::size_t> sources;  // [columns] the field of a record that the column takes
  for (std::size_t i = 0; i < table.present.size(); ++i) {
    if (std::find(wanted.begin(), wanted.end(), table.present[i]) == wanted.end()) continue;
    table.columns.push_back({table.present[i], {}});
    sources.push_back(i);
  }

  std::vector<std::string> fields;
  while (parser.next(fields)) {
    if (fields.size() != table.present.size()) {
      parser.fail(parser.record_line(),
                  fmt::format("begins a record of {} fields; the header has {}", fields.size(), table.present.size()));
    }
    if (table.rows == kMaxRows) throw Error(fmt::format("{}: has more than {} rows", label, kMaxRows));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      table.columns[i].cells.emplace_back(std::move(fields[sources[i]]));
    }
    table.lines.push_back(parser.record_line());
    ++table.rows;
  }
  return table;
}

}  // namespace dts::eval
