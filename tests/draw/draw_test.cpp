#include "dts/draw.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "draw/answer_colours.h"
#include "draw/html.h"
#include "draw/labels.h"
#include "draw/tree_layout.h"
#include "draw/viewer.h"
#include "support/markup_check.h"
#include "support/synthetic_tree.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace dts {
namespace {

using test::SyntheticShape;

// Every shape that a picture has to stand.
std::vector<std::pair<std::string, TreeDocument>> documents() {
  std::vector<std::pair<std::string, TreeDocument>> all;
  const auto add = [&all](const std::string& name, const SyntheticShape& shape) {
    all.emplace_back(name, test::synthetic_tree(shape));
  };
  SyntheticShape shape;
  add("plain", shape);
  shape.branches = 48, shape.decision_every = 10, shape.shortest = 60, shape.finish_every = 120;
  add("wide", shape);
  shape = {};
  shape.branches = 24, shape.k = 2, shape.decision_every = 8, shape.shortest = 80, shape.trunk = 0.97;
  add("deep", shape);
  shape = {};
  shape.k = 1;
  add("chain", shape);
  shape.roots = 8;
  add("roots", shape);
  shape = {};
  shape.finishes = false, shape.max_tokens = 60;
  add("exhausted", shape);
  shape = {};
  shape.finishes = false, shape.steps = 30;
  add("cut", shape);
  shape = {};
  shape.branches = 20, shape.decision_every = 6, shape.first_decision = 2, shape.last_decision = 40;
  shape.shortest = 20, shape.finish_every = 18, shape.straggler = true, shape.max_tokens = 4000,
  shape.stop_after = 10000;
  add("unequal", shape);
  shape = {};
  shape.hostile = test::kHostileText;
  add("hostile", shape);

  TreeDocument empty = test::small_tree();
  empty.tree = {};
  empty.texts = {};
  empty.outcome = {};
  all.emplace_back("empty", empty);
  empty.tree.add_root();
  empty.texts.resize(1);
  all.emplace_back("nothing generated", empty);
  return all;
}

TEST(DrawText, Golden) {
  EXPECT_EQ(draw_text(test::small_tree()),
            R"(What is 12 × 34? Please reason step by step, and put your final answer within \boxed{}.
synthetic 1.5B q8_0 · dts-stable · splits 3 ways · varentropy ≥ 1.5, entropy ≤ 2.5
up to 5 branches · 4 votes · temperature 0.6 · seed 782
8 trajectories · 4 finished · 2 exhausted · 2 cut · 4 decisions
85 unique of 204 tokens (2.40× shared)

                                                      tokens      H     VE
prompt                                                    34
└─ ; But n a product. even a each Wait.                   11   1.78   3.42  ◇ 3 ways at 11
   ├─  62% so then case the add                            6                ● 398
   ├─  24% term. suppose 12 suppose not the n              9                ▲ 408 ★
   └─   7% so the be first                                 4   2.18   3.97  ◇ 3 ways at 15
      ├─  46% first both times small … us times           15                ╢ exhausted
      ├─  35% again                                        2                ■ 1/2
      └─  12% n we product so                              4   1.51   2.06  ◇ 3 ways at 19
         ├─  65% small gives the us … we 408 add          11                ╢ exhausted
         ├─  17% one carry sum other … which              10   2.36   3.94  ◇ 2 ways at 29
         │  ├─  62% n                                      1                ╌ cut
         │  └─  23% each                                   1                ╌ cut
         └─  12% that which 12 a … of carry               11                ▲ 408

answer  408
        2 of 4 votes; enough trajectories finished
votes   ▲ 408  ██ 2
        ● 398  █ 1
        ■ 1/2  █ 1
)");
}

TEST(DrawText, GoldenInAscii) {
  EXPECT_EQ(draw_text(test::small_tree(), {.width = 80, .unicode = false}),
            R"(What is 12 x 34? Please reason step by step, and put your final answer within \~
synthetic 1.5B q8_0 | dts-stable | splits 3 ways
varentropy >= 1.5, entropy <= 2.5 | up to 5 branches | 4 votes | temperature 0.6
seed 782
8 trajectories | 4 finished | 2 exhausted | 2 cut | 4 decisions
85 unique of 204 tokens (2.40x shared)

                                      tokens      H     VE
prompt                                    34
`- ; But n a product. ~ each Wait.        11   1.78   3.42  @ 3 ways at 11
   +-  62% so then case the add            6                o 398
   +-  24% term. suppose ~ the n           9                ^ 408 <<
   `-   7% so the be first                 4   2.18   3.97  @ 3 ways at 15
      +-  46% first both times smal~      15                ] exhausted
      +-  35% again                        2                # 1/2
      `-  12% n we product so              4   1.51   2.06  @ 3 ways at 19
         +-  65% small gives the us~      11                ] exhausted
         +-  17% one carry sum othe~      10   2.36   3.94  @ 2 ways at 29
         |  +-  62% n                      1                ~ cut
         |  `-  23% each                   1                ~ cut
         `-  12% that which 12 a su~      11                ^ 408

answer  408
        2 of 4 votes; enough trajectories finished
votes   ^ 408  ## 2
        o 398  # 1
        # 1/2  # 1
)");
}

TEST(DrawText, NoLineIsTooLong) {
  for (const auto& [name, document] : documents()) {
    for (const int width : {60, 61, 80, 81, 100, 101, 160, 161}) {
      std::istringstream lines(draw_text(document, {.width = width, .unicode = width % 2 == 0}));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(text::display_width(line), width) << name << ": " << line;
        EXPECT_FALSE(line.ends_with(' ')) << name << ": " << line;
      }
    }
  }
}

TEST(DrawText, SendsATerminalNothingOfTheModels) {
  for (const bool colour : {false, true}) {
    for (const auto& [name, document] : documents()) {
      const std::string text = draw_text(document, {.colour = colour});
      for (std::size_t at = 0; at < text.size();) {
        const text::Character character = text::decode_utf8(text, at);
        ASSERT_TRUE(character.valid) << name;
        const bool ours = colour && text.substr(at, 2) == "\x1b[" && text.find('m', at) - at <= 13;
        ASSERT_TRUE(character.code >= 0x20 || character.code == '\n' || ours) << name << " at byte " << at;
        ASSERT_TRUE(character.code < 0x7F || character.code >= 0xA0) << name;
        ASSERT_TRUE(character.code < 0x202A || character.code > 0x202E) << name;
        at += character.size;
      }
      EXPECT_EQ(text.find("\x1b[0m") != std::string::npos, colour);
      EXPECT_EQ(text.find("\x1b[31mno"), std::string::npos);
    }
  }
}

TEST(DrawText, AsciiIsAscii) {
  for (const auto& [name, document] : documents()) {
    for (const char c : draw_text(document, {.unicode = false})) {
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f')) << name;
    }
  }
}

TEST(DrawText, ShowsEverySegmentDecisionAndAnswer) {
  for (const auto& [name, document] : documents()) {
    const std::string text = draw_text(document, {.width = 200});
    const auto count = [&text](std::string_view what) {
      std::size_t n = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
      return n;
    };
    EXPECT_EQ(count("├") + count("└"), document.tree.segments().size()) << name;
    EXPECT_EQ(count("◇"), document.tree.decisions()) << name;
    std::size_t marks = count(draw::kOtherAnswer.mark);
    for (const draw::AnswerColour& colour : draw::kAnswerColours) marks += count(colour.mark);
    const std::size_t listed = document.outcome.votes.size() < 2 ? 0 : document.outcome.votes.size();
    EXPECT_EQ(marks, document.outcome.finished.size() + listed) << name;
    EXPECT_EQ(count("★"), document.outcome.best_leaf == kNoSegment ? 0U : 1U) << name;
  }
}

// The style sheet has the colours of the table, in light and in dark.
TEST(DrawSvg, AnswersHaveTheirColours) {
  const std::string svg = draw_svg(test::small_tree());
  const auto expect_rule = [&](const draw::AnswerColour& colour) {
    for (const std::string_view value : {colour.light, colour.dark}) {
      const std::string rule = fmt::format("text.answer-{} {{", colour.name);
      std::size_t at = svg.find(rule);
      if (value == colour.dark) at = svg.find(rule, at + 1);
      ASSERT_NE(at, std::string::npos) << rule;
      EXPECT_NE(svg.substr(at, 80).find(value), std::string::npos) << rule << value;
    }
  };
  for (const draw::AnswerColour& colour : draw::kAnswerColours) expect_rule(colour);
  expect_rule(draw::kOtherAnswer);
  for (const char* used : {"answer-blue", "answer-vermilion", "answer-green"}) {
    EXPECT_NE(svg.find(fmt::format("<g class=\"end finished {}\"", used)), std::string::npos) << used;
  }
}

TEST(DrawSvg, IsWellFormed) {
  const std::set<std::string> elements = {"svg", "title", "style", "rect", "text", "tspan", "g", "path", "circle"};
  for (const auto& [name, document] : documents()) {
    const test::MarkupCheck check = test::check_markup(draw_svg(document), false);
    EXPECT_EQ(check.error, "") << name;
    for (const test::MarkupTag& tag : check.tags) {
      EXPECT_TRUE(elements.contains(tag.name)) << name << ": " << tag.name;
      for (const std::string& attribute : tag.attributes) EXPECT_NE(attribute.substr(0, 2), "on") << name;
    }
  }
}

TEST(DrawSvg, HasALineForEverySegment) {
  for (const auto& [name, document] : documents()) {
    const std::string svg = draw_svg(document);
    for (std::size_t id = 0; id < document.tree.segments().size(); ++id) {
      const bool best = document.outcome.best_leaf == static_cast<SegmentId>(id);
      const std::string state(draw::state_label(document.tree.segments()[id].state));
      EXPECT_NE(svg.find("<g class=\"segment " + state + (best ? " best" : "")), std::string::npos) << name;
      EXPECT_NE(svg.find("data-id=\"" + std::to_string(id) + "\""), std::string::npos) << name << " " << id;
    }
    EXPECT_EQ(svg.find("nan"), std::string::npos) << name;
  }
}

// Both pages there are: with the viewer, where it was built, and without.
std::vector<std::pair<std::string, std::string>> html_pages(const TreeDocument& document) {
  std::vector<std::pair<std::string, std::string>> pages = {{"document", draw::html_page(document, nullptr)}};
  if (draw::viewer_page() != nullptr) pages.emplace_back("viewer", draw::html_page(document, draw::viewer_page()));
  return pages;
}

// What stands between `begin` and the next `end`.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(DrawHtml, IsWellFormedAndHarmless) {
  const std::set<std::string> elements = {"html", "head", "meta",    "title",   "style", "body", "main", "h1",
                                          "p",    "span", "div",     "section", "svg",   "rect", "text", "tspan",
                                          "g",    "path", "h2",      "circle",  "table", "tr",   "th",   "td",
                                          "code", "pre",  "details", "summary", "script"};
  for (const auto& [name, document] : documents()) {
    for (const auto& [kind, html] : html_pages(document)) {
      const test::MarkupCheck check = test::check_markup(html, true);
      EXPECT_EQ(check.error, "") << name << ", " << kind;
      std::size_t scripts = 0;
      std::size_t styles = 0;
      for (const test::MarkupTag& tag : check.tags) {
        EXPECT_TRUE(elements.contains(tag.name)) << name << ": " << tag.name;
        scripts += tag.name == "script" ? 1U : 0U;
        styles += tag.name == "style" ? 1U : 0U;
        for (const std::string& attribute : tag.attributes) {
          EXPECT_NE(attribute.substr(0, 2), "on") << name;
          for (const char* loads : {"src", "href", "style"}) EXPECT_NE(attribute, loads) << name;
        }
      }
      EXPECT_EQ(scripts, kind == "viewer" ? 2U : 0U) << name;  // the viewer and the tree
      EXPECT_EQ(styles, 1U) << name;
      // Before anything that it forbids; the rest of it names that one script and that one style.
      const std::string_view policy = between(html, "Content-Security-Policy\" content=\"", "\"");
      EXPECT_TRUE(policy.starts_with("default-src 'none'; ")) << policy;
      EXPECT_EQ(policy.find("unsafe"), std::string_view::npos) << policy;
      EXPECT_EQ(std::count(policy.begin(), policy.end(), ';'), kind == "viewer" ? 2 : 1) << policy;
      EXPECT_LT(html.find(policy), html.find("<style"));
    }
  }
}

TEST(DrawHtml, CarriesTheTreeFile) {
  if (draw::viewer_page() == nullptr) GTEST_SKIP() << "built without the viewer";
  for (const auto& [name, document] : documents()) {
    const std::string html = draw_html(document);
    const std::string_view data = between(html, "<script type=\"application/json\" id=\"tree\">", "</script>");
    EXPECT_EQ(data.find_first_of("<>&"), std::string_view::npos) << name;
    EXPECT_TRUE(std::all_of(data.begin(), data.end(), [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); }));
    EXPECT_EQ(nlohmann::json::parse(data), nlohmann::json::parse(to_json_text(document))) << name;
  }
}

TEST(DrawHtml, ReadsWithoutScripts) {
  for (const auto& [name, document] : documents()) {
    for (const auto& [kind, html] : html_pages(document)) {
      const std::string_view plain = between(html, "<main class=\"plain\"", "</main>");
      const auto has = [&plain](const std::string& text) { return plain.find(text) != std::string_view::npos; };
      EXPECT_TRUE(has(text::escape_markup(document.question))) << name;
      EXPECT_TRUE(has(text::escape_markup(document.prompt))) << name;
      for (std::size_t id = 0; id < document.tree.segments().size(); ++id) {
        EXPECT_TRUE(has("data-id=\"" + std::to_string(id) + "\"")) << name << " " << id;
        EXPECT_TRUE(has("<summary>Segment " + std::to_string(id))) << name << " " << id;
        EXPECT_TRUE(has("<pre>" + text::escape_markup(document.texts[id].text) + "</pre>")) << name << " " << id;
      }
      for (const FinishedTrace& trace : document.outcome.finished) {
        EXPECT_TRUE(has(text::escape_markup(text::one_line(trace.answer)))) << name;
        EXPECT_TRUE(has("<td class=\"number\">" + std::to_string(trace.leaf) + "</td>")) << name;
      }
      for (const auto& rows : {draw::setting_rows(document), draw::account_rows(document)}) {
        for (const auto& [label, value] : rows) {
          EXPECT_TRUE(has("<th>" + text::escape_markup(label) + "</th><td class=\"number\">" +
                          text::escape_markup(value) + "</td>"))
              << name << ": " << label;
        }
      }
    }
  }
}

// Graphviz' own words: identifiers, quoted strings, a few signs.
TEST(DrawDot, IsBalanced) {
  for (const auto& [name, document] : documents()) {
    const std::string dot = draw_dot(document);
    int braces = 0;
    int brackets = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < dot.size(); ++at) {
      const char c = dot[at];
      if (quoted && c == '\\') {
        ++at;  // whatever it escapes
        ASSERT_LT(at, dot.size());
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted) {
        braces += c == '{' ? 1 : c == '}' ? -1 : 0;
        brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
        const bool known = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                           std::string_view(" \n{}[]=,;.->_").find(c) != std::string_view::npos;
        ASSERT_TRUE(known) << name << ": " << dot.substr(at, 40);
      } else {
        ASSERT_NE(c, '\n') << name << ": a string over two lines";
      }
      ASSERT_GE(braces, 0);
      ASSERT_GE(brackets, 0);
    }
    EXPECT_EQ(braces, 0) << name;
    EXPECT_EQ(brackets, 0) << name;
    EXPECT_FALSE(quoted) << name;
  }
}

TEST(Layout, OneRowATrajectoryAndNoCrossings) {
  for (const auto& [name, document] : documents()) {
    const draw::Layout layout(document.tree, 900);
    const std::span<const Segment> segments = document.tree.segments();
    const auto leaves = static_cast<std::size_t>(
        std::count_if(segments.begin(), segments.end(), [](const Segment& s) { return s.children.empty(); }));
    EXPECT_EQ(layout.rows, leaves) << name;
    for (std::size_t fork = 0; fork < segments.size(); ++fork) {
      if (segments[fork].parent == kNoSegment) continue;
      const std::size_t from = layout.row[static_cast<std::size_t>(segments[fork].parent)];
      const std::size_t to = layout.row[fork];
      EXPECT_EQ(from == to, segments[fork].child_index == 0) << name;
      // On its way down a fork passes no line that is there already and still goes on.
      for (std::size_t other = 0; other < segments.size(); ++other) {
        const bool between = layout.row[other] > from && layout.row[other] < to;
        EXPECT_FALSE(between && segments[other].start < segments[fork].start) << name;
      }
    }
  }
}

TEST(Layout, TheScaleKeepsEventsApart) {
  for (const auto& [name, document] : documents()) {
    const draw::Layout layout(document.tree, 900);
    int longest = 0;
    for (const Segment& segment : document.tree.segments()) longest = std::max(longest, segment.end());
    EXPECT_EQ(layout.scale.at(0), 0) << name;
    EXPECT_NEAR(layout.scale.at(longest), longest > 0 ? 900 : 0, 1e-3) << name;
    for (int position = 1; position <= longest; ++position) {
      ASSERT_GT(layout.scale.at(position), layout.scale.at(position - 1)) << name;
    }
    const std::vector<int> ticks = layout.scale.ticks(60);
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      EXPECT_GE(layout.scale.at(ticks[i]) - layout.scale.at(ticks[i - 1]), 60 - 1e-9) << name;
    }
  }
  // Ten events at the start of something long: each still gets its pixels, and the ends stay where they are.
  std::vector<std::pair<int, double>> gaps = {{100000, 6.0}};
  for (int position = 1; position <= 10; ++position) gaps.emplace_back(position, 20.0);
  const draw::Scale scale(gaps, 900);
  EXPECT_FALSE(scale.is_linear());
  for (int position = 1; position <= 10; ++position) {
    EXPECT_GE(scale.at(position) - scale.at(position - 1), 20 - 1e-9);
  }
  EXPECT_NEAR(scale.at(100000), 900, 1e-6);
}

TEST(Drawings, StandTreesOfAnyDepth) {
  Tree tree;
  SegmentId trunk = tree.add_root();
  for (int level = 0; level < 1000; ++level) {
    tree.append(trunk, {.token = level});
    const SegmentId first = tree.split(trunk, 2);
    tree.append(first, {.token = 0});
    tree.append(first + 1, {.token = 1});
    tree.close(first, SegmentState::kCut);
    trunk = first + 1;
  }
  tree.close(trunk, SegmentState::kCut);
  TreeDocument document = test::small_tree();
  document.outcome = {};
  document.outcome.best_leaf = trunk;
  document.tree = tree;
  document.texts = segment_texts(tree, [](Token token) { return " " + std::to_string(token); });
  // Neither the stack nor the width of the picture grows with the depth.
  EXPECT_LT(draw_text(document).size(), 400 * tree.segments().size());
  EXPECT_EQ(test::check_markup(draw_svg(document), false).error, "");
  for (const auto& [kind, html] : html_pages(document)) EXPECT_EQ(test::check_markup(html, true).error, "") << kind;
  EXPECT_FALSE(draw_dot(document).empty());
}

TEST(Labels, Numbers) {
  EXPECT_EQ(text::grouped(0), "0");
  EXPECT_EQ(text::grouped(-1234567), "-1,234,567");
  EXPECT_EQ(draw::percent(0), "100%");
  EXPECT_EQ(draw::percent(-0.5), "61%");
  EXPECT_EQ(draw::percent(-6), "0.2%");
  EXPECT_EQ(text::seconds(0.424), "0.42 s");
  EXPECT_EQ(text::seconds(243), "4 min 03 s");
  EXPECT_EQ(text::scaled(1234567), "1.23 M");
}

TEST(Labels, Tokens) {
  EXPECT_EQ(draw::token_label(" add", 3), "add");
  EXPECT_EQ(draw::token_label(" ", 3), "␣");
  EXPECT_EQ(draw::token_label("\n\n", 3), "⏎⏎");
  EXPECT_EQ(draw::token_label("", 3), "#3");
  EXPECT_EQ(draw::token_label("\x1b", 3), "␛");
}

TEST(Labels, SnippetsKeepBothEnds) {
  EXPECT_EQ(draw::snippet(" one two\nthree ", 40), "one two three");
  EXPECT_EQ(draw::snippet("one two three four five six seven eight nine ten", 30), "one two three … nine ten");
  EXPECT_EQ(draw::snippet("one two three", 8), "one two…");
  EXPECT_EQ(draw::snippet("word", 0), "");
  const std::string long_text(100000, 'x');
  for (int width = 0; width < 60; ++width) EXPECT_LE(text::display_width(draw::snippet(long_text, width)), width);
}

TEST(Unicode, PrintableHoldsNothingThatActs) {
  EXPECT_EQ(text::printable("a\x1b[31mb"), "a␛[31mb");
  EXPECT_EQ(text::printable("a\r\nb\tc"), "a\nb\tc");
  EXPECT_EQ(text::printable("\u202e\xff\u0085\uffff"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text::printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(text::printable("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(text::printable("\u00e9\u4e2d\U0001F642"), "\u00e9\u4e2d\U0001F642");
}

TEST(Unicode, Widths) {
  EXPECT_EQ(text::display_width("abc"), 3);
  EXPECT_EQ(text::display_width("\u4e2d\u6587"), 4);
  EXPECT_EQ(text::display_width("e\u0301"), 1);
  EXPECT_EQ(text::shorten("\u4e2d\u6587\u4e2d", 4), "\u4e2d…");
  EXPECT_EQ(text::shorten("abc", 3), "abc");
  EXPECT_EQ(text::shorten("abcd", 3), "ab…");
  EXPECT_EQ(text::fit_end("abcd", 3), "bcd");
  EXPECT_EQ(text::fit_end("a\u4e2d\u6587", 3), "\u6587");
}

TEST(Markup, Escapes) {
  EXPECT_EQ(text::escape_markup("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
}

TEST(Markup, JsonInAScriptIsTheSameJson) {
  const std::string json =
      nlohmann::json({{"</script>", "<!-- & \u00e9 \u4e2d \U0001F642 \u2028 \x7f \\ \" \n"}}).dump();
  const std::string escaped = text::escape_script_json(json);
  EXPECT_EQ(nlohmann::json::parse(escaped), nlohmann::json::parse(json));
  EXPECT_EQ(escaped.find_first_of("<>&\x7f"), std::string::npos);
  EXPECT_NE(escaped.find("\\ud83d\\ude42"), std::string::npos);
}

}  // namespace
}  // namespace dts
