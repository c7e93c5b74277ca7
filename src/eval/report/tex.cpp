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
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kWords = {{
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

std::string cell_of(const Table& table, std::size_t column, const Cell& cell) {
  const CellText text = cell_text(table, column, cell);
  std::string value = line_of(text.value);
  if (cell.best) value = "\\textbf{" + value + "}";
  if (text.low.empty()) return value;
  return fmt::format("{} {{\\scriptsize[{}, {}]}}", value, line_of(text.low), line_of(text.high));
}

bool is_long(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return cell_text(table, column, row[column]).value.size() > 48;
  });
}

std::string table_tex(const Table& table) {
  const std::vector<std::size_t> columns = telling_columns(table);
  std::string alignment;
  std::string head;
  for (const std::size_t c : columns) {
    const bool name = table.columns[c].unit == Unit::kNone;
    alignment += !name ? "r" : is_long(table, c) ? "p{0.4\\textwidth}" : "l";
    head += fmt::format("{}{}", head.empty() ? "" : " & ", line_of(column_title(table, c)));
  }
  const bool wide = columns.size() > 5;
  const std::string environment = wide ? "table*" : "table";
  std::string out = fmt::format(
      "\\begin{{{0}}}[t]\n  \\centering\n  \\caption{{{1}{2}}}\n  \\label{{tab:{3}}}\n  \\small\n"
      "  \\begin{{tabular}}{{{4}}}\n    \\toprule\n    {5} \\\\\n    \\midrule\n",
      environment, line_of(table.caption), table.note.empty() ? "" : ". " + line_of(table.note), label_of(table.key),
      alignment, head);
  // A name in the first column stands once for the rows below it, which a rule sets apart.
  const bool grouped = columns.size() > 1 && table.columns[columns[0]].unit == Unit::kNone &&
                       table.columns[columns[1]].unit == Unit::kNone;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const std::vector<Cell>& row = table.rows[r];
    const bool again = grouped && r > 0 && table.rows[r - 1][columns[0]].value == row[columns[0]].value;
    if (grouped && r > 0 && !again) out += "    \\midrule\n";
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line += (i == 0 ? "" : " & ") + (i == 0 && again ? std::string() : cell_of(table, columns[i], row[columns[i]]));
    }
    out += "    " + line + " \\\\\n";
  }
  return out + fmt::format("    \\bottomrule\n  \\end{{tabular}}\n\\end{{{}}}\n\n", environment);
}

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
  out += "% Needs \\usepackage{booktabs}. Brackets are 95% intervals.\n\n";
  for (const Section& section : report.sections) {
    if (section.tables.empty() && section.cases.empty()) continue;
    out += fmt::format("% ---- {}{}\n", one_line(section.title),
                       section.source.empty() ? "" : " (" + section.source + ")");
    for (const Table& table : section.tables) {
      if (!table.rows.empty()) out += table_tex(table);
    }
    for (const Case& one : section.cases) out += case_tex(one);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace dts::eval::report
