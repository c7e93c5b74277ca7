#include "draw/plain_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "draw/facts.h"
#include "draw/labels.h"
#include "draw/svg.h"
#include "dts/answer.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"

namespace dts::draw {
namespace {

using namespace text;

constexpr std::size_t kMaxRows = 2000;  // of a table: a page must stay one
constexpr int kToken = 40;              // cells of a token's label

std::string joined(const std::vector<std::string>& labels) {
  return escape_markup(fmt::format("{}", fmt::join(labels, " · ")));
}

class Document {
 public:
  explicit Document(const TreeDocument& document) : document_(document), facts_(document) {}

  std::string write() {
    out_ = "<main class=\"plain\" id=\"plain\">\n";
    add_heading();
    out_ += "<div class=\"picture\">\n";
    out_ += svg_picture(document_, facts_, {.heading = false, .decisions = false, .style = false});
    out_ += "</div>\n<section class=\"tables\">\n";
    add_finished();
    add_votes();
    out_ += "</section>\n<section>\n";
    add_response();
    out_ += "</section>\n";
    add_decisions();
    add_segments();
    out_ += "<section class=\"about\">\n<div class=\"tables\">\n";
    add_rows("Settings", setting_rows(document_));
    add_rows("Account", account_rows(document_));
    out_ += "</div>\n<h2>Prompt</h2>\n<pre>" + escape_markup(document_.prompt) + "</pre>\n</section>\n</main>\n";
    return std::move(out_);
  }

 private:
  void add_heading() {
    const Outcome& outcome = document_.outcome;
    const std::string& question = document_.question.empty() ? document_.prompt : document_.question;
    out_ += "<h1>" + escape_markup(question) + "</h1>\n";
    out_ += "<p class=\"meta\">" + joined(setting_labels(document_)) + "</p>\n";
    out_ += "<p class=\"meta\">" + joined(size_labels(document_, facts_)) + "</p>\n";
    const std::string answer = outcome.winner ? one_line(outcome.finished[*outcome.winner].answer) : std::string();
    out_ += fmt::format("<p class=\"outcome\">{} <span class=\"meta\">{}</span></p>\n",
                        answer.empty() ? "No answer" : "Answer " + escape_markup(answer),
                        escape_markup(verdict(document_)));
  }

  void add_more(std::size_t all, std::string_view noun) {
    if (all > kMaxRows) out_ += fmt::format("<p class=\"meta\">and {} more {}</p>\n", all - kMaxRows, noun);
  }

  void add_finished() {
    const Outcome& outcome = document_.outcome;
    out_ += "<div>\n<h2>Finished trajectories</h2>\n";
    if (outcome.finished.empty()) {
      out_ += "<p class=\"meta\">None finished.</p>\n</div>\n";
      return;
    }
    out_ +=
        "<div class=\"scroller\">\n<table>\n<tr><th>answer</th><th class=\"number\">segment</th><th "
        "class=\"number\">tokens</th>"
        "<th class=\"number\">step</th><th class=\"number\">log-probability a token</th></tr>\n";
    for (std::size_t i = 0; i < std::min(outcome.finished.size(), kMaxRows); ++i) {
      const FinishedTrace& trace = outcome.finished[i];
      const bool best = outcome.winner && *outcome.winner == i;
      out_ += fmt::format("<tr{}><td>{}{}</td>", best ? " class=\"best\"" : "", best ? "★ " : "",
                          trace.answer.empty() ? "no answer" : escape_markup(one_line(trace.answer)));
      for (const std::string& number :
           {std::to_string(trace.leaf), grouped(trace.length), grouped(trace.step),
            std::isfinite(trace.mean_logprob) ? fmt::format("{:.3f}", trace.mean_logprob) : std::string("?")}) {
        out_ += "<td class=\"number\">" + number + "</td>";
      }
      out_ += "</tr>\n";
    }
    out_ += "</table>\n</div>\n";
    add_more(outcome.finished.size(), "trajectories");
    out_ += "</div>\n";
  }

