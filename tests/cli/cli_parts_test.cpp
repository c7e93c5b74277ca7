// The parts of the command line that draw: text, the tree's skeleton and the frames of the live view.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "cli/comparison.h"
#include "cli/frame.h"
#include "cli/run_report.h"
#include "cli/skeleton.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"
#include "text/utf8.h"

namespace dts::cli {

using namespace text;
namespace {

std::string drawing(const Outline& outline, int width, int rows) {
  std::string out;
  for (const StyledLine& line : draw_skeleton(outline, width, rows, glyphs(true)).lines) {
    out += line.render(false, width) + "\n";
  }
  return out;
}

// A tree that grows at random, as a search would grow it; answers are wide characters now and then.
Outline random_outline(std::uint32_t seed, int steps) {
  std::mt19937 random(seed);
  Outline outline;
  outline.segments.push_back({});
  for (int step = 0; step < steps; ++step) {
    for (std::size_t id = 0, n = outline.segments.size(); id < n; ++id) {
      if (outline.segments[id].state != SegmentState::kLive) continue;
      const int end = ++outline.segments[id].end;
      const auto draw = random() % 100;
      if (draw < 8 && outline.segments.size() < 200) {
        outline.segments[id].state = SegmentState::kSplit;
        for (int child = 0; child < 3; ++child) {
          outline.segments.push_back({static_cast<SegmentId>(id), end, end + 1, SegmentState::kLive, -1});
        }
      } else if (draw == 99 || draw == 98) {
        outline.segments[id].state = draw == 99 ? SegmentState::kFinished : SegmentState::kExhausted;
        if (draw == 98) continue;
        outline.segments[id].label = static_cast<std::int32_t>(outline.labels.size());
        outline.labels.emplace_back(random() % 2 == 0 ? "数字の答え" : "an answer that is too long for its place");
        outline.best = static_cast<SegmentId>(id);
      }
    }
  }
  return outline;
}

TEST(Skeleton, DrawsForksBelowTheirParent) {
  Outline outline;
  outline.labels = {"42"};
  outline.segments = {{kNoSegment, 0, 5, SegmentState::kSplit, -1}, {0, 5, 15, SegmentState::kSplit, -1},
                      {0, 5, 18, SegmentState::kExhausted, -1},     {0, 5, 12, SegmentState::kLive, -1},
                      {1, 15, 25, SegmentState::kLive, -1},         {1, 15, 20, SegmentState::kFinished, 0}};
  EXPECT_EQ(drawing(outline, 30, 10),
            "─────┬─────────┬─────────›\n"
            "     │         └────● 42\n"
            "     ├────────────╢\n"
            "     └──────›\n");
}

TEST(Skeleton, LeavesOutWhatFindsNoRoom) {
  Outline outline;
  outline.labels = {"7"};
  outline.segments = {{kNoSegment, 0, 4, SegmentState::kSplit, -1},
                      {0, 4, 8, SegmentState::kExhausted, -1},
                      {0, 4, 8, SegmentState::kLive, -1},
                      {0, 4, 8, SegmentState::kFinished, 0}};
  const Skeleton skeleton = draw_skeleton(outline, 20, 2, glyphs(true));
  EXPECT_EQ(skeleton.hidden, 1);
  EXPECT_EQ(drawing(outline, 20, 2).find("╢"), std::string::npos);
}

TEST(Skeleton, StaysWithinItsRoom) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Outline outline = random_outline(seed, static_cast<int>(5 + seed * 4));
    const auto leaves = std::count_if(outline.segments.begin(), outline.segments.end(),
                                      [](const OutlineSegment& s) { return s.state != SegmentState::kSplit; });
    for (const int width : {12, 20, 60, 80, 120}) {
      for (const int rows : {1, 2, 7, 40}) {
        const Skeleton skeleton = draw_skeleton(outline, width, rows, glyphs(seed % 2 == 0));
        EXPECT_EQ(static_cast<long>(skeleton.lines.size()), std::min<long>(rows, leaves));
        EXPECT_EQ(skeleton.hidden, std::max<long>(0, leaves - rows));
        for (const StyledLine& line : skeleton.lines) EXPECT_LE(line.width(), width) << line.render(false, 500);
      }
    }
  }
}

