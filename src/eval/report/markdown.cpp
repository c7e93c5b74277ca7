#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "eval/report/figures_text.h"
#include "eval/report/render.h"
#include "eval/report/stand_alone.h"
#include "text/display.h"

namespace dts::eval::report {
namespace {

using namespace text;

// Text that came from a model or a file stays text. A '<' that cannot start a tag is left as it is: rules such as
// H <= 2.5 should be readable.
std::string inline_text(const std::string& text) {
  const std::string line = text::one_line(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const char next = i + 1 < line.size() ? line[i + 1] : ' ';
    if (c == '<' &&
        (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '/' || next == '!' || next == '?')) {
      out += "&lt;";
      continue;
    }
    if (c == '&') {
      out += "&amp;";
      continue;
    }
    if (std::string_view("|*_`[]\\#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string table_text(const Table& table) {
  const std::vector<std::size_t> columns = telling_columns(table);
  std::string out = fmt::format("**{}**\n\n|", inline_text(table.caption));
  std::string rule = "|";
  for (const std::size_t c : columns) {
    out += fmt::format(" {} |", inline_text(column_title(table, c)));
    rule += table.columns[c].unit == Unit::kNone ? "---|" : "---:|";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    out += "|";
    for (const std::size_t c : columns) {
      const CellText text = cell_text(table, c, row[c]);
      std::string value = inline_text(text.value);
      if (row[c].best) value = fmt::format("**{}**", value);
      if (!text.range.empty()) value += fmt::format(" ({})", text.range);
      out += fmt::format(" {} |", value);
    }
    out += "\n";
  }
  out += "\n";
  if (!table.note.empty()) out += table.note + ".\n\n";
  return out;
}

// A fence longer than any run of backticks in the text.
std::string fenced(const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + text + "\n" + fence + "\n\n";
}

// A trace is shown by its start and its end, cut between lines or words.
std::string shortened(const std::string& text) {
  constexpr std::size_t kStart = 1500;  // bytes
  constexpr std::size_t kEnd = 500;
  if (text.size() <= kStart + kEnd + 100) return text::printable(text);
  return text::printable(text.substr(0, kStart)) +
         fmt::format("\n[... {} bytes left out ...]\n", text.size() - kStart - kEnd) +
         text::printable(text.substr(text.size() - kEnd));
}

std::string case_text(const Case& one) {
  std::string out = one.question_id.empty() ? "" : fmt::format("### {}\n\n", inline_text(one.question_id));
  out += inline_text(one.model) + (one.dataset.empty() ? "" : ", " + inline_text(one.dataset)) + ".";
  out += one.gold.empty() ? "\n\n" : fmt::format(" The right answer is {}.\n\n", inline_text(one.gold));
  out += fenced(shortened(one.question));
  for (const CaseTrace& trace : one.traces) {
    out += fmt::format("**{}** {}. {}.\n\n", inline_text(trace.heading), inline_text(trace.verdict),
                       inline_text(trace.cost));
    std::string text = trace.thinking;
    if (!text.empty() && !trace.answer.empty()) text += "\n\n";
    out += fenced(shortened(text + trace.answer));
  }
  return out;
}

}  // namespace

std::string to_markdown(const Report& report, const std::string& figures) {
  std::string out = fmt::format("# {}\n\n", inline_text(report.title));
  for (const Headline& headline : report.headlines) {
    const std::size_t colon = headline.text.find(": ");  // before it: from what to what
    out += fmt::format("**{}:** {:.1f}% right with standard decoding, {:.1f}% with dts-stable ({}).\n\n",
                       inline_text(headline.place), 100 * headline.from, 100 * headline.to,
                       inline_text(headline.text.substr(colon == std::string::npos ? 0 : colon + 2)));
  }
  if (!report.note.empty()) out += report.note + "\n\n";
  if (!figures.empty()) {
    constexpr std::size_t kShown = 2;
    std::size_t shown = 0;
    for (const FigureFile& file : figure_files(report)) {
      if (shown++ == kShown) break;
      out += fmt::format("![{}]({}/{}.svg)\n\n", inline_text(file.title), figures, file.name);
    }
  }
  out += "| | |\n|---|---|\n";
  for (const auto& [name, value] : report.facts) out += fmt::format("| {} | {} |\n", name, inline_text(value));
  out += "\n";
  for (const Section& section : report.sections) {
    const bool folded = report.sections.size() > 1 && &section != &report.sections.front();
    out += folded ? fmt::format("<details>\n<summary><b>{}</b></summary>\n\n", section.title)
                  : fmt::format("## {}\n\n", section.title);
    if (!section.source.empty()) out += fmt::format("*{}.* ", section.source);
    out += section.text + "\n\n";
    if (!section.missing.empty()) {
      const std::size_t colon = section.missing.find(": dts ");
      out += fmt::format("Not there yet. {}", section.missing.substr(0, colon));
      out += colon == std::string::npos ? "\n\n"
                                        : fmt::format(":\n\n```sh\n{}\n```\n\n", section.missing.substr(colon + 2));
    }
    for (const Table& table : section.tables) out += table_text(table);
    for (const Case& one : section.cases) out += case_text(one);
    if (folded) out += "</details>\n\n";
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace dts::eval::report
