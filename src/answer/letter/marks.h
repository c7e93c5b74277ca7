// What may stand around the letter of a choice and says nothing: marks, commands of LaTeX, ends of sentences and lines.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace dts::letters {

constexpr std::size_t kMaxDressing = 64;  // bytes between a marker and its letter
constexpr std::size_t kMaxClause = 96;    // bytes that are looked at for what turns a clause round

// Phrases are in lower case, and the text may be in any.
bool starts_with(std::string_view text, std::string_view lower);
bool starts_with_word(std::string_view text, std::string_view lower);
bool ends_with_word(std::string_view text, std::string_view lower);
// Of what follows a word.
bool ends_word(std::string_view after);

// The longest of `phrases` that `text` begins with, as whole words; empty when it begins with none.
template <std::size_t n>
std::string_view first_phrase(std::string_view text, const std::array<std::string_view, n>& phrases) {
  std::string_view longest;
  for (const std::string_view one : phrases) {
    if (one.size() > longest.size() && starts_with_word(text, one)) longest = one;
  }
  return longest;
}

// Upper case; '\0' when it is none of the choices, of which `last` is the last. `any_case`: small letters too.
char letter_of(char c, char last, bool any_case);

std::string_view without_dressing(std::string_view text, bool across_lines);
// Without the marks that close what dressed a letter.
std::string_view without_closing(std::string_view after);
// Of what stands before a letter: up to the word that ends it, and no more than a few words.
std::string_view without_marks_at_end(std::string_view before);
// What a box shows, without commands, braces and dollar signs. Expects what follows its opening brace; empty when it
// is never closed.
std::string shown_in_box(std::string_view box);

// All of these are of what follows a letter.
//
// A letter that is part of a word, a formula or a name (D-glucose, C_6, C=O, B/C, A's) is none of the choices.
bool stands_free(std::string_view after);
// A point, or the end of the text. A line that ends may go on in the next.
bool sentence_ends(std::string_view after);
// Nothing but marks and a point up to the end of the text.
bool ends_text(std::string_view after);
// Nothing but marks up to the end of the line.
bool stands_alone(std::string_view after);

}  // namespace dts::letters
