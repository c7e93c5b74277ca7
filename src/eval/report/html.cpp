#include <fmt/format.h>

#include <algorithm>

#include "eval/report/charts.h"
#include "eval/report/figures_text.h"
#include "eval/report/html_style.h"
#include "eval/report/render.h"
#include "eval/report/repetition.h"
#include "text/markup.h"

namespace dts::eval::report {
namespace {

using namespace text;

using text::escape_markup;

// Our own text: what is between backticks is code.
std::string with_code(const std::string& text) {
  std::string out;
  bool code = false;
  for (const char c : escape_markup(text)) {
    if (c != '`') {
      out += c;
      continue;
    }
    out += code ? "</code>" : "<code>";
    code = !code;
  }
  return code ? out + "</code>" : out;
}

std::string table_html(const Table& table) {
  const std::vector<std::size_t> columns = telling_columns(table);
  std::string out = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption><thead><tr>",
                                escape_markup(table.caption));
  for (const std::size_t c : columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", table.columns[c].unit == Unit::kNone ? "" : " class=\"n\"",
                       escape_markup(column_title(table, c)));
  }
  out += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    out += "<tr>";
    for (const std::size_t c : columns) {
      const CellText text = cell_text(table, c, row[c]);
      const bool number = table.columns[c].unit != Unit::kNone;
      const std::string value = escape_markup(text.value);
      const std::string classes = number ? (row[c].best ? "n best" : "n")
                                  : text.value.size() > 32 && text.value.find(' ') != std::string::npos ? "wrap"
                                                                                                        : "";
      out += fmt::format("<td{}>{}{}</td>", classes.empty() ? "" : " class=\"" + classes + "\"",
                         row[c].best ? "<b>" + value + "</b>" : value,
                         text.range.empty() ? "" : "<small>" + text.range + "</small>");
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.note.empty()) out += fmt::format("<p class=\"note\">{}.</p>\n", escape_markup(table.note));
  return out;
}

std::string chart_html(const Chart& chart) {
  return std::visit(
      [](const auto& one) {
        const std::string caption =
            one.title.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", escape_markup(one.title));
        return fmt::format("<figure>{}{}</figure>\n", caption, draw(one));
      },
      chart);
}

// A trace of tens of thousands of tokens is shown by its start and its end.
std::string trace_text(std::string_view text) {
  constexpr std::size_t kStart = 14000;  // bytes
  constexpr std::size_t kEnd = 5000;
  const auto marked = [](std::string_view part) {
    std::string out;
    for (const TextPart& piece : mark_repetition(part)) {
      out += piece.again ? "<mark>" + escape_markup(piece.text) + "</mark>" : escape_markup(piece.text);
    }
    return out;
  };
  if (text.size() <= kStart + kEnd + 1000) return marked(text);
  return marked(text.substr(0, kStart)) + fmt::format("<b>\n[{} bytes left out]\n</b>", text.size() - kStart - kEnd) +
         marked(text.substr(text.size() - kEnd));
}

std::string case_html(const Case& one) {
  std::string about = one.model + (one.dataset.empty() ? "" : ", " + one.dataset);
  if (!one.gold.empty()) about += "; the right answer is " + one.gold;
  std::string out = one.question_id.empty() ? "" : fmt::format("<h3>{}</h3>\n", escape_markup(one.question_id));
  out += fmt::format("<p class=\"source\">{}</p>\n", escape_markup(about));
  out += fmt::format("<div class=\"question\">{}</div>\n<div class=\"sides\">\n", escape_markup(one.question));
  for (const CaseTrace& trace : one.traces) {
    out += fmt::format(
        "<div class=\"side\"><h4>{}<span class=\"{}\">{}</span></h4><p class=\"meta\">{}</p><pre class=\"trace\" "
        "tabindex=\"0\">{}{}<b>{}</b></pre></div>\n",
        escape_markup(trace.heading),
        trace.right        ? "right"
        : one.gold.empty() ? "unknown"
                           : "wrong",
        escape_markup(trace.verdict), escape_markup(trace.cost), trace_text(trace.thinking),
        trace.thinking.empty() ? "" : "\n\n", trace_text(trace.answer));
  }
  out += "</div>\n";
  for (const CaseTrace& trace : one.traces) {
    if (trace.tree.empty()) continue;
    out += fmt::format(
        "<details{}><summary>the tree of {}</summary><div class=\"tree\" tabindex=\"0\">{}</div></details>\n",
        one.trees_open ? " open" : "", escape_markup(trace.heading), trace.tree);
  }
  return out;
}

std::string section_html(const Section& section) {
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escape_markup(section.title));
  if (!section.source.empty()) out += fmt::format("<p class=\"source\">{}</p>\n", escape_markup(section.source));
  const std::string text = fmt::format("<p class=\"text\">{}</p>\n", with_code(section.text));
  const bool beside = section.charts.size() == 1;  // a lone chart has room for the text at its side
  if (!beside) out += text;
  if (!section.missing.empty()) {
    const std::size_t colon = section.missing.find(": dts ");
    out += fmt::format("<div class=\"missing\">Not there yet. {}<code>{}</code></div>\n",
                       escape_markup(section.missing.substr(0, colon)),
                       escape_markup(colon == std::string::npos ? "" : section.missing.substr(colon + 2)));
  }
  if (!section.charts.empty()) {
    out += "<div class=\"charts\">\n";
    for (const Chart& chart : section.charts) out += chart_html(chart);
    if (beside) out += text;
    out += "</div>\n";
  }
  for (const Case& one : section.cases) out += case_html(one);
  for (const Table& table : section.tables) out += table_html(table);
  return out + "</section>\n";
}

std::string headline_html(const Headline& headline) {
  return fmt::format(
      "<div class=\"headline\"><p>{}</p><p class=\"step\">{:.1f}% <span>→</span> <b>{:.1f}%</b></p><p>{}</p></div>\n",
      escape_markup(headline.place), 100 * headline.from, 100 * headline.to, escape_markup(headline.text));
}

}  // namespace

std::string to_html(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<div class=\"page\">\n<h1>{}</h1>\n<dl "
      "class=\"facts\">\n",
      escape_markup(report.title), kReportStyle, escape_markup(report.title));
  for (const auto& [name, value] : report.facts) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name), escape_markup(value));
  }
  out += "</dl>\n";
  if (!report.headlines.empty()) {
    out += "<div class=\"headlines\">\n";
    for (const Headline& headline : report.headlines) out += headline_html(headline);
    out += "</div>\n";
  }
  if (!report.note.empty()) out += fmt::format("<p class=\"text\">{}</p>\n", escape_markup(report.note));
  if (report.sections.size() > 1) {
    out += "<nav aria-label=\"Sections\">\n";
    for (const Section& section : report.sections) {
      out += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, escape_markup(section.title));
    }
    out += "</nav>\n";
  }
  out += "<main>\n";
  for (const Section& section : report.sections) out += section_html(section);
  return out +
         "</main>\n<footer>Made by dts. This page is complete: it loads "
         "nothing.</footer>\n</div>\n</body>\n</html>\n";
}

}  // namespace dts::eval::report
