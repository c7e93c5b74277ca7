#include "question/answer_form.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "answer/extract.h"
#include "answer/letter/choice_letter.h"
#include "dts/answer.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kLongestText = 4096;  // bytes of a free text that votes
constexpr int kMostChoices = 26;

constexpr std::string_view kBoxedWords = "Please reason step by step, and put your final answer within \\boxed{}.";
constexpr std::string_view kLetterWords =
    "Think step by step. The last line of your response should be 'Answer: $LETTER' (without quotes), where LETTER is "
    "that of the right option.";

// Options that stand on lines of their own, "A) ...", "(A) ...", "A. ...", from A on without a gap.
int count_options(std::string_view question) {
  int options = 0;
  for (std::size_t at = 0; at < question.size() && options < kMostChoices;) {
    const std::size_t end = std::min(question.find('\n', at), question.size());
    std::string_view line = trim(question.substr(at, end - at));
    at = end + 1;
    if (line.starts_with('(')) line.remove_prefix(1);
    if (line.size() < 3 || line[0] != 'A' + options) continue;
    if (line[1] == ')' || line[1] == '.' || line[1] == ':') ++options;
  }
  return options;
}

// Whether a value is asked for: a phrase that asks for one. Beginnings of words count: "comput" is compute, computes.
bool asks_for_value(std::string_view question) {
  constexpr std::array<std::string_view, 24> kPhrases = {"how many",
                                                         "how much",
                                                         "how long",
                                                         "how far",
                                                         "how old",
                                                         "how likely",
                                                         "what number",
                                                         "what fraction",
                                                         "what percent",
                                                         "what is the sum",
                                                         "what is the value",
                                                         "what is the probability",
                                                         "what is the area",
                                                         "what is the product",
                                                         "probability that",
                                                         "comput",
                                                         "calculat",
                                                         "evaluat",
                                                         "solve",
                                                         "simplif",
                                                         "find the",
                                                         "find all",
                                                         "determine the",
                                                         "express your answer"};
  const std::string text = lower_case(question);
  const auto begins_word = [&text](std::size_t at) { return at == 0 || !is_letter(text[at - 1]); };
  for (const std::string_view phrase : kPhrases) {
    for (std::size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) {
      if (begins_word(at)) return true;
    }
  }
  // "What is 3 + 4?", "12 * 7 =": digits with an operator between them.
  constexpr std::string_view kOperators = "+-*/^=<>";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (kOperators.find(text[at]) == std::string_view::npos) continue;
    std::size_t before = at;
    while (before > 0 && text[before - 1] == ' ') --before;
    std::size_t after = at + 1;
    while (after < text.size() && text[after] == ' ') ++after;
    const bool left = before > 0 && (is_digit(text[before - 1]) || text[before - 1] == ')' || text[before - 1] == 'x');
    const bool right = after < text.size() && (is_digit(text[after]) || text[after] == '(' || text[after] == '?');
    if (left && right) return true;
  }
  return false;
}

bool asks_for_box(std::string_view question) { return question.find("\\boxed") != std::string_view::npos; }
bool asks_for_letter(std::string_view question) {
  return lower_case(question).find("answer: $letter") != std::string::npos;
}

// What the reader of a trajectory reads.
std::string_view reply_of(std::string_view text, bool opens_thinking) {
  const SplitText split = split_thinking(text, opens_thinking);
  return split.thinking_open ? std::string_view{} : split.answer;
}

std::string read_boxed(std::string_view text, bool opens_thinking) {
  const std::string_view reply = reply_of(text, opens_thinking);
  std::string_view boxed = last_boxed(reply);
  if (boxed.empty()) boxed = last_boxed(text);
  const std::string written = boxed.empty() ? last_line_answer(reply).text : std::string(boxed);
  // What has no canonical form says nothing.
  return normalise_answer(written).empty() ? "" : valid_utf8(written);
}

struct Words {
  std::vector<std::string> all;      // sorted
  std::vector<std::string> numbers;  // in order
  int negations = 0;
};

// Letters beyond ASCII are letters.
Words words_of(std::string_view text) {
  Words words;
  text = text.substr(0, kLongestText);
  const auto in_word = [](char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; };
  for (std::size_t at = 0; at < text.size();) {
    if (!in_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const bool number = is_digit(text[at]);
    // "3.5", "7,000" and "don't" are one word each.
    while (at < text.size() &&
           (in_word(text[at]) || (at + 1 < text.size() && in_word(text[at + 1]) &&
                                  std::string_view(number ? ".," : "'").find(text[at]) != std::string_view::npos))) {
      ++at;
    }
    std::string word = lower_case(text.substr(begin, at - begin));
    if (number) {
      word = normalise_answer(word);
      words.numbers.push_back(word);
    }
    if (word == "not" || word == "no" || word == "never" || word == "none" || word == "cannot" ||
        word.ends_with("n't")) {
      ++words.negations;
    }
    words.all.push_back(std::move(word));
  }
  std::sort(words.all.begin(), words.all.end());
  return words;
}

}  // namespace

AnswerForm form_of(AnswerForm form, std::string_view question) {
  if (asks_for_letter(question)) return AnswerForm::kLetter;
  if (asks_for_box(question)) return AnswerForm::kBoxed;
  if (form != AnswerForm::kAuto) return form;
  if (count_options(question) >= 2) return AnswerForm::kLetter;
  return asks_for_value(question) ? AnswerForm::kBoxed : AnswerForm::kText;
}

std::string asked_in(AnswerForm form, const std::string& question) {
  if (form == AnswerForm::kBoxed && !asks_for_box(question)) return question + "\n" + std::string(kBoxedWords);
  if (form == AnswerForm::kLetter && !asks_for_letter(question)) return question + "\n\n" + std::string(kLetterWords);
  return question;
}

AnswerReader form_reader(AnswerForm form, std::string_view question, bool opens_thinking) {
  if (form == AnswerForm::kLetter) {
    const int options = count_options(question);
    return [opens_thinking, options](std::string_view text) -> std::string {
      const char letter = choice_letter(reply_of(text, opens_thinking), options >= 2 ? options : kMostChoices);
      return letter == '\0' ? "" : std::string(1, letter);
    };
  }
  if (form == AnswerForm::kBoxed) {
    return [opens_thinking](std::string_view text) { return read_boxed(text, opens_thinking); };
  }
  return [opens_thinking](std::string_view text) -> std::string {
    const std::string_view reply = reply_of(text, opens_thinking);
    if (const std::string_view boxed = last_boxed(reply); !boxed.empty()) return valid_utf8(boxed);
    return valid_utf8(complete_utf8(reply.substr(0, kLongestText)));
  };
}

SameAnswer form_equality(AnswerForm form) {
  if (form == AnswerForm::kText) return same_text;
  return equivalent;
}

bool same_text(std::string_view a, std::string_view b) {
  if (equivalent(a, b)) return true;
  const Words x = words_of(a);
  const Words y = words_of(b);
  if (x.numbers != y.numbers || (x.negations > 0) != (y.negations > 0)) return false;
  constexpr std::size_t kFewWords = 3;  // of so few each one counts
  if (x.all.size() < kFewWords || y.all.size() < kFewWords) return x.all == y.all && !x.all.empty();
  std::vector<std::string> shared;
  std::set_intersection(x.all.begin(), x.all.end(), y.all.begin(), y.all.end(), std::back_inserter(shared));
  return 5 * shared.size() >= 2 * (x.all.size() + y.all.size());  // four fifths of their words
}

}  // namespace dts
