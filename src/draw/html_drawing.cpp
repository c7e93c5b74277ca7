#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "draw/facts.h"
#include "draw/html_page.h"
#include "draw/labels.h"
#include "draw/svg.h"
#include "dts/answer.h"
#include "dts/draw.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"

namespace dts {
namespace {

using namespace text;

using namespace draw;

constexpr int kTitle = 80;              // cells of the page's title
constexpr std::size_t kMaxRows = 2000;  // of a table: a page must stay one

std::string joined(const std::vector<std::string>& labels) {
  std::string out;
  for (const std::string& label : labels) out += (out.empty() ? "" : " · ") + label;
  return escape_markup(out);
}

class Page {
 public:
  explicit Page(const TreeDocument& document) : document_(document), facts_(document) {}

  std::string draw() {
    add_head();
    add_heading();
    out_ +=
        "<section class=\"stage\">\n<div class=\"picture\" tabindex=\"0\" aria-label=\"the tree; arrow keys move "
        "through it\">\n";
    out_ += svg_picture(document_, facts_, {.heading = false, .decisions = false});
    out_ += fmt::format(
        "</div>\n<aside class=\"panel\" id=\"panel\" aria-live=\"polite\" data-best=\"{}\">"
        "<noscript>The text of each segment shows here when scripts are on.</noscript></aside>\n</section>\n",
        document_.outcome.best_leaf);
    out_ += "<section class=\"columns\">\n";
    add_finished();
    add_votes();
    out_ += "</section>\n<section>\n";
    add_response();
    add_decisions();
    out_ += "</section>\n<section class=\"columns\">\n";
    add_rows("Settings", setting_rows(document_));
    add_rows("Account", account_rows(document_));
    out_ += "</section>\n<section>\n<details><summary>Prompt</summary><pre>" + escape_markup(document_.prompt) +
            "</pre></details>\n</section>\n";
    out_ +=
        "<footer class=\"noprint\">Hover or tap a line to read it; arrow keys move along the tree. Warm tokens have "
        "high entropy.</footer>\n";
    add_data();
    out_ += fmt::format("<script nonce=\"dts\">{}</script>\n</body>\n</html>\n", kPageScript);
    return std::move(out_);
  }

 private:
  void add_head() {
    // The page loads nothing and runs one script, whatever its text may try.
    out_ += fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'nonce-dts'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
        escape_markup(shorten(question_line(document_), kTitle)), kPageStyle);
  }

  void add_heading() {
    const Outcome& outcome = document_.outcome;
    const std::string& question = document_.question.empty() ? document_.prompt : document_.question;
    out_ += "<header>\n<h1>" + escape_markup(question) + "</h1>\n";
    out_ += "<p class=\"meta\">" + joined(setting_labels(document_)) + "</p>\n";
    out_ += "<p class=\"meta\">" + joined(size_labels(document_, facts_)) + "</p>\n";
    const std::string answer = outcome.winner ? one_line(outcome.finished[*outcome.winner].answer) : std::string();
    out_ += fmt::format("<p class=\"answer\">{}<small>{}</small></p>\n</header>\n",
                        answer.empty() ? "No answer" : "Answer " + escape_markup(answer),
                        escape_markup(verdict(document_)));
  }

  void add_more(std::size_t all, std::size_t shown, std::string_view noun) {
    if (all > shown) out_ += fmt::format("<p class=\"meta\">and {} more {}</p>\n", all - shown, noun);
  }

  void add_finished() {
    const Outcome& outcome = document_.outcome;
    out_ += "<div>\n<h2>Finished traces</h2>\n";
    if (outcome.finished.empty()) {
      out_ += "<p class=\"meta\">None finished.</p>\n</div>\n";
      return;
    }
    out_ +=
        "<table>\n<tr><th>answer</th><th class=\"n\">tokens</th><th class=\"n\">step</th>"
        "<th class=\"n\">log-probability a token</th></tr>\n";
    const std::size_t shown = std::min(outcome.finished.size(), kMaxRows);
    for (std::size_t i = 0; i < shown; ++i) {
      const FinishedTrace& trace = outcome.finished[i];
      const bool best = outcome.winner && *outcome.winner == i;
      out_ += fmt::format(
          "<tr data-id=\"{}\"{}><td>{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td></tr>\n",
          trace.leaf, best ? " class=\"best\"" : "", best ? "★ " : "",
          trace.answer.empty() ? "no answer" : escape_markup(one_line(trace.answer)), grouped(trace.length),
          grouped(trace.step), std::isfinite(trace.mean_logprob) ? fmt::format("{:.3f}", trace.mean_logprob) : "?");
    }
    out_ += "</table>\n";
    add_more(outcome.finished.size(), shown, "traces");
    out_ += "</div>\n";
  }

  void add_votes() {
    const std::vector<AnswerCount>& votes = document_.outcome.votes;
    if (votes.empty()) return;
    out_ += "<div>\n<h2>Votes</h2>\n<table>\n";
    const std::size_t shown = std::min(votes.size(), kMaxRows);
    for (std::size_t i = 0; i < shown; ++i) {
      out_ += fmt::format(
          "<tr><td>{}</td><td><span class=\"bar{}\" style=\"width: {:.0f}px\"></span></td><td "
          "class=\"n\">{}</td></tr>\n",
          escape_markup(one_line(votes[i].answer)), i == 0 ? " first" : "",
          120.0 * votes[i].votes / std::max(votes.front().votes, 1), votes[i].votes);
    }
    out_ += "</table>\n";
    add_more(votes.size(), shown, "answers");
    out_ += "</div>\n";
  }

