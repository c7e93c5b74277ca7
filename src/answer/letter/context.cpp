#include "answer/letter/context.h"

#include <algorithm>
#include <array>
#include <string>

#include "answer/letter/marks.h"
#include "answer/letter/phrases.h"
#include "answer/letter/verdict.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

// Words between "is" and a judgement.
constexpr std::array<std::string_view, 16> kAdverbs = {
    "therefore", "clearly",    "thus",      "indeed",   "hence",     "also", "most likely", "likely",
    "probably",  "definitely", "obviously", "actually", "certainly", "then", "in fact",     "simply"};
// How a letter that is right is judged, after "is" ...
constexpr std::array<std::string_view, 45> kPraise = {"closest to our",
                                                      "closest to my",
                                                      "closest to the calculated",
                                                      "closest to the computed",
                                                      "the true",
                                                      "the valid",
                                                      "the appropriate",
                                                      "the proper",
                                                      "the one we want",
                                                      "what i answer",
                                                      "the most reasonable",
                                                      "more reasonable",
                                                      "most reasonable",
                                                      "most likely",
                                                      "the most likely",
                                                      "correct",
                                                      "right",
                                                      "true",
                                                      "the correct",
                                                      "the right",
                                                      "the best",
                                                      "the answer",
                                                      "the better",
                                                      "more accurate",
                                                      "most accurate",
                                                      "the most accurate",
                                                      "the most likely answer",
                                                      "the most likely option",
                                                      "the most likely choice",
                                                      "the more accurate",
                                                      "more plausible",
                                                      "most plausible",
                                                      "the most plausible",
                                                      "more appropriate",
                                                      "most appropriate",
                                                      "the most appropriate",
                                                      "the most suitable",
                                                      "the most consistent",
                                                      "the closest match",
                                                      "the closest answer",
                                                      "the closest option",
                                                      "the closest choice",
                                                      "our answer",
                                                      "my answer",
                                                      "the final answer"};
// ... what "the only" goes on with.
constexpr std::array<std::string_view, 23> kOnlyOnes = {
    "option",     "choice",     "one",        "answer",   "statement", "possibility", "candidate",  "correct",
    "right",      "true",       "consistent", "valid",    "plausible", "remaining",   "viable",     "possible",
    "reasonable", "acceptable", "physical",   "feasible", "logical",   "suitable",    "appropriate"};
// ... that say so of any noun in between.
constexpr std::array<std::string_view, 13> kAgreeing = {
    "consistent with",   "compatible with", "within",          "in agreement", "that fits", "that matches",
    "that satisfies",    "that agrees",     "that is correct", "that works",   "matching",  "satisfying",
    "that is consistent"};
// What "the one" goes on with.
constexpr std::array<std::string_view, 8> kDescribed = {"we are",  "we're",   "that",     "which",
                                                        "we want", "we need", "i choose", "consistent"};
// What is said of a choice at the end of a sentence, or before what it was preferred to.
constexpr std::array<std::string_view, 5> kChosen = {"chosen", "selected", "to be chosen", "to be selected",
                                                     "to be preferred"};
constexpr std::array<std::string_view, 4> kOver = {"over", "because", "since", "instead of"};
// How one that is wrong is judged, after "is" or "are" ...
constexpr std::array<std::string_view, 14> kBlame = {"wrong",      "incorrect", "not",        "false",        "ruled",
                                                     "eliminated", "excluded",  "impossible", "inconsistent", "invalid",
                                                     "unlikely",   "too",       "out",        "the wrong"};
// ... what it does, and what stands before one that is not meant.
constexpr std::array<std::string_view, 18> kFaults = {
    "isn't",    "aren't",     "can be ruled", "can be eliminated", "can be excluded", "cannot", "can't", "does not",
    "doesn't",  "do not",     "don't",        "would not",         "wouldn't",        "won't",  "fails", "fail",
    "violates", "contradicts"};
constexpr std::array<std::string_view, 32> kRejection = {
    "not",        "rather than", "instead of",  "rule out",  "rules out", "ruled out",   "ruling out", "eliminate",
    "eliminates", "eliminated",  "eliminating", "exclude",   "excludes",  "excluded",    "excluding",  "reject",
    "rejects",    "rejecting",   "discard",     "dismiss",   "unlike",    "isn't",       "than",       "nor",
    "neither",    "never",       "not be",      "cannot be", "can't be",  "couldn't be", "least",      "less"};
// What makes "B is correct" and "it is B" something to be seen, or a reason.
constexpr std::array<std::string_view, 14> kHypotheses = {"if",       "whether", "suppose",     "supposing", "assume",
                                                          "assuming", "unless",  "either",      "or",        "because",
                                                          "since",    "when",    "tempting to", "tempted to"};