TEST(Votes, SayHowManyAreNotShown) {
  std::vector<AnswerCount> votes;
  for (int i = 0; i < 9; ++i) {
    AnswerCount count;
    count.answer = std::to_string(100 + i);
    count.votes = 9 - i;
    votes.push_back(count);
  }
  for (int rows = 1; rows < 12; ++rows) {
    const std::vector<StyledLine> lines = vote_lines(votes, 2, 60, rows, glyphs(true), {});
    ASSERT_EQ(lines.size(), std::min<std::size_t>(static_cast<std::size_t>(rows), 10));
    const std::string last = lines.back().render(false, 60);
    if (rows < 10) {
      EXPECT_EQ(last, "and " + std::to_string(10 - (rows - 1)) + " more");
    } else {
      EXPECT_NE(last.find("(no answer)"), std::string::npos);
    }
  }
  EXPECT_TRUE(vote_lines(votes, 0, 60, 0, glyphs(true), {}).empty());
}

// An answer has the same mark and colour in every part of a frame.
TEST(Votes, HaveTheMarksOfTheTree) {
  Outline outline;
  outline.labels = {"1", "2"};
  outline.segments = {{kNoSegment, 0, 4, SegmentState::kSplit, -1},
                      {0, 4, 8, SegmentState::kFinished, 0},
                      {0, 4, 9, SegmentState::kFinished, 1}};
  const std::string tree = drawing(outline, 40, 4);
  EXPECT_NE(tree.find("● 1"), std::string::npos) << tree;
  EXPECT_NE(tree.find("■ 2"), std::string::npos) << tree;
  AnswerCount second;
  second.answer = "2";
  second.votes = 1;
  draw::AnswerColours colours;
  for (const std::string& answer : outline.labels) colours.of(answer);
  EXPECT_TRUE(vote_lines({second}, 0, 40, 4, glyphs(true), colours)[0].render(false, 40).starts_with("■ 2"));
}

TEST(Frame, FitsAnyTerminal) {
  FrameTitle title{"a model with a rather long name",
                   "dts-stable",
                   "splits 3 ways · up to 48 branches · 8 votes · seed 0",
                   "temp 0.6",
                   std::string(300, 'q'),
                   48,
                   8};
  FrameState state;
  state.snapshot.outline = random_outline(3, 60);
  state.snapshot.leader_tail = "言葉 " + std::string(400, 'x') + "\n\tand more\nlines";
  for (const std::string& answer : {std::string("数字の答え"), std::string(200, 'a')}) {
    AnswerCount count;
    count.answer = answer;
    count.votes = 2;
    state.snapshot.votes.push_back(count);
  }
  state.snapshot.without_answer = 3;
  for (int i = 0; i < 12; ++i) {
    state.snapshot.decisions.push_back({i * 1000, 1.5, 2.5, std::string(100, 'b'), {{"言", 0.5}, {"word", 0.25}}});
  }
  for (const bool decoding : {false, true}) {
    state.decoding = decoding;
    for (const int columns : {1, 5, 20, 60, 80, 200}) {
      for (const int rows : {1, 3, 8, 24, 40, 100}) {
        const std::vector<StyledLine> lines = compose_frame(title, state, {columns, rows}, glyphs(true));
        EXPECT_LE(static_cast<int>(lines.size()), rows);
        for (const StyledLine& line : lines) EXPECT_LE(display_width(line.render(false, columns)), columns);
      }
    }
  }
}

TEST(Frame, BarsShowThatSomethingIsNotNothing) {
  EXPECT_EQ(bar(0, 8, 4, glyphs(false)), "....");
  EXPECT_EQ(bar(1, 1000, 4, glyphs(false)), "#...");
  EXPECT_EQ(bar(4, 8, 4, glyphs(false)), "##..");
  EXPECT_EQ(bar(9, 8, 4, glyphs(false)), "####");
}

// Everything that others wrote: the model's name, its text, its answers.
TEST(Report, LetsNoControlCharacterThrough) {
  TreeDocument document;
  document.model = "name\x1b]0;title\a";
  document.options.method = make_method("dts-stable");
  const SegmentId root = document.tree.add_root();
  document.tree.append(root, {});
  document.tree.close(root, SegmentState::kFinished);
  const std::string hostile =
      "a\x1b[2J\x9b"
      "31m\xe2\x80\xae b\r\bc</think>\n\x1b[31mred\x7f";
  document.texts = {{hostile, {static_cast<std::uint32_t>(hostile.size())}}};
  FinishedTrace trace;
  trace.leaf = root;
  trace.length = 1;
  document.outcome.finished = {trace, trace};
  AnswerCount count;
  count.votes = 1;
  document.outcome.finished[0].answer = count.answer = "4\x1b[5m2";
  document.outcome.votes = {count};
  document.outcome.winner = 0;
  document.outcome.best_leaf = root;
  Terminal terminal;  // without colours, so that no escape sequence is ours
  const std::string report = report_text(document, terminal);
  for (const std::string& text : {report, answer_text(document)}) {
    EXPECT_NE(text.find("red"), std::string::npos) << text;
    for (const char c : text)
      EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7F) || (c & 0x80) != 0) << static_cast<int>(c);
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
  }
  EXPECT_NE(report.find("4␛[5m2"), std::string::npos) << report;
}