  void add_votes() {
    const std::vector<AnswerCount>& votes = document_.outcome.votes;
    if (votes.empty()) return;
    out_ += "<div>\n<h2>Votes</h2>\n<table>\n";
    for (std::size_t i = 0; i < std::min(votes.size(), kMaxRows); ++i) {
      out_ += fmt::format("<tr{}><td>{}</td><td class=\"number\">{}</td></tr>\n", i == 0 ? " class=\"best\"" : "",
                          escape_markup(one_line(votes[i].answer)), votes[i].votes);
    }
    out_ += "</table>\n";
    add_more(votes.size(), "answers");
    out_ += "</div>\n";
  }

  void add_text(std::string_view summary, std::string_view text, bool open) {
    out_ += fmt::format("<details{}><summary>{}</summary><pre>{}</pre></details>\n", open ? " open" : "", summary,
                        escape_markup(text));
  }

  // What the user was given to read.
  void add_response() {
    if (document_.outcome.best_leaf == kNoSegment) return;
    const std::string text = trajectory_text(document_, document_.outcome.best_leaf);
    const SplitText split = split_thinking(text, document_.opens_thinking);
    if (!split.answer.empty()) add_text("Answer as written", split.answer, true);
    if (!split.thinking.empty()) add_text("Thinking", split.thinking, false);
  }

  void add_decisions() {
    if (document_.tree.decisions() == 0) return;
    out_ +=
        "<section>\n<h2>Decision tokens</h2>\n<div class=\"scroller\">\n<table>\n<tr><th class=\"number\">no.</th>"
        "<th class=\"number\">segment</th><th class=\"number\">position</th><th class=\"number\">entropy</th>"
        "<th class=\"number\">varentropy</th><th>children and their probabilities</th></tr>\n";
    std::size_t number = 0;
    for (std::size_t index = 0; index < document_.tree.segments().size(); ++index) {
      const auto& decision = facts_.decision[index];
      if (!decision || ++number > kMaxRows) continue;
      const Segment& segment = document_.tree.segments()[index];
      out_ += fmt::format(
          "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
          "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"choices\">",
          number, index, grouped(segment.end()), statistic(decision->entropy), statistic(decision->varentropy));
      for (const SegmentId child : segment.children) out_ += "<span class=\"choice\">" + choice(child) + "</span>";
      out_ += "</td></tr>\n";
    }
    out_ += "</table>\n</div>\n";
    add_more(number, "decisions");
    out_ += "</section>\n";
  }

  // The token a segment was begun with, and its probability.
  std::string choice(SegmentId id) const {
    const std::vector<TokenRecord>& tokens = document_.tree.segment(id).tokens;
    if (tokens.empty()) return {};
    return fmt::format("<code>{}</code> {}", escape_markup(shorten(first_token_label(document_, id), kToken)),
                       percent(tokens.front().logprob));
  }

  void add_segments() {
    const std::size_t all = document_.tree.segments().size();
    if (all == 0) return;
    out_ += "<section>\n<h2>Text of the segments</h2>\n";
    for (std::size_t index = 0; index < std::min(all, kMaxRows); ++index) {
      const auto id = static_cast<SegmentId>(index);
      const Segment& segment = document_.tree.segment(id);
      std::string summary = fmt::format("Segment {}", index);
      if (segment.parent != kNoSegment) summary += fmt::format(", after {} with {}", segment.parent, choice(id));
      summary += fmt::format(": {} from {}", counted(static_cast<std::int64_t>(segment.tokens.size()), "token"),
                             grouped(segment.start));
      if (segment.children.empty()) summary += ", " + escape_markup(leaf_label(document_, facts_, id));
      add_text(summary, document_.texts[index].text, false);
    }
    add_more(all, "segments");
    out_ += "</section>\n";
  }

  void add_rows(std::string_view title, const std::vector<Row>& rows) {
    out_ += fmt::format("<div>\n<h2>{}</h2>\n<table>\n", title);
    for (const auto& [name, value] : rows) {
      out_ +=
          fmt::format("<tr><th>{}</th><td class=\"number\">{}</td></tr>\n", escape_markup(name), escape_markup(value));
    }
    out_ += "</table>\n</div>\n";
  }

  const TreeDocument& document_;
  Facts facts_;
  std::string out_;
};

}  // namespace

std::string plain_html(const TreeDocument& document) { return Document(document).write(); }

}  // namespace dts::draw