// What turns "the only option ..." round.
constexpr std::array<std::string_view, 17> kReversals = {
    "not",    "n't",      "n\u2019t",  "fail",   "wrong",      "incorrect", "inconsistent", "false",     "violat",
    "cannot", "eliminat", "ruled out", "exclud", "contradict", "invalid",   "implausible",  "impossible"};

// After "is" and the adverbs that may follow it; empty when it begins with another verb.
std::string_view judgement(std::string_view after) {
  for (const std::string_view verb :
       {"is", "are", "would be", "must be", "should be", "seems to be", "seems", "appears to be", "appears",
        "looks to be", "looks", "remains", "will be", "has to be"}) {
    if (!starts_with_word(after, verb)) continue;
    after = trim(after.substr(verb.size(), kMaxClause));
    for (int adverb = 0; adverb < 3; ++adverb) {
      if (after.starts_with(',')) after = trim(after.substr(1));
      after = trim(after.substr(first_phrase(after, kAdverbs).size()));
    }
    return after.starts_with(',') ? trim(after.substr(1)) : after;
  }
  return {};
}

// "C: correct", "(C) false": what a list says of a letter, of what follows it.
Verdict verdict_on(std::string_view after) {
  const bool in_brackets = after.starts_with(')');
  after = without_closing(after).substr(0, kMaxClause);
  bool linked = in_brackets;
  for (const std::string_view mark : {":", "-", "\u2013", "\u2014", "=>", "\u2192"}) {
    if (!after.starts_with(mark)) continue;
    after = without_dressing(after.substr(mark.size()), false);
    linked = true;
    break;
  }
  // "A) no" may be an option itself.
  if (!linked || (in_brackets && (starts_with_word(after, "yes") || starts_with_word(after, "no")))) {
    return Verdict::kNone;
  }
  return verdict_at(after).verdict;
}

// What follows "is".
bool is_praise(std::string_view judged) {
  if (const std::string_view chosen = first_phrase(judged, kChosen); !chosen.empty()) {
    const std::string_view rest = trim(judged.substr(chosen.size()));
    return sentence_ends(rest) || !first_phrase(rest, kOver).empty();
  }
  if (starts_with_word(judged, "the one")) {
    const std::string_view rest = trim(judged.substr(7));
    return !first_phrase(rest, kDescribed).empty() && !is_reversed(rest);
  }
  if (starts_with_word(judged, "the only")) {
    const std::string_view rest = trim(judged.substr(8));
    if (is_reversed(rest)) return false;
    if (!first_phrase(rest, kOnlyOnes).empty()) return true;
    // "the only value within", "the only structure that fits": whatever is asked for.
    std::size_t noun = 0;
    while (noun < rest.size() && is_letter(rest[noun])) ++noun;
    return noun > 2 && !first_phrase(trim(rest.substr(noun)), kAgreeing).empty();
  }
  const std::string_view praise = first_phrase(judged, kPraise);
  if (praise.empty()) return false;
  const std::string_view rest = judged.substr(praise.size());
  // "right-handed", "right of the peak": no judgements.
  if (rest.starts_with('-')) return false;
  // ... nor is "correct about the mass", or only under a condition.
  constexpr std::array<std::string_view, 6> kPartly = {"about",     "regarding", "only if",
                                                       "only when", "insofar",   "except"};
  if ((praise == "right" || praise == "correct" || praise == "true") && !first_phrase(trim(rest), kPartly).empty()) {
    return false;
  }
  for (const std::string_view place : {"of", "above", "below", "next", "after", "before"}) {
    if (praise == "right" && starts_with_word(trim(rest), place)) return false;
  }
  return true;
}

}  // namespace

bool is_rejected(std::string_view before) {
  for (int word = 0; word < 2; ++word) {
    before = without_marks_at_end(before);
    for (const std::string_view one : kRejection) {
      if (ends_with_word(before, one)) return true;
    }
    // Past one word that only names it.
    bool named = false;
    for (const std::string_view one : {"option", "options", "choice", "answer", "the"}) {
      if (!ends_with_word(before, one)) continue;
      before.remove_suffix(std::string_view(one).size());
      named = true;
      break;
    }
    if (!named) return false;
  }
  return false;
}

bool is_supposed(std::string_view before) {
  before = without_marks_at_end(before);
  for (const std::string_view one : {"option", "choice", "answer"}) {
    if (!ends_with_word(before, one)) continue;
    before = without_marks_at_end(before.substr(0, before.size() - one.size()));
  }
  return std::any_of(kHypotheses.begin(), kHypotheses.end(),
                     [&](std::string_view one) { return ends_with_word(before, one); });
}

