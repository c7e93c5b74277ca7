#include "answer/letter/abroad.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "answer/letter/context.h"
#include "answer/letter/marks.h"
#include "answer/notation/other_languages.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

// What may follow a letter that was chosen: its noun, how the sentence ends, or why.
constexpr std::array kFollowers =
    std::to_array<std::string_view>({"项", "項", "选项", "選項", "因为", "由于", "理由", "而不是", "而非", "です", "だ",
                                     "で", "である", "となる", "입니다", "이다", "번"});
constexpr std::array kReasonWords = std::to_array<std::string_view>(
    {"weil", "da", "denn", "porque", "pues", "ya que", "car", "puisque", "parce", "perché", "poiché", "pois",
     "und nicht", "et non", "y no", "e non", "так как", "потому"});
// What is said of a letter that is right ...
constexpr std::array kRight = std::to_array<std::string_view>({"正确", "正確", "是正确", "是正確", "为正确", "才正确",
                                                               "才是正确", "符合题意", "符合要求", "符合条件", "最合适",
                                                               "最符合", "最为合适", "成立", "是唯一正确", "是最佳"});
// ... unless it is a question, or about more than that.
constexpr std::array kOpen = std::to_array<std::string_view>({"吗", "与否", "性", "率", "度"});
// Between "不" and "选".
constexpr std::array kModals = std::to_array<std::string_view>(
    {"应该", "应当", "应", "该", "可以", "可", "能够", "能", "要", "会", "宜", "须", "必须", "再"});
constexpr std::array kAgainstChoosing =
    std::to_array<std::string_view>({"不", "勿",   "别",   "无法", "没有", "没", "未", "是否", "为什么", "为何", "如果",
                                     "若", "倘若", "假如", "任",   "筛",   "挑", "待", "备",   "候",     "错",   "误"});
// Nouns for an option before its letter.
constexpr std::array kOptions = std::to_array<std::string_view>({"选项", "選項"});

template <std::size_t n>
std::size_t longest(std::string_view text, const std::array<std::string_view, n>& phrases) {
  std::size_t size = 0;
  for (const std::string_view one : phrases) {
    if (one.size() > size && text.starts_with(one)) size = one.size();
  }
  return size;
}

template <std::size_t n>
std::size_t longest_at_end(std::string_view text, const std::array<std::string_view, n>& phrases) {
  std::size_t size = 0;
  for (const std::string_view one : phrases) {
    if (one.size() > size && text.ends_with(one)) size = one.size();
  }
  return size;
}

bool lists_more(std::string_view rest, char last) {
  rest = trim(rest.substr(0, kMaxDressing));
  if (!rest.starts_with(',')) return false;
  rest = without_dressing(rest.substr(1), false);
  rest.remove_prefix(longest(rest, kOptions));
  if (rest.empty() || letter_of(rest.front(), last, false) == '\0') return false;
  rest = without_closing(rest.substr(1));
  return rest.empty() || std::string_view(".,;!\n\r").find(rest.front()) != std::string_view::npos ||
         rest.starts_with("和") || rest.starts_with("或") || rest.starts_with("与") || rest.starts_with("都") ||
         rest.starts_with("均");
}

// Whether the sentence may have chosen the letter before `after`: no "A点", "B族维生素", "C und D".
bool ends_choice(std::string_view after, char last) {
  if (!stands_free(after) || goes_on_listing(after, last) || is_blamed(after)) return false;
  const std::string_view rest = without_closing(after);
  if (lists_more(rest, last)) return false;
  if (rest.empty() || std::string_view(".,;:!(\n\r").find(rest.front()) != std::string_view::npos) return true;
  for (const std::string_view dash : {"– ", "— ", "- ", "——"}) {
    if (rest.starts_with(dash)) return true;
  }
  if (!first_phrase(rest, kReasonWords).empty()) return true;
  return longest(rest, kFollowers) > 0 || longest(rest, kRight) > 0;
}

// The letter that stands at the front, dressed or not.
char chosen_letter(std::string_view text, char last) {
  text = without_dressing(text.substr(0, kMaxClause), false);
  text.remove_prefix(longest(text, kOptions));
  text = without_dressing(text, false);
  if (text.empty()) return '\0';
  const char letter = letter_of(text.front(), last, false);
  return letter != '\0' && ends_choice(text.substr(1), last) ? letter : '\0';
}

// "选B", "选择 C 选项".
char selected_letter(std::string_view text, std::string_view before, char last) {
  std::size_t size = 0;
  for (const std::string_view one : {"选择", "選擇", "选定", "选", "選"}) {
    if (size == 0 && text.starts_with(one)) size = one.size();
  }
  if (size == 0 || longest(text, kOptions) > 0) return '\0';
  while (const std::size_t modal = longest_at_end(before, kModals)) before.remove_suffix(modal);
  if (longest_at_end(before, kAgainstChoosing) > 0) return '\0';
  text = without_dressing(text.substr(size), false);
  if (text.starts_with(':')) text.remove_prefix(1);
  return chosen_letter(text, last);
}

// "B选项正确", "选项B是正确的", of what begins with the letter.
char judged_letter(std::string_view text, std::string_view before, char last) {
  const char letter = letter_of(text.front(), last, false);
  if (letter == '\0' || (!before.empty() && (is_letter(before.back()) || is_digit(before.back())))) return '\0';
  std::string_view rest = trim(without_closing(text.substr(1)).substr(0, kMaxClause));
  for (const std::string_view noun : {"选项", "選項", "项", "項", "说法", "的说法", "陈述"}) {
    if (!rest.starts_with(noun)) continue;
    rest = trim(rest.substr(noun.size()));
    break;
  }
  const std::size_t right = longest(rest, kRight);
  if (right == 0 || longest(rest.substr(right), kOpen) > 0 || is_supposed_abroad(before)) return '\0';
  // "A和B正确", "A、B都正确": one of several.
  before = without_marks_at_end(before);
  before.remove_suffix(longest_at_end(before, kOptions));
  for (const std::string_view joint : {"和", "与", "及", "或", ",", "、"}) {
    if (!before.ends_with(joint)) continue;
    const std::string_view other = trim(before.substr(0, before.size() - joint.size()));
    if (!other.empty() && letter_of(other.back(), last, false) != '\0') return '\0';
  }
  return letter;
}

}  // namespace

char letter_abroad(std::string_view text, std::string_view before, char last) {
  if (is_letter(text.front()) && letter_of(text.front(), last, false) != '\0') {
    if (const char letter = judged_letter(text, before, last); letter != '\0') return letter;
  }
  if (const std::size_t size = lead_in_size(text); size > 0) {
    return is_supposed_abroad(before) ? '\0' : chosen_letter(text.substr(size), last);
  }
  return selected_letter(text, before, last);
}

}  // namespace dts::letters
