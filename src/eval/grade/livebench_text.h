// What LiveBench's scorers look for in a model's text. They are Python: what counts as a space, a word or a line here
// is what counts as one there. All of it takes linear time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::eval {

// Without thinking: what comes before the first </think> when the prompt opened the tag, each <think>...</think>, and
// whatever comes before a </think> that is left. Thinking that never ends stays, as it does there.
std::string without_thinking(std::string_view text, bool opens_thinking);

// As std::string_view's, but quick where the first character of what is sought is all there is in the text. What is
// sought is not empty; for rfind_text it has two characters at least.
std::size_t find_text(std::string_view text, std::string_view what, std::size_t from = 0);
std::size_t rfind_text(std::string_view text, std::string_view what);

std::string_view python_strip(std::string_view text);
std::vector<std::string_view> python_words(std::string_view text);  // split at white space
bool has_few_words(std::string_view text);                          // no more than an answer has: three
std::vector<std::string_view> split_at(std::string_view text, char separator);
std::string replaced(std::string_view text, std::string_view what, std::string_view with);
std::string lower(std::string_view text);
std::size_t count_of(std::string_view text, std::string_view what);  // without overlaps

// The texts between `open` and the next `close` of the same line.
std::vector<std::string_view> between(std::string_view text, std::string_view open, std::string_view close);
// <solution>...</solution>; without any, </solution>...</solution>, a slip some models make.
std::vector<std::string_view> solutions(std::string_view text);
// **...** without stars inside, which may span lines.
std::vector<std::string_view> starless_bold(std::string_view text);
// What Python's (\*{2,})(.*?)\1 finds: between as many stars, two or more, on one line; as many of them as possible.
std::vector<std::string_view> matched_bold(std::string_view text);
// The word of the last ***word***; empty when there is none.
std::string_view last_triple_bold_word(std::string_view text);
// The last run of letters, digits and underscores.
std::string_view last_word(std::string_view text);
std::string_view last_line(std::string_view text);  // of the stripped text

// The contents of the last \boxed{...} (or, without any, \fbox{...}), by LiveBench's own rules: it must be closed,
// dollar signs go, and one "\boxed " anywhere changes the rule to whatever follows the last of those up to a dollar
// sign.
std::optional<std::string> livebench_boxed(std::string_view text);

}  // namespace dts::eval
