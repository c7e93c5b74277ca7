// What a client reads of a trajectory: piece by piece the same as all at once, and never taken back.
#include "question/reply_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/serve_support.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

struct Parts {
  std::string reasoning;
  std::string content;

  friend bool operator==(const Parts&, const Parts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Parts& parts) {
    return out << "reasoning '" << parts.reasoning << "', content '" << parts.content << "'";
  }
};

constexpr std::string_view kSpaces = " \t\n\v\f\r";

std::string_view trim_front(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string_view trim_back(std::string_view text) { return text.substr(0, text.find_last_not_of(kSpaces) + 1); }

// The definition in reply_text.h, over the whole text.
Parts oracle(std::string_view text, const ReplyTextOptions& options) {
  Parts parts;
  std::string_view content = text;
  if (options.split_thinking) {
    const bool tagged = trim_front(text).starts_with("<think>");
    if (options.opens_thinking || tagged) {
      std::string_view thinking = options.opens_thinking ? text : trim_front(text).substr(7);
      const std::size_t close = thinking.find("</think>");
      content = close == std::string_view::npos ? std::string_view() : trim_front(thinking.substr(close + 8));
      thinking = thinking.substr(0, close);
      parts.reasoning = text::valid_utf8(trim_back(trim_front(thinking)));
    }
  }
  for (std::size_t end = 1; end <= content.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : options.stop) {
      if (content.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest == 0) continue;
    content = content.substr(0, end - longest);
    break;
  }
  parts.content = text::valid_utf8(content);
  return parts;
}

Parts read_at_once(std::string_view text, const ReplyTextOptions& options) {
  ReplyText reader(options);
  reader.feed(text);
  reader.finish();
  std::string reasoning = reader.take_reasoning();
  return {std::move(reasoning), reader.take_content()};
}

TEST(ReplyText, TableOfHabits) {
  const std::vector<std::string> none;
  EXPECT_EQ(read_at_once("<think>\nhm \n</think>\n\nYes. ", {true, false, none}), (Parts{"hm", "Yes. "}));
  EXPECT_EQ(read_at_once("hm</think>Yes", {true, true, none}), (Parts{"hm", "Yes"}));
  EXPECT_EQ(read_at_once(" Yes", {true, false, none}), (Parts{"", " Yes"}));
  EXPECT_EQ(read_at_once("hm", {true, true, none}), (Parts{"hm", ""}));
  EXPECT_EQ(read_at_once("<thin", {true, false, none}), (Parts{"", "<thin"}));
  EXPECT_EQ(read_at_once("<think>a</think>b</think>c", {true, false, none}), (Parts{"a", "b</think>c"}));
  EXPECT_EQ(read_at_once("<think>a</think>b", {false, false, none}), (Parts{"", "<think>a</think>b"}));
  EXPECT_EQ(read_at_once("", {true, false, none}), (Parts{"", ""}));
  EXPECT_EQ(read_at_once("a\xE2\x82", {true, false, none}), (Parts{"", "a\uFFFD\uFFFD"}));
}

TEST(ReplyText, StopStringsEndTheContentAndNotTheReasoning) {
  EXPECT_EQ(read_at_once("<think>STOP</think>one STOP two", {true, false, {"STOP"}}), (Parts{"STOP", "one "}));
  // Of those that end together the longest.
  EXPECT_EQ(read_at_once("xSTOP", {true, false, {"OP", "STOP"}}), (Parts{"", "x"}));
  // The first to end, though another began before it.
  EXPECT_EQ(read_at_once("abcd", {true, false, {"abcd", "bc"}}), (Parts{"", "a"}));
  ReplyText reader({true, false, {"STOP"}});
  reader.feed("a STO");
  EXPECT_EQ(reader.take_content(), "a ");
  EXPECT_FALSE(reader.stopped());
  reader.feed("P and more");
  EXPECT_TRUE(reader.stopped());
  EXPECT_EQ(reader.kept(), "a ");
  EXPECT_EQ(reader.take_content(), "");
}

TEST(ReplyText, WhateverThePiecesItAgreesWithTheOracleAndNeverTakesBack) {
  const std::vector<std::string> pieces = awkward_pieces();
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> piece(0, pieces.size() - 1);
  for (int round = 0; round < 20000; ++round) {
    ReplyTextOptions options;
    options.split_thinking = round % 5 != 0;
    options.opens_thinking = round % 3 == 0;
    if (round % 2 == 0) options.stop = {"STOP", "\xC3\xA9", "aa"};
    ReplyText reader(options);
    std::string text;
    Parts taken;
    const int length = static_cast<int>(random() % 14);
    for (int i = 0; i < length; ++i) {
      const std::string& next = pieces[piece(random)];
      text += next;
      reader.feed(next);
      if (random() % 2 == 0) taken.reasoning += reader.take_reasoning();
      if (random() % 2 == 0) taken.content += reader.take_content();
    }
    reader.finish();
    taken.reasoning += reader.take_reasoning();
    taken.content += reader.take_content();
    ASSERT_EQ(taken, oracle(text, options)) << "round " << round << ": " << text;
    ASSERT_EQ(taken, read_at_once(text, options)) << "round " << round << ": " << text;
  }
}

TEST(ReplyText, HoldsNothingBackThatIsCertain) {
  ReplyText reader({true, false, {"STOP"}});
  reader.feed("<think>one");
  EXPECT_EQ(reader.take_reasoning(), "one");
  reader.feed(" two <");
  EXPECT_EQ(reader.take_reasoning(), " two");
  reader.feed("b");
  EXPECT_EQ(reader.take_reasoning(), " <b");
  reader.feed("</think>\n\nthree");
  EXPECT_EQ(reader.take_reasoning(), "");
  EXPECT_EQ(reader.take_content(), "three");
  reader.feed(" S");
  EXPECT_EQ(reader.take_content(), " ");
  reader.feed("u");
  EXPECT_EQ(reader.take_content(), "Su");
}

}  // namespace
}  // namespace dts::serve
