#include "answer/letter/company.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "answer/letter/marks.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

// What letters are names of, in questions more often than in what an answer says of its options.
constexpr std::array<std::string_view, 65> kThings = {
    "vitamin",    "vitamins", "hepatitis", "influenza",  "haemophilia", "hemophilia", "ring",    "rings",  "point",
    "points",     "vertex",   "node",      "type",       "phase",       "step",       "planet",  "star",   "sample",
    "flask",      "tube",     "beaker",    "vial",       "particle",    "block",      "plane",   "line",   "curve",
    "operator",   "matrix",   "vector",    "field",      "gene",        "allele",     "protein", "enzyme", "chain",
    "subunit",    "domain",   "strand",    "cell",       "body",        "ball",       "charge",  "team",   "person",
    "patient",    "student",  "group",     "gate",       "loop",        "city",       "species", "clone",  "plasmid",
    "isotope",    "nucleus",  "condition", "assumption", "hypothesis",  "property",   "theorem", "lemma",  "equation",
    "inequality", "factor"};

// The letter that `before` ends with, standing alone; and what stands before it. '\0' when it ends with none.
char letter_at_end(std::string_view& before, char last) {
  before = without_marks_at_end(before);
  while (!before.empty() && std::string_view(")]}*\"'`").find(before.back()) != std::string_view::npos) {
    before.remove_suffix(1);
  }
  if (before.empty() ||
      (before.size() > 1 && (is_letter(before[before.size() - 2]) || is_digit(before[before.size() - 2]))))
    return '\0';
  const char letter = letter_of(before.back(), last, false);
  if (letter != '\0') before.remove_suffix(1);
  return letter;
}

// What joins the letter to one before it: "and" of "both A and". `before` becomes what stands before that one. Empty:
// nothing does.
std::string_view joint_at_end(std::string_view& before, char last) {
  std::string_view rest = without_marks_at_end(before);
  for (const std::string_view word : {"option", "choice", "statement"}) {
    if (ends_with_word(rest, word)) rest = without_marks_at_end(rest.substr(0, rest.size() - word.size()));
  }
  for (const std::string_view joint : {"and", "&", "or", "to", "through", "\u2013", "-", "/", ","}) {
    const bool word = is_letter(joint.front());
    if (word ? !ends_with_word(rest, joint) : !rest.ends_with(joint)) continue;
    rest = without_marks_at_end(rest.substr(0, rest.size() - joint.size()));
    if (rest.ends_with(',')) rest.remove_suffix(1);
    if (letter_at_end(rest, last) == '\0') return {};
    before = rest;
    return joint;
  }
  return {};
}

}  // namespace

bool is_name_of_thing(std::string_view before) {
  // "a cell (C)": in brackets it may be.
  before = before.substr(before.size() - std::min<std::size_t>(before.size(), kMaxDressing));
  while (!before.empty() && std::string_view(" *_\"'`$").find(before.back()) != std::string_view::npos) {
    before.remove_suffix(1);
  }
  return std::any_of(kThings.begin(), kThings.end(), [&](std::string_view one) { return ends_with_word(before, one); });
}

bool is_abbreviation(char letter, std::string_view before, std::string_view after) {
  // What is said of an option begins so: "choice (C) fits".
  constexpr std::array<std::string_view, 9> kSaid = {"choice", "correct",     "candidate",  "claim", "choose",
                                                     "answer", "alternative", "definitely", "be"};
  before = trim(before.substr(before.size() - std::min<std::size_t>(before.size(), kMaxDressing)));
  std::size_t begin = before.size();
  while (begin > 0 && is_letter(before[begin - 1])) --begin;
  const std::string_view word = before.substr(begin);
  if (word.size() < 3 || to_lower(word.front()) != to_lower(letter)) return false;
  if (std::any_of(kSaid.begin(), kSaid.end(), [&](std::string_view one) { return starts_with_word(word, one); })) {
    return false;
  }
  return after.size() > 1 && after[0] == ' ' && is_letter(after[1]) && after[1] == to_lower(after[1]) &&
         !starts_with_word(after.substr(1), "is");
}

bool is_joined(std::string_view before, char last) { return !joint_at_end(before, last).empty(); }

bool is_one_of_several(std::string_view before, std::string_view after, char last) {
  const std::string_view joint = joint_at_end(before, last);
  if (joint.empty()) return false;
  // "We eliminate A and B is right", "not A, B is": one of them.
  if (joint != "and" && joint != "&" && joint != ",") return true;
  constexpr std::array<std::string_view, 9> kPlurals = {"are", "were",  "seem",   "appear", "look",
                                                        "fit", "match", "remain", "satisfy"};
  return !first_phrase(without_closing(after), kPlurals).empty() ||
         ends_with_word(without_marks_at_end(before), "both");
}

}  // namespace dts::letters
