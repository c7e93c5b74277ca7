#include "eval/grade/grade.h"

#include <cstddef>
#include <optional>

#include "answer/choice_letter.h"
#include "answer/expression.h"
#include "answer/extract.h"
#include "answer/reading.h"
#include "dts/answer.h"
#include "eval/grade/livebench.h"
#include "eval/grade/livebench_text.h"
#include "text/ascii.h"

namespace dts::eval {
namespace {

using namespace text;

// The last box that may answer.
std::string_view answering_box(std::string_view trajectory, const SplitText& split) {
  return last_boxed(split.thinking_open ? trajectory : split.answer);
}

// "m+n=33" -> "33": the value, where only a value can be right.
std::string_view after_equals(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  return equals == std::string_view::npos ? text : text.substr(equals + 1);
}

bool is_number_text(std::string_view normalised) {
  const std::optional<Value> value = evaluate(normalised);
  return value ? value->constant
               : !normalised.empty() && normalised.find_first_not_of("-.0123456789") == std::string_view::npos;
}

// The last run of digits with its sign, separators and decimals. A minus after a digit is a hyphen.
std::string_view last_number(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',')) --begin;
  while (begin < end && text[begin] == ',') ++begin;
  if (begin > 0 && text[begin - 1] == '-' && (begin == 1 || !is_digit(text[begin - 2]))) --begin;
  return text.substr(begin, end - begin);
}

std::string number_answer(std::string_view trajectory, bool opens_thinking, bool from_anywhere) {
  const SplitText split = split_thinking(trajectory, opens_thinking);
  const std::string_view box = answering_box(trajectory, split);
  if (!box.empty()) {
    std::string boxed = normalise_answer(after_equals(box));
    return from_anywhere && !is_number_text(boxed) ? normalise_answer(last_number(box)) : boxed;
  }
  std::string line = normalise_answer(after_equals(last_line_answer(split.answer).text));
  if (is_number_text(line)) return line;
  if (!from_anywhere) return {};
  const std::size_t mark = split.answer.rfind("####");
  if (mark != std::string_view::npos) {
    const std::string_view rest = split.answer.substr(mark + 4);
    std::string marked = normalise_answer(rest.substr(0, rest.find('\n')));
    if (is_number_text(marked)) return marked;
  }
  return normalise_answer(last_number(split.answer));
}

// As it is written.
std::string math_answer(std::string_view trajectory, bool opens_thinking) {
  const SplitText split = split_thinking(trajectory, opens_thinking);
  const std::string_view box = answering_box(trajectory, split);
  return box.empty() ? last_line_answer(split.answer).text : std::string(box);
}

std::string letter_answer(const Question& question, std::string_view trajectory, bool opens_thinking) {
  const SplitText split = split_thinking(trajectory, opens_thinking);
  const int choices = question.choices.empty() ? 4 : static_cast<int>(question.choices.size());
  const char letter = choice_letter(split.thinking_open ? trajectory : split.answer, choices);
  return letter == '\0' ? std::string() : std::string(1, letter);
}

}  // namespace

std::string answer_for_vote(const DatasetInfo& dataset, const Question& question, std::string_view trajectory,
                            bool opens_thinking) {
  switch (dataset.answers) {
    case AnswerKind::kInteger:
      return number_answer(trajectory, opens_thinking, false);
    case AnswerKind::kNumber:
      return number_answer(trajectory, opens_thinking, true);
    case AnswerKind::kMath:
      return written(read_answer(math_answer(trajectory, opens_thinking)));
    case AnswerKind::kLetter:
      return letter_answer(question, trajectory, opens_thinking);
    case AnswerKind::kLiveBench:
      return livebench_answer(question, without_thinking(trajectory, opens_thinking));
  }
  return {};
}

SameAnswer same_answers(const DatasetInfo& dataset) {
  return dataset.answers == AnswerKind::kMath ? SameAnswer(equivalent) : nullptr;
}

Grade grade(const DatasetInfo& dataset, const Question& question, std::string_view trajectory, bool opens_thinking) {
  Grade result;
  if (dataset.answers == AnswerKind::kLiveBench) {
    const std::string text = without_thinking(trajectory, opens_thinking);
    result.answer = livebench_answer(question, text);
    result.score = livebench_score(question, text);
    result.extracted = !result.answer.empty() || result.score > 0;
    result.reason = "LiveBench's scorer of " + question.task;
    return result;
  }
  result.answer = answer_for_vote(dataset, question, trajectory, opens_thinking);
  result.extracted = !result.answer.empty();
  if (!result.extracted) {
    result.reason = "no answer was found";
    return result;
  }
  // Integers, numbers and letters are in one form: equal strings are equal values. For the rest it matters how the
  // answer was written, since the normal form has no percent sign.
  const bool right = dataset.answers == AnswerKind::kMath
                         ? equivalent(math_answer(trajectory, opens_thinking), question.answer)
                         : result.answer == question.answer;
  result.score = right ? 1 : 0;
  const bool same_text = result.answer == question.answer || result.answer == normalise_answer(question.answer);
  result.reason = !right ? "a different answer" : same_text ? "the same in normal form" : "equivalent";
  return result;
}

}  // namespace dts::eval
