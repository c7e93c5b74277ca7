// The report's tables for a paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

#include "eval/report/figures_text.h"
#include "eval/report/render.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::eval::report {
namespace {

using namespace text;

// Characters that mean something to TeX, or that its usual fonts do not have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 29> kWords = {{
    {">=", "$\\geq$"},
    {"<=", "$\\leq$"},
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "''"},
    {"≥", "$\\geq$"},
    {"≤", "$\\leq$"},
    {"×", "$\\times$"},
    {"·", "$\\cdot$"},
    {"→", "$\\rightarrow$"},
    {"✓", "$\\surd$"},
    {"✗", "$\\times$"},
    {"…", "\\ldots{}"},
    {"−", "$-$"},
    {"–", "--"},
    {"π", "$\\pi$"},
    {"√", "$\\surd$"},
    {"°", "$^\\circ$"},
}};

// Text that came from a model or a file stays text.
std::string escaped(std::string_view source) {
  const std::string text = printable(source);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto known = std::find_if(kWords.begin(), kWords.end(), [&](const auto& word) {
      return std::string_view(text).substr(at).starts_with(word.first);
    });
    if (known != kWords.end()) {
      out += known->second;
      at += known->first.size();
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const std::string_view character = std::string_view(text).substr(at, length);
    // Two bytes of UTF-8 are Latin letters up to U+017F, which LaTeX knows; further ones it may not.
    const bool latin = length == 1 || (length == 2 && byte >= 0xC3 && byte <= 0xC5);
    out += latin ? std::string(character) : "?";
    at += length;
  }
  return out;
}

std::string line_of(std::string_view text) { return escaped(one_line(text)); }

std::string label_of(std::string_view key) {
  std::string out;
  for (const char c : key) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return out;
}

// A number's sign is a minus, not a hyphen.
std::string number_of(std::string_view text) {
  return text.starts_with('-') ? "$-$" + line_of(text.substr(1)) : line_of(text);
}

std::string interval_of(const CellText& text) {
  if (text.low.empty()) return {};
  return fmt::format("{{\\scriptsize[{}, {}]}}", number_of(text.low), number_of(text.high));
}

constexpr std::size_t kLongText = 48;     // characters of a cell that is set as a paragraph
constexpr std::size_t kLongWord = 24;     // characters without a space after which a paragraph may break them
constexpr std::size_t kPageWidth = 96;    // characters of a row that fit a page, at this size
constexpr std::size_t kPageRows = 44;     // lines that fit a page
constexpr std::size_t kLineLetters = 70;  // letters that a paragraph has in a line

bool is_long(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return cell_text(table, column, row[column]).value.size() > kLongText;
  });
}

// Hashes and the like have no place of their own to break at.
std::string breakable(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    at += character.size;
    length = character.code == U' ' ? 0 : length + 1;
    if (length != kLongWord) continue;
    out += line_of(text.substr(begin, at - begin)) + "\\allowbreak{}";
    begin = at;
    length = 0;
  }
  return out + line_of(text.substr(begin));
}

// A table as LaTeX lays it out.
class TexTable {
 public:
  explicit TexTable(const Table& table) : table_(table), columns_(telling_columns(table)) {
    const auto is_name = [&](std::size_t i) { return table.columns[columns_[i]].unit == Unit::kNone; };
    grouped_ = columns_.size() > 1 && is_name(0) && is_name(1);
    for (const std::size_t c : columns_) long_.push_back(is_long(table, c));
    // Too wide for a page: what all rows of a group are about goes above them, intervals below their numbers.
    stacked_ = width() > kPageWidth;
  }

  // In as many tables as it takes: one that is longer than a page would be cut at its end.
  std::string draw() const {
    std::string out;
    for (std::size_t begin = 0; begin < table_.rows.size();) {
      const std::size_t end = end_of_page(begin);
      out += draw_rows(begin, end);
      begin = end;
    }
    return out;
  }