  // What the user was given to read.
  void add_response() {
    if (document_.outcome.best_leaf == kNoSegment) return;
    const std::string text = trajectory_text(document_, document_.outcome.best_leaf);
    const SplitText split = split_thinking(text, document_.opens_thinking);
    if (!split.answer.empty()) {
      out_ += "<details open><summary>Answer as written</summary><pre>" + escape_markup(split.answer) +
              "</pre></details>\n";
    }
    if (!split.thinking.empty()) {
      out_ += "<details><summary>Thinking</summary><pre>" + escape_markup(split.thinking) + "</pre></details>\n";
    }
  }

  void add_decisions() {
    if (document_.tree.decisions() == 0) return;
    out_ +=
        "<details><summary>Decision tokens</summary>\n<table>\n<tr><th class=\"n\">no.</th><th "
        "class=\"n\">position</th>"
        "<th class=\"n\">entropy</th><th class=\"n\">varentropy</th><th>children and their probabilities</th></tr>\n";
    std::size_t number = 0;
    for (std::size_t index = 0; index < document_.tree.segments().size(); ++index) {
      const auto& decision = facts_.decision[index];
      if (!decision || ++number > kMaxRows) continue;
      const Segment& segment = document_.tree.segments()[index];
      out_ += fmt::format(
          "<tr data-id=\"{}\"><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n stat\">{}</td><td class=\"n "
          "stat\">{}</td><td>",
          index, number, grouped(segment.end()), statistic(decision->entropy), statistic(decision->varentropy));
      for (const SegmentId child : segment.children) {
        const std::vector<TokenRecord>& tokens = document_.tree.segment(child).tokens;
        if (tokens.empty()) continue;
        out_ += fmt::format("<span class=\"choice\"><code>{}</code> <span class=\"stat\">{}</span></span>",
                            escape_markup(shorten(first_token_label(document_, child), 40)),
                            percent(tokens.front().logprob));
      }
      out_ += "</td></tr>\n";
    }
    out_ += "</table>\n";
    add_more(number, kMaxRows, "decisions");
    out_ += "</details>\n";
  }

  void add_rows(std::string_view title, const std::vector<Row>& rows) {
    out_ += fmt::format("<div>\n<h2>{}</h2>\n<table>\n", title);
    for (const auto& [name, value] : rows) {
      out_ += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td></tr>\n", escape_markup(name), escape_markup(value));
    }
    out_ += "</table>\n</div>\n";
  }

  // What the script shows of each segment.
  void add_data() {
    out_ += "<script type=\"application/json\" id=\"tree-data\">[";
    for (std::size_t index = 0; index < document_.tree.segments().size(); ++index) {
      const auto id = static_cast<SegmentId>(index);
      const Segment& segment = document_.tree.segment(id);
      const SegmentText& text = document_.texts[index];
      const double share = segment.tokens.empty() ? 0 : std::exp(static_cast<double>(segment.tokens.front().logprob));
      out_ += fmt::format("{}\n{{\"parent\":{},\"start\":{},\"leaves\":{},\"share\":{:.4f},\"p\":\"{}\"",
                          index == 0 ? "" : ",", segment.parent, segment.start, facts_.leaves[index],
                          std::isfinite(share) ? share : 0.0,
                          segment.tokens.empty() ? "" : percent(segment.tokens.front().logprob));
      out_ += ",\"token\":" + escape_script_string(shorten(first_token_label(document_, id), 40));
      if (const auto& decision = facts_.decision[index]) {
        out_ +=
            fmt::format(",\"h\":\"{}\",\"v\":\"{}\"", statistic(decision->entropy), statistic(decision->varentropy));
      }
      out_ += ",\"end\":" +
              escape_script_string(segment.children.empty() ? leaf_label(document_, facts_, id) : std::string());
      out_ += fmt::format(",\"children\":[{}],\"entropy\":\"", fmt::join(segment.children, ","));
      for (const TokenRecord& record : segment.tokens) out_ += entropy_digit(record.entropy);
      out_ += "\",\"pieces\":[";
      for (std::size_t i = 0; i < text.ends.size(); ++i) {
        out_ += (i == 0 ? "" : ",") + escape_script_string(printable(text.piece(i)));
      }
      out_ += "]}";
    }
    out_ += "]</script>\n";
  }

  // Tenths of a nat in one digit of base 36: enough for a shade.
  static char entropy_digit(float entropy) {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    const double tenths = std::isnan(entropy) ? 0 : std::clamp(static_cast<double>(entropy) * 10, 0.0, 35.0);
    return kDigits[static_cast<std::size_t>(tenths)];
  }

  const TreeDocument& document_;
  Facts facts_;
  std::string out_;
};

}  // namespace

std::string draw_html(const TreeDocument& document) { return Page(document).draw(); }

}  // namespace dts