TEST(Styled, CutsCellsNotBytes) {
  StyledLine line;
  line.add("ab", Style::kBold).add("言葉", Style::kRed);
  EXPECT_EQ(line.width(), 6);
  EXPECT_EQ(line.render(false, 5), "ab言");
  EXPECT_EQ(line.render(true, 3), "\x1b[1mab\x1b[0m");
}

TEST(Text, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("plain, é, 言葉, 🌲"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0U);          // overlong
  EXPECT_EQ(find_invalid_utf8("x\xed\xa0\x80"), 1U);     // a surrogate
  EXPECT_EQ(find_invalid_utf8("é\xe8\xa8"), 2U);         // cut short
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0U);  // beyond Unicode
}

TEST(Text, DropsOnlyAnUnfinishedCharacter) {
  EXPECT_EQ(complete_utf8("言葉"), "言葉");
  EXPECT_EQ(complete_utf8("言\xe8\x91"), "言");
  EXPECT_EQ(complete_utf8("言\xe8"), "言");
  EXPECT_EQ(complete_utf8("\xf0\x9f\x8c"), "");
  EXPECT_EQ(complete_utf8(""), "");
}

TEST(Text, WrapsWithoutLosingWords) {
  const std::string text = "one two  three\n\nfour言葉five averyverylongword end";
  for (const int width : {2, 3, 7, 10, 80}) {
    std::string joined;
    for (const std::string& line : wrap(text, width)) {
      EXPECT_LE(display_width(line), width);
      joined += line;
    }
    std::string expected = text;
    for (std::string* s : {&joined, &expected}) {
      std::erase_if(*s, [](char c) { return c == ' ' || c == '\n'; });
    }
    EXPECT_EQ(joined, expected);
  }
  EXPECT_EQ(wrap("one two three", 8), (std::vector<std::string>{"one two", "three"}));
}

TEST(Text, ShortensAtEitherEnd) {
  EXPECT_EQ(shorten_left("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten_left("abcdef", 4), "…def");
  EXPECT_EQ(shorten_left("abcdef", 0), "");
}

TEST(Text, WritesNumbersForPeople) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(counted(1, "token"), "1 token");
  EXPECT_EQ(counted(2000, "token"), "2,000 tokens");
  EXPECT_EQ(scaled(0), "0");
  EXPECT_EQ(scaled(999), "999");
  EXPECT_EQ(scaled(999.9), "1.00 k");
  EXPECT_EQ(scaled(45.6e9), "45.6 G");
  EXPECT_EQ(scaled(1.5e15), "1.50 P");
  EXPECT_EQ(seconds(0.424), "0.42 s");
  EXPECT_EQ(seconds(59.94), "59.9 s");
  EXPECT_EQ(seconds(243), "4 min 03 s");
  EXPECT_EQ(seconds(7260), "2 h 01 min");
}

}  // namespace
// The tree looks as it does alone; what stands beside it takes the colours that are left, from the other end.
TEST(Comparison, ColoursATreeAsItsOwnPictureDoes) {
  const auto run = [](const char* method, std::vector<std::string> answers) {
    ComparedRun made;
    made.label = method;
    made.document.options.method.name = method;
    for (std::string& answer : answers) {
      made.document.outcome.finished.emplace_back();
      made.document.outcome.finished.back().answer = std::move(answer);
    }
    return made;
  };
  Comparison comparison;
  comparison.expected = "142";
  comparison.runs = {run("standard", {"34"}), run("dts-stable", {"152", "142", "152"})};
  draw::AnswerColours colours = colours_of(comparison);
  draw::AnswerColours alone(comparison.runs[1].document.outcome.finished);
  for (const char* answer : {"152", "142"}) EXPECT_EQ(colours.of(answer).name, alone.of(answer).name);
  EXPECT_EQ(colours.of("34").name, draw::kAnswerColours.back().name);
}

}  // namespace dts::cli
