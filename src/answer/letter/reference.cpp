#include "answer/letter/reference.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "answer/letter/company.h"
#include "answer/letter/context.h"
#include "answer/letter/marks.h"
#include "answer/letter/spot.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

constexpr std::size_t kMaxSentence = 192;  // bytes that are looked at

constexpr std::array<std::string_view, 9> kNouns = {"option", "choice",    "statement",   "answer",     "one",
                                                    "claim",  "candidate", "possibility", "alternative"};
// How a description of the noun begins.
constexpr std::array<std::string_view, 19> kDescriptions = {
    "that",      "which",      "consistent", "compatible", "showing",    "with",   "whose",
    "matching",  "satisfying", "fitting",    "agreeing",   "containing", "having", "we",
    "remaining", "in which",   "i",          "where",      "to be"};
// What somebody states in an option.
constexpr std::array<std::string_view, 13> kStating = {"states",   "says",  "describes", "claims",   "asserts",
                                                       "predicts", "shows", "gives",     "proposes", "suggests",
                                                       "has",      "lists", "depicts"};
// "which is", "and is", ... and what it is.
constexpr std::array<std::string_view, 17> kReferences = {
    "which is",    "which must be", "which makes it",  "making it",         "making this",  "so that's",
    "so that is",  "and is",        "and that's",      "and that is",       "hence that's", "so this is",
    "and this is", "thus that is",  "which i take as", "which i choose as", "and so is"};
constexpr std::array<std::string_view, 6> kDetermining = {"therefore", "thus", "hence", "also", "then", "so"};
constexpr std::array<std::string_view, 9> kOwners = {"the",   "my",   "our",    "final",   "correct",
                                                     "right", "best", "chosen", "required"};
constexpr std::array<std::string_view, 6> kAnswers = {"answer", "choice",    "option",
                                                      "pick",   "selection", "one to choose"};
constexpr std::array<std::string_view, 9> kActs = {"what i answer",    "what i choose",    "what i pick",
                                                   "what i'll answer", "what i'll choose", "what i select",
                                                   "what i'd answer",  "what i go with",   "what i'll go with"};

// Up to the end of the sentence, which a point within a number is not.
std::string_view sentence_of(std::string_view text) {
  text = text.substr(0, kMaxSentence);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool point = c == '.' && (at + 1 == text.size() || is_space(text[at + 1]));
    if (point || c == '!' || c == '?' || c == ';' || c == '\n' || c == '\r') return text.substr(0, at);
  }
  return text;
}

// The start of the sentence that `before` ends in.
std::string_view sentence_before(std::string_view before) {
  before = before.substr(before.size() - std::min(before.size(), kMaxSentence));
  for (std::size_t at = before.size(); at-- > 0;) {
    const char c = before[at];
    const bool point = c == '.' && at + 1 < before.size() && is_space(before[at + 1]);
    if (point || c == '!' || c == '?' || c == ';' || c == '\n' || c == '\r') return before.substr(at + 1);
  }
  return before;
}

// "my answer", "the correct choice": all of it, up to the end of the sentence.
bool is_answer(std::string_view text) {
  if (const std::string_view act = first_phrase(text, kActs); !act.empty()) return concludes(text.substr(act.size()));
  bool owned = false;
  for (int word = 0; word < 3; ++word) {
    const std::string_view owner = first_phrase(text, kOwners);
    if (owner.empty()) break;
    owned = true;
    text = trim(text.substr(owner.size(), kMaxClause));
  }
  const std::string_view answer = first_phrase(text, kAnswers);
  return owned && !answer.empty() && concludes(text.substr(answer.size()));
}

// The last letter of the sentence that `before` ends in; '\0' when it is no choice.
char last_letter(std::string_view before, char last) {
  const std::string_view sentence = sentence_before(before);
  for (std::size_t at = sentence.size(); at-- > 0;) {
    const char letter = letter_of(sentence[at], last, false);
    if (letter == '\0' || (at > 0 && (is_letter(sentence[at - 1]) || is_digit(sentence[at - 1])))) continue;
    const std::string_view ahead = sentence.substr(0, at);
    const std::string_view after = sentence.substr(at + 1);
    if (!stands_free(after) || ahead.ends_with('_') || ahead.ends_with('-')) continue;
    // No article, which begins a sentence.
    if (letter == 'A' && trim(ahead).empty() && is_article(sentence.substr(at))) continue;
    const bool refused = is_rejected(ahead) || is_blamed(after) || is_name_of_thing(ahead) || is_supposed(ahead) ||
                         goes_on_listing(after, last) || is_joined(ahead, last);
    return refused ? '\0' : letter;
  }
  return '\0';
}

}  // namespace

char described_letter(std::string_view text, std::string_view before, char last) {
  const std::string_view noun = first_phrase(text, kNouns);
  if (noun.empty()) return '\0';
  std::string_view rest = text.substr(noun.size());
  const std::string_view description = trim(rest.substr(0, kMaxClause));
  if (first_phrase(description, kDescriptions).empty()) return '\0';
  before = without_marks_at_end(before);
  const bool definite = ends_with_word(before, "the") || ends_with_word(before, "only") ||
                        ends_with_word(before, "best") || ends_with_word(before, "remaining");
  if (!definite || is_rejected(before)) return '\0';
  const std::string_view sentence = sentence_of(rest);
  for (std::size_t at = sentence.find(" is "); at != std::string_view::npos; at = sentence.find(" is ", at + 1)) {
    const Spot spot = choice_after(rest.substr(at + 3), last);
    if (spot.letter == '\0' || spot.text.front() != spot.letter || !concludes(spot.after())) continue;
    return is_reversed(rest.substr(0, at)) ? '\0' : spot.letter;
  }
  return '\0';
}

char quoted_letter(std::string_view text, std::string_view before, char last) {
  if (!starts_with_word(text, "what")) return '\0';
  const Spot spot = spot_after(text.substr(4), last);
  if (spot.letter == '\0' || spot.linked || spot.text.front() != spot.letter) return '\0';
  const std::string_view after = trim(without_closing(spot.after()).substr(0, kMaxClause));
  const std::string_view verb = first_phrase(after, kStating);
  if (verb.empty() || !concludes(after.substr(verb.size()))) return '\0';
  before = without_marks_at_end(before);
  for (const std::string_view word : {"is", "exactly", "precisely", "just", "matches", "that's", "it's"}) {
    if (ends_with_word(before, word))
      return is_rejected(before.substr(0, before.size() - word.size())) ? '\0' : spot.letter;
  }
  return '\0';
}

char referred_letter(std::string_view text, std::string_view before, char last) {
  const std::string_view reference = first_phrase(text, kReferences);
  if (reference.empty()) return '\0';
  std::string_view rest = trim(text.substr(reference.size(), kMaxClause));
  rest = trim(rest.substr(first_phrase(rest, kDetermining).size()));
  return is_answer(rest) ? last_letter(before, last) : '\0';
}

}  // namespace dts::letters
