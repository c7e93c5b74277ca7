#include "eval/grade/livebench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dts/error.h"
#include "eval/grade/livebench_text.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

constexpr std::string_view kListsSince = "2024-11-25";  // from this release on, zebra puzzles ask for lists
constexpr std::size_t kMaxAnswer = 1024;                // bytes: longer texts are no answers that could win a vote
constexpr std::size_t kMaxItems = 64;
constexpr std::array<std::string_view, 3> kLabels = {"yes", "no", "unknown"};
constexpr std::array<std::string_view, 21> kNumberWords = {
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

// "two" -> "2"; empty for other words.
std::string number_of_word(std::string_view word) {
  const auto found = std::find(kNumberWords.begin(), kNumberWords.end(), word);
  return found == kNumberWords.end() ? "" : std::to_string(found - kNumberWords.begin());
}

// "2" -> "two", for the nine numbers that the puzzles have; empty for other words.
std::string_view word_of_digit(std::string_view word) {
  const bool digit = word.size() == 1 && word.front() >= '1' && word.front() <= '9';
  return digit ? kNumberWords[static_cast<std::size_t>(word.front() - '0')] : std::string_view{};
}

// A doubled backslash is what escaping leaves of a command; LiveBench mends it for \fbox only.
std::string with_boxes_for_frames(std::string_view text) { return replaced(text, "\\\\fbox{", "\\\\boxed{"); }

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + items[i];
  return out;
}

// ---------------------------------------------------------------- web_of_lies_v2

// The last three labels among the words in bold, or fewer; empty when there are none.
std::string bold_labels(std::string_view text) {
  std::vector<std::string> labels;
  for (const std::string_view bold : between(text, "**", "**")) {
    for (const std::string_view word : python_words(bold)) {
      std::string label = replaced(replaced(lower(word), ",", ""), ".", "");
      if (std::find(kLabels.begin(), kLabels.end(), label) != kLabels.end()) labels.push_back(std::move(label));
    }
  }
  if (labels.size() > 3) labels.erase(labels.begin(), labels.end() - 3);
  return joined(labels);
}

// Which label begins at `at`; kLabels.size() when none does. Their first letters differ, so there is one at most.
std::size_t label_at(std::string_view text, std::size_t at) {
  for (std::size_t i = 0; at < text.size() && i < kLabels.size(); ++i) {
    if (text[at] == kLabels[i].front() && text.substr(at, kLabels[i].size()) == kLabels[i]) return i;
  }
  return kLabels.size();
}

// Of all the triples "yes, no, yes" in the text, the one whose first occurrence is the last.
std::string plain_labels(std::string_view original) {
  const std::string text = lower(original);
  std::array<bool, 27> seen = {};
  std::string last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != 'y' && text[at] != 'n' && text[at] != 'u') continue;
    std::size_t end = at;
    std::size_t triple = 0;
    std::size_t labels = 0;
    for (; labels < 3; ++labels) {
      if (labels > 0 && std::string_view(text).substr(end, 2) != ", ") break;
      if (labels > 0) end += 2;
      const std::size_t label = label_at(text, end);
      if (label == kLabels.size()) break;
      triple = triple * 3 + label;
      end += kLabels[label].size();
    }
    if (labels < 3 || seen[triple]) continue;
    seen[triple] = true;
    last = text.substr(at, end - at);
  }
  return last;
}

std::optional<std::string> web_of_lies_answer(std::string_view text) {
  std::optional<std::string> answer;
  if (const auto found = solutions(text); !found.empty()) {
    answer = std::string(found.back());
  } else if (std::string labels = bold_labels(text); !labels.empty()) {
    answer = std::move(labels);
  }
  if (!answer || python_strip(*answer).empty()) {
    std::string boxed = replaced(text, "\\\\boxed{\\\\textbf{", "\\\\boxed{");
    boxed = replaced(with_boxes_for_frames(boxed), "\\textbf{", "\\boxed{");
    if (auto box = livebench_boxed(boxed)) answer = std::move(box);
  }
  if (!answer) {
    if (std::string labels = plain_labels(text); !labels.empty()) answer = std::move(labels);
  }
  return answer;
}

// The "no" of "unknown" counts, too, so with an unknown only the exact answer is right. So it is in LiveBench.
std::size_t labels_in(std::string_view answer) {
  std::size_t labels = 0;
  for (const std::string_view label : kLabels) labels += count_of(answer, label);
  return labels;
}

double web_of_lies_score(std::string_view gold, std::string_view text) {
  const std::string answer = web_of_lies_answer(text).value_or("");
  if (answer.empty()) return 0;
  const std::string right = lower(gold);
  return answer == right || (labels_in(answer) == 3 && answer.find(right) != std::string::npos) ? 1 : 0;
}

