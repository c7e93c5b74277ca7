#include "answer/letter/verdict.h"

#include <array>

#include "answer/letter/marks.h"
#include "answer/letter/phrases.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

struct Mark {
  std::string_view text;
  Verdict verdict;
};

constexpr std::array kVerdictMarks = {
    Mark{"\u2713", Verdict::kRight},     Mark{"\u2714", Verdict::kRight},   Mark{"\u2705", Verdict::kRight},
    Mark{"\u2611", Verdict::kRight},     Mark{"[x]", Verdict::kRight},      Mark{"[X]", Verdict::kRight},
    Mark{"[\u2713]", Verdict::kRight},   Mark{"[\u2714]", Verdict::kRight}, Mark{"\\checkmark", Verdict::kRight},
    Mark{"\U0001f7e2", Verdict::kRight}, Mark{"\u2717", Verdict::kWrong},   Mark{"\u2718", Verdict::kWrong},
    Mark{"\u274c", Verdict::kWrong},     Mark{"\u2716", Verdict::kWrong},   Mark{"\u2715", Verdict::kWrong},
    Mark{"\u274e", Verdict::kWrong},     Mark{"\u2610", Verdict::kWrong},   Mark{"[ ]", Verdict::kWrong},
    Mark{"[\u2717]", Verdict::kWrong},   Mark{"[\u2718]", Verdict::kWrong}, Mark{"[]", Verdict::kWrong},
    Mark{"\U0001f534", Verdict::kWrong},
};
constexpr std::string_view kEmojiStyle = "\ufe0f";

constexpr auto kRightWords = std::to_array<std::string_view>(
    {"correct", "right", "true", "yes", "valid", "holds", "the answer", "correct answer", "the correct answer",
     "correct option", "correct choice", "正确", "对", "符合题意"});
constexpr auto kWrongWords = std::to_array<std::string_view>(
    {"incorrect",      "wrong",         "false", "no",       "eliminated", "ruled out",   "rejected",  "invalid",
     "excluded",       "impossible",    "out",   "not true", "not valid",  "not correct", "not right", "not possible",
     "not the answer", "does not hold", "错误",  "错",       "不正确",     "不对",        "不符合",    "不符合题意",
     "排除",           "有误"});
// What may stand before the word.
constexpr std::array<std::string_view, 8> kLeads = {"this is", "that is", "it is",     "clearly",
                                                    "also",    "so",      "obviously", "therefore"};

// After the word: the end of what it is said in, or why.
bool ends_verdict(std::string_view rest) {
  rest = without_closing(rest);
  if (rest.empty() || std::string_view(".,;:!(|\n\r").find(rest.front()) != std::string_view::npos) return true;
  for (const std::string_view dash : {"- ", "\u2013", "\u2014", "=>", "->", "\u2192"}) {
    if (rest.starts_with(dash)) return true;
  }
  return !first_phrase(rest, kReasons).empty() || mark_at(rest).verdict != Verdict::kNone;
}

}  // namespace

Judged mark_at(std::string_view text) {
  for (const Mark& mark : kVerdictMarks) {
    if (!text.starts_with(mark.text)) continue;
    const bool styled = text.substr(mark.text.size()).starts_with(kEmojiStyle);
    return {mark.verdict, mark.text.size() + (styled ? kEmojiStyle.size() : 0)};
  }
  return {};
}

Judged verdict_at(std::string_view text) {
  const auto past = [&](std::string_view rest) { return static_cast<std::size_t>(rest.data() - text.data()); };
  std::string_view rest = text;
  // "[x]" is a mark, though a bracket may dress what follows it.
  if (const Judged mark = mark_at(trim(rest.substr(0, kMaxDressing))); mark.verdict != Verdict::kNone) {
    return {mark.verdict, rest.find_first_not_of(" \t") + mark.size};
  }
  rest = without_dressing(rest, false);
  if (const Judged mark = mark_at(rest); mark.verdict != Verdict::kNone) return {mark.verdict, past(rest) + mark.size};
  for (int lead = 0; lead < 2; ++lead) {
    const std::string_view words = first_phrase(rest, kLeads);
    if (words.empty()) break;
    rest = without_dressing(rest.substr(words.size()), false);
  }
  const std::string_view right = first_phrase(rest, kRightWords);
  const std::string_view word = right.empty() ? first_phrase(rest, kWrongWords) : right;
  if (word.empty() || !ends_verdict(rest.substr(word.size()))) return {};
  return {right.empty() ? Verdict::kWrong : Verdict::kRight, past(rest) + word.size()};
}

}  // namespace dts::letters