bool is_faulty(std::string_view before) {
  before = without_marks_at_end(before);
  constexpr std::array<std::string_view, 4> kFaulty = {"wrong", "incorrect", "false", "worst"};
  return std::any_of(kFaulty.begin(), kFaulty.end(), [&](std::string_view one) { return ends_with_word(before, one); });
}

bool is_compared(std::string_view before) {
  before = without_marks_at_end(before);
  constexpr std::array<std::string_view, 5> kComparisons = {"since", "because", "while", "whereas", "although"};
  return std::any_of(kComparisons.begin(), kComparisons.end(),
                     [&](std::string_view one) { return ends_with_word(before, one); });
}

bool is_of_none(std::string_view before) {
  before = before.substr(before.size() - std::min(before.size(), kMaxClause));
  const std::size_t mark = before.find_last_of(".,;:!?\n");
  const std::string_view clause = trim(before.substr(mark == std::string_view::npos ? 0 : mark + 1));
  for (const std::string_view one : {"none", "nothing", "no", "neither", "nobody"}) {
    if (starts_with_word(clause, one)) return true;
  }
  return false;
}

bool is_listed(std::string_view before) {
  before = without_marks_at_end(before);
  for (const std::string_view one : {"and", "or"}) {
    if (!ends_with_word(before, one)) continue;
    before = trim(before.substr(0, before.size() - one.size()));
    if (before.ends_with(',')) before.remove_suffix(1);
    return before.size() > 2 && before.ends_with(')') && before[before.size() - 3] == '(';
  }
  return false;
}

bool is_correction(std::string_view before) {
  const std::string text = lower_case(before.substr(before.size() - std::min(before.size(), kMaxClause)));
  for (const std::string_view denial : {"not ", "n't ", "n\u2019t "}) {
    for (const std::string_view praise : {"correct", "right", "the correct", "the right", "the best answer",
                                          "the best option", "the best choice", "the answer"}) {
      const std::size_t at = text.rfind(std::string(denial) + std::string(praise));
      if (at == std::string::npos) continue;
      // Nothing but the rest of that clause stands between: one mark ends it, with or without "but".
      std::string_view between = std::string_view(text).substr(at);
      const std::size_t mark = between.find_first_of(",;:.");
      if (mark == std::string_view::npos) continue;
      between = trim(without_dressing(between.substr(mark + 1), true));
      for (const std::string_view word : {"but", "rather", "option", "choice"}) {
        if (starts_with_word(between, word)) between = without_dressing(between.substr(word.size()), true);
      }
      if (between.empty()) return true;
    }
  }
  return false;
}

bool is_reversed(std::string_view clause) {
  clause = clause.substr(0, std::min(clause.find_first_of(".,;:!?\n"), kMaxClause));
  const std::string text = lower_case(clause);
  return std::any_of(kReversals.begin(), kReversals.end(),
                     [&](std::string_view one) { return text.find(one) != std::string::npos; });
}

bool gives_up(std::string_view text) {
  constexpr std::array<std::string_view, 9> kInability = {
      "can't", "cannot", "can not", "couldn't", "could not", "unable to", "not able to", "hard to", "impossible to"};
  constexpr std::array<std::string_view, 8> kChoosing = {"decide", "choose", "tell",        "determine",
                                                         "say",    "pick",   "distinguish", "settle"};
  constexpr std::array<std::string_view, 13> kBetween = {
      "between the two", "between them", "between these", "between those", "between the options",
      "which one",       "which option", "which of",      "which answer",  "which is correct",
      "which is right",  "which choice", "which letter"};
  const std::string_view inability = first_phrase(text, kInability);
  if (inability.empty()) return starts_with_word(text, "undecided") && sentence_ends(text.substr(9));
  const std::string_view verb = trim(text.substr(inability.size(), kMaxClause));
  const std::string_view choosing = first_phrase(verb, kChoosing);
  return !choosing.empty() && !first_phrase(trim(verb.substr(choosing.size())), kBetween).empty();
}

bool is_cut_off(std::string_view after) {
  constexpr std::array<std::string_view, 6> kBegun = {"is", "would", "has", "gives", "states", "says"};
  const std::string_view rest = trim(without_closing(after).substr(0, kMaxDressing));
  const std::string_view verb = first_phrase(rest, kBegun);
  return !verb.empty() && rest.size() == verb.size() && after.size() < kMaxDressing;
}

bool is_counterfactual(std::string_view after) {
  after = after.substr(0, kMaxClause);
  if (!starts_with_word(after, "would be") && !starts_with_word(after, "would have been")) return false;
  const std::string_view sentence = after.substr(0, after.find_first_of(".;!?\n"));
  return sentence.find(" if ") != std::string_view::npos || sentence.find(" had ") != std::string_view::npos;
}

