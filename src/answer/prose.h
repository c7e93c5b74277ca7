// The value that a sentence states: "There are $12$ such sets", "which makes it 12".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dts {

// Drops `words` at the front, whatever their case, when a word ends there.
bool drop_words(std::string_view& text, std::string_view words);

bool starts_with_word(std::string_view text, std::string_view word);

// The end of what begins a formula at `at`: $...$, \(...\), \[...\]; `at` when nothing does.
std::size_t formula_end(std::string_view text, std::size_t at);

// Up to the point, outside all formulas, after which another sentence begins; and without ", as required".
std::string_view first_sentence(std::string_view text);

// Whether all of the text is a number or a closed form, in digits or words.
bool says_number(std::string_view text);

// The value of a whole sentence that was stated: "The value of $m+n$ is 33" -> "33". The text as it is when it is the
// answer itself, or a sentence that ends otherwise.
std::string value_of_sentence(std::string_view stated);

// The value that a last line states, of which `text` has the formulas as they were written (they may go on over several
// lines) and `line` is the last one without bold. Empty when it states none.
std::string value_of_last_line(std::string_view text, std::string_view line);

}  // namespace dts