 private:
  std::size_t width() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::size_t most = 0;
      for (const std::vector<Cell>& row : table_.rows) {
        const CellText text = cell_text(table_, columns_[i], row[columns_[i]]);
        const std::size_t interval = text.low.empty() ? 0 : (text.low.size() + text.high.size() + 5) * 3 / 4;
        most = std::max(most, text.value.size() + interval);
      }
      sum += 2 + std::max(long_[i] ? kLongText : most, column_title(table_, columns_[i]).size());
    }
    return sum;
  }

  bool continues(std::size_t row) const {
    return grouped_ && row > 0 && table_.rows[row - 1][columns_[0]].value == table_.rows[row][columns_[0]].value;
  }

  // Lines that a row takes on paper.
  std::size_t height(std::size_t row) const {
    std::size_t most = 1;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!long_[i]) continue;
      most =
          std::max(most, 1 + cell_text(table_, columns_[i], table_.rows[row][columns_[i]]).value.size() / kLineLetters);
    }
    return most + (stacked_ ? 1 : 0);
  }

  // Between groups, where one ends in time.
  std::size_t end_of_page(std::size_t begin) const {
    std::size_t most = begin;
    for (std::size_t lines = 0; most < table_.rows.size(); ++most) {
      lines += height(most);
      if (lines > kPageRows && most > begin) break;
    }
    if (most == table_.rows.size()) return most;
    std::size_t end = most;
    while (end > begin && continues(end)) --end;
    return end > begin ? end : most;
  }

  // Of the columns that are columns: a heading above its group is none.
  std::size_t first() const { return grouped_ && stacked_ ? 1 : 0; }

  std::string draw_rows(std::size_t begin, std::size_t end) const {
    std::string alignment;
    std::string head;
    for (std::size_t i = first(); i < columns_.size(); ++i) {
      const bool name = table_.columns[columns_[i]].unit == Unit::kNone;
      alignment += !name ? "r" : long_[i] ? "p{0.7\\textwidth}" : "l";
      head += (head.empty() ? "" : " & ") + line_of(column_title(table_, columns_[i]));
    }
    const std::string environment = columns_.size() > 5 ? "table*" : "table";
    std::string out = fmt::format(
        "\\begin{{{0}}}[t]\n  \\centering\n  \\caption{{{1}{2}{3}}}\n  \\label{{tab:{4}{5}}}\n  \\small\n"
        "  \\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{"
        "\\begin{{tabular}}{{{6}}}\n    \\toprule\n    {7} \\\\\n    \\midrule\n",
        environment, line_of(table_.caption), begin == 0 ? "" : " (continued)",
        table_.note.empty() ? "" : ". " + line_of(table_.note), label_of(table_.key),
        begin == 0 ? "" : fmt::format("-{}", begin), alignment, head);
    for (std::size_t r = begin; r < end; ++r) out += row(r, r == begin);
    return out + fmt::format("    \\bottomrule\n  \\end{{tabular}}}}\n\\end{{{}}}\n\n", environment);
  }

  // A name in the first column stands once for the rows below it, which a rule sets apart.
  std::string row(std::size_t r, bool opens) const {
    const std::vector<Cell>& cells = table_.rows[r];
    const bool again = continues(r) && !opens;
    std::string out = grouped_ && !opens && !again ? "    \\midrule\n" : "";
    if (first() == 1 && !again) {
      out += fmt::format("    \\multicolumn{{{}}}{{l}}{{\\textit{{{}}}}} \\\\\n", columns_.size() - 1,
                         line_of(cell_text(table_, columns_[0], cells[columns_[0]]).value));
    }
    std::string line;
    std::string below;
    bool has_below = false;
    for (std::size_t i = first(); i < columns_.size(); ++i) {
      const CellText text = cell_text(table_, columns_[i], cells[columns_[i]]);
      const bool name = table_.columns[columns_[i]].unit == Unit::kNone;
      std::string value = long_[i] ? breakable(text.value) : name ? line_of(text.value) : number_of(text.value);
      if (cells[columns_[i]].best) value = "\\textbf{" + value + "}";
      const std::string interval = interval_of(text);
      if (!stacked_ && !interval.empty()) value += " " + interval;
      has_below = has_below || !interval.empty();
      const std::string_view between = i == first() ? "" : " & ";
      line += fmt::format("{}{}", between, i == 0 && again ? "" : value);
      below += fmt::format("{}{}", between, interval);
    }
    out += "    " + line + " \\\\\n";
    if (stacked_ && has_below) out += "    " + below + " \\\\[2pt]\n";
    return out;
  }

  const Table& table_;
  std::vector<std::size_t> columns_;
  std::vector<bool> long_;  // [columns_] set as a paragraph
  bool grouped_ = false;
  bool stacked_ = false;
};

std::string case_tex(const Case& one) {
  constexpr std::size_t kMost = 1200;  // bytes of a trace
  std::string out = fmt::format("\\paragraph{{{}}} {}\n\n",
                                one.question_id.empty() ? "Question" : line_of(one.question_id), line_of(one.question));
  if (!one.gold.empty()) out += fmt::format("The right answer is {}.\n\n", line_of(one.gold));
  for (const CaseTrace& trace : one.traces) {
    std::string text = trace.thinking + (trace.thinking.empty() ? "" : "\n\n") + trace.answer;
    const std::string cut =
        text.size() > kMost ? std::string(complete_utf8(std::string_view(text).substr(0, kMost))) + " …" : text;
    out += fmt::format("\\begin{{quote}}\\small\n\\textbf{{{}}} ({}; {}).\\par\n", line_of(trace.heading),
                       line_of(trace.verdict), line_of(trace.cost));
    std::string_view rest = cut;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string line = line_of(rest.substr(0, end));
      if (!line.empty()) out += line + "\\par\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    out += "\\end{quote}\n\n";
  }
  return out;
}

}  // namespace

std::string to_tex(const Report& report) {
  std::string out = "% " + one_line(report.title) + "\n";
  for (const auto& [name, value] : report.facts) out += fmt::format("% {}: {}\n", one_line(name), one_line(value));
  out += "% Needs \\usepackage{booktabs,graphicx}. Brackets are 95% intervals.\n\n";
  for (const Section& section : report.sections) {
    if (section.tables.empty() && section.cases.empty()) continue;
    out += fmt::format("% ---- {}{}\n", one_line(section.title),
                       section.source.empty() ? "" : " (" + section.source + ")");
    for (const Table& table : section.tables) {
      if (!table.rows.empty()) out += TexTable(table).draw();
    }
    for (const Case& one : section.cases) out += case_tex(one);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace dts::eval::report