// Whatever stands around the labels where the scorer looks past it.
std::string web_of_lies_vote(std::string_view text) {
  const std::string answer = web_of_lies_answer(text).value_or("");
  if (labels_in(answer) == 3) {
    std::string labels = plain_labels(answer);
    if (!labels.empty() && answer.find(labels) != std::string::npos) return labels;
  }
  if (answer.size() > kMaxAnswer) return {};
  std::vector<std::string> labels;
  for (const std::string_view part : split_at(answer, ',')) labels.push_back(lower(python_strip(part)));
  return joined(labels);
}

// ---------------------------------------------------------------- zebra_puzzle

std::string_view old_zebra_answer(std::string_view text) {
  const std::string_view bold = last_triple_bold_word(text);
  return bold.empty() ? last_word(text) : bold;
}

double old_zebra_score(std::string_view gold, std::string_view text) {
  const std::string_view answer = old_zebra_answer(text);
  const std::string right = lower(gold);
  const std::string folded = lower(answer);
  const std::string_view word = word_of_digit(answer);
  return folded == right || (!word.empty() && word == right) || folded + " movies" == right ? 1 : 0;
}

std::string folded_item(std::string_view item) { return replaced(lower(python_strip(item)), "-", " "); }

// The texts that hold the list; a last line only when it `has_commas` as many as the list must have.
template <typename HasCommas>
std::vector<std::string> zebra_lists(std::string_view text, HasCommas has_commas) {
  std::vector<std::string> lists;
  for (const std::string_view solution : solutions(text)) lists.emplace_back(solution);
  if (!lists.empty()) return lists;
  if (const auto box = livebench_boxed(with_boxes_for_frames(text))) {
    lists.push_back(replaced(replaced(replaced(*box, "\\text{", ""), "}", ""), "\\", ""));
  } else if (const std::string_view line = last_line(text); has_commas(count_of(line, ","))) {
    lists.emplace_back(line);
  }
  return lists;
}

double zebra_score(std::string_view gold, std::string_view text) {
  const std::vector<std::string_view> right = split_at(gold, ',');
  const std::vector<std::string> lists =
      zebra_lists(text, [&](std::size_t commas) { return commas == right.size() - 1; });
  std::vector<std::string_view> items;
  for (const std::string& list : lists) {
    const std::vector<std::string_view> more = split_at(list, ',');
    items.insert(items.end(), more.begin(), more.end());
  }
  // One list is read from its beginning, several from the end of the last.
  if (lists.size() > 1 && items.size() > right.size()) {
    items.erase(items.begin(), items.end() - static_cast<std::ptrdiff_t>(right.size()));
  }
  std::size_t correct = 0;
  for (std::size_t i = 0; i < std::min(right.size(), items.size()); ++i) {
    const std::string item = replaced(folded_item(items[i]), "position", "");
    if (item.find(folded_item(right[i])) != std::string::npos) ++correct;
  }
  const double share = static_cast<double>(correct) / static_cast<double>(right.size());
  return ((correct == right.size() ? 1.0 : 0.0) + share) / 2;
}

// The last list; when that is a single item, all the single items that end the text. How many there should be is what
// only the right answer knows.
std::string zebra_answer(std::string_view text) {
  const bool short_line = has_few_words(last_line(text));
  const std::vector<std::string> lists =
      zebra_lists(text, [&](std::size_t commas) { return commas > 0 || short_line; });
  std::vector<std::string> items;
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    if (list->size() > kMaxAnswer || items.size() > kMaxItems) return {};
    std::vector<std::string> some;
    for (const std::string_view item : split_at(*list, ',')) {
      some.emplace_back(python_strip(replaced(folded_item(item), "position", "")));
    }
    if (!items.empty() && some.size() > 1) break;
    items.insert(items.begin(), some.begin(), some.end());
    if (some.size() > 1) break;
  }
  return joined(items);
}

// ---------------------------------------------------------------- spatial

std::optional<std::string> spatial_box(std::string_view text) {
  std::optional<std::string> box = livebench_boxed(with_boxes_for_frames(text));
  if (!box) return box;
  for (const std::string_view dressing : {"\\textbf{", "\\mathbf{", "\\text{", "}"})
    *box = replaced(*box, dressing, "");
  return box;
}

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

constexpr std::array<std::string_view, 4> kShapes = {"tetrahedra", "tetrahedron", "triangle", "square"};

// "two tetrahedra" and "equilateral triangle", but not a list of all shapes there are.
bool names_shape(std::string_view word, std::string_view shape) {
  return word.find(shape) != std::string_view::npos && characters(word) < 2 * shape.size() + 5;
}

// Empty when it names none.
std::string_view shape_in(std::string_view word) {
  const auto found =
      std::find_if(kShapes.begin(), kShapes.end(), [&](std::string_view shape) { return names_shape(word, shape); });
  return found == kShapes.end() ? std::string_view{} : *found;
}