bool is_blamed(std::string_view after) {
  if (verdict_on(after) == Verdict::kWrong) return true;
  after = without_closing(after).substr(0, kMaxClause);
  return !first_phrase(after, kFaults).empty() || !first_phrase(judgement(after), kBlame).empty();
}

std::string_view without_aside(std::string_view after) {
  if (!after.starts_with(',')) return after;
  constexpr std::array<std::string_view, 8> kAgainst = {"not",    "and not",       "but not",  "rather than",
                                                        "unlike", "as opposed to", "and only", "instead of"};
  const std::string_view aside = trim(after.substr(1, kMaxClause));
  if (!first_phrase(aside, kAgainst).empty()) {
    const std::size_t end = aside.find_first_of(",.;:!?\n");
    return end == std::string_view::npos || aside[end] != ',' ? after : trim(aside.substr(end + 1));
  }
  // "the remaining option, C, is right"
  return judgement(aside).empty() ? after : aside;
}

bool is_the_answer(std::string_view before, std::string_view after) {
  constexpr std::array<std::string_view, 9> kDeterminers = {"as the", "as my",   "as our", "the", "final",
                                                            "best",   "correct", "right",  "only"};
  after = trim(without_closing(after).substr(0, kMaxClause));
  before = without_marks_at_end(before);
  for (const std::string_view word : {"option", "choice", "statement", "answer"}) {
    if (ends_with_word(before, word)) before = without_marks_at_end(before.substr(0, before.size() - word.size()));
  }
  const bool made = ends_with_word(before, "makes") || ends_with_word(before, "making");
  if (!starts_with_word(after, "as") && !(made && starts_with_word(after, "the"))) return false;
  for (int word = 0; word < 3; ++word) after = trim(after.substr(first_phrase(after, kDeterminers).size()));
  constexpr std::array<std::string_view, 4> kAnswers = {"answer", "choice", "option", "solution"};
  const std::string_view answer = first_phrase(after, kAnswers);
  return !answer.empty() && concludes(after.substr(answer.size()));
}

bool is_praised(std::string_view after) { return is_praise(judgement(without_closing(after))); }

bool is_listed_as_right(std::string_view after) { return verdict_on(after) == Verdict::kRight; }

bool concludes(std::string_view after) {
  after = without_closing(after);
  if (after.empty() || std::string_view(".!;\n\r").find(after.front()) != std::string_view::npos) return true;
  if (after.front() == ',') after = trim(after.substr(1, kMaxDressing));
  return !first_phrase(after, kReasons).empty();
}

bool gives_reason(std::string_view after) {
  after = without_closing(after).substr(0, kMaxClause);
  for (const std::string_view dash : {"\u2013 ", "\u2014 "}) {
    if (!after.starts_with(dash)) continue;
    const std::string_view rest = trim(after.substr(dash.size()));  // no "C \u2013 H bond"
    for (const std::string_view word : {"the", "this", "it", "all", "only", "because", "since", "as", "which"}) {
      if (rest.starts_with(word) && ends_word(rest.substr(word.size()))) return true;
    }
  }
  if (after.starts_with(',')) after = trim(after.substr(1));
  return starts_with_word(after, "because") || starts_with_word(after, "since") ||
         starts_with_word(after, "rather than") || starts_with_word(after, "not");
}

bool goes_on_listing(std::string_view after, char last) {
  std::string_view rest = without_closing(after);
  const bool comma = rest.starts_with(',');
  if (comma) rest = without_dressing(rest.substr(1), false);
  const bool either = starts_with_word(rest, "or") || rest.starts_with('/');
  const bool both = starts_with_word(rest, "and");
  if (!comma && !either && !both) return false;
  rest = rest.substr(std::min<std::size_t>(rest.size(), both ? 3 : rest.starts_with('/') ? 1 : either ? 2 : 0));
  rest = without_dressing(rest, false);
  for (const std::string_view word : {"option", "choice"}) {
    if (starts_with_word(rest, word)) rest = without_dressing(rest.substr(word.size()), false);
  }
  if (rest.empty() || letter_of(rest.front(), last, false) == '\0' || !stands_free(rest.substr(1))) return false;
  if (either) return true;
  // "C and D is wrong" lists nothing, nor does "C, and D and A are wrong".
  const std::string_view next = without_closing(rest.substr(1));
  if (starts_with_word(next, "are") && !is_blamed(next)) return true;
  return concludes(next) || next.starts_with(',') || starts_with_word(next, "and") || starts_with_word(next, "or");
}

bool is_article(std::string_view text) {
  if (text.size() < 3 || text[0] != 'A' || text[1] != ' ') return false;
  const std::string_view next = text.substr(2);
  return is_letter(next.front()) && first_phrase(next, kReasons).empty();
}

}  // namespace dts::letters