bool is_spatial_answer(std::string_view word, std::string_view right) {
  if (word == right || (!right.empty() && number_of_word(word) == right)) return true;
  return std::any_of(kShapes.begin(), kShapes.end(),
                     [&](std::string_view shape) { return right == shape && names_shape(word, shape); });
}

// The last three bold texts, the last first.
std::vector<std::string> last_bold(std::string_view text) {
  const std::vector<std::string_view> bold = starless_bold(text);
  std::vector<std::string> last;
  for (auto one = bold.rbegin(); one != bold.rend() && last.size() < 3; ++one)
    last.push_back(lower(python_strip(*one)));
  return last;
}

double spatial_score(std::string_view gold, std::string_view text) {
  if (text == gold) return 1;
  const std::string right = lower(python_strip(gold));
  for (const std::string& word : last_bold(text)) {
    if (is_spatial_answer(word, right)) return 1;
  }
  return spatial_box(text) == gold ? 1 : 0;
}

std::string spatial_answer(std::string_view text) {
  const std::vector<std::string> bold = last_bold(text);
  const auto is_answer = [&](const std::string& one) {
    return !one.empty() && one.back() != ':' && (has_few_words(one) || !shape_in(one).empty());
  };
  const auto found = std::find_if(bold.begin(), bold.end(), is_answer);
  std::string answer;
  if (found != bold.end()) {
    const std::string_view shape = shape_in(*found);
    answer = shape.empty() ? *found : std::string(shape);
  } else if (const auto box = spatial_box(text)) {
    answer = lower(python_strip(*box));
  } else {
    const std::string_view line = last_line(text);
    if (has_few_words(line)) answer = lower(line);
  }
  while (!answer.empty() && answer.back() == '.') answer.pop_back();
  const std::string number = number_of_word(answer);
  return number.empty() ? answer : number;
}

// ---------------------------------------------------------------- house_traversal

// One bold text a name, or all names in the last one, in order.
double house_traversal_score(std::string_view gold, std::string_view text) {
  const std::string folded = lower(text);
  const std::vector<std::string_view> bold = matched_bold(folded);
  if (bold.empty()) return 0;
  const std::string right = lower(gold);
  const std::vector<std::string_view> names = split_at(right, ' ');
  if (bold.size() >= names.size() && std::equal(names.rbegin(), names.rend(), bold.rbegin())) return 1;
  std::size_t before = 0;  // one past where the last name began
  for (const std::string_view name : names) {
    const std::size_t at = name.empty() ? 0 : find_text(bold.back(), name);
    if (at == std::string_view::npos || at < before) return 0;
    before = at + 1;
  }
  return 1;
}

// The words of the last bold text; when that is a single one, all the single ones that end the text.
std::string house_traversal_answer(std::string_view text) {
  const std::string folded = lower(text);
  const std::vector<std::string_view> bold = matched_bold(folded);
  std::vector<std::string> names;
  for (auto one = bold.rbegin(); one != bold.rend() && names.size() < kMaxItems; ++one) {
    if (one->size() > kMaxAnswer) break;
    std::vector<std::string> words;
    const std::string spaced = replaced(*one, ",", " ");
    for (const std::string_view word : python_words(spaced)) {
      if (word != "and" && word != "then" && word != "->") words.emplace_back(word);
    }
    if (!names.empty() && words.size() != 1) break;
    names.insert(names.begin(), words.begin(), words.end());
    if (words.size() != 1) break;
  }
  return joined(names);
}

bool asks_for_list(const Question& question) { return question.release >= kListsSince; }

[[noreturn]] void unknown_task(const Question& question) {
  throw Error(fmt::format("the question {} is of the task {}, which has no scorer", in_quotes(question.id),
                          in_quotes(question.task)));
}

}  // namespace

double livebench_score(const Question& question, std::string_view answer_text) {
  if (question.task == "web_of_lies_v2") return web_of_lies_score(question.answer, answer_text);
  if (question.task == "spatial") return spatial_score(question.answer, answer_text);
  if (question.task == "house_traversal") return house_traversal_score(question.answer, answer_text);
  if (question.task != "zebra_puzzle") unknown_task(question);
  return asks_for_list(question) ? zebra_score(question.answer, answer_text)
                                 : old_zebra_score(question.answer, answer_text);
}

std::string livebench_answer(const Question& question, std::string_view answer_text) {
  if (question.task == "web_of_lies_v2") return web_of_lies_vote(answer_text);
  if (question.task == "spatial") return spatial_answer(answer_text);
  if (question.task == "house_traversal") return house_traversal_answer(answer_text);
  if (question.task != "zebra_puzzle") unknown_task(question);
  if (asks_for_list(question)) return zebra_answer(answer_text);
  const std::string word = lower(old_zebra_answer(answer_text));
  const std::string_view number = word_of_digit(word);
  return number.empty() ? word : std::string(number);
}

}  // namespace dts::eval
