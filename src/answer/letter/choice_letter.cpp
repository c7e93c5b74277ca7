#include "answer/letter/choice_letter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "answer/extract.h"
#include "answer/letter/abroad.h"
#include "answer/letter/company.h"
#include "answer/letter/context.h"
#include "answer/letter/lines.h"
#include "answer/letter/marks.h"
#include "answer/letter/option_item.h"
#include "answer/letter/phrases.h"
#include "answer/letter/reference.h"
#include "answer/letter/spot.h"
#include "answer/letter/text.h"
#include "answer/letter/verdict_list.h"
#include "text/ascii.h"

namespace dts {
namespace letters {
namespace {

using namespace text;

constexpr std::size_t kMaxText = std::size_t{1}
                                 << 18U;  // bytes: whoever writes more has answered at the end, if at all

// The last mention of an option.
struct Mention {
  char letter = '\0';
  std::size_t at = 0;    // where it was
  bool by_item = false;  // as one of a list of options
  char item = '\0';      // the last one of that list

  // "(A) 2 eV", and on another line "(B) 3 eV": a list, of which none is the one.
  void take(char found, std::size_t where, bool is_item) {
    const bool goes_on = is_item && item != '\0' && item != found;
    if (is_item) item = found;
    if (goes_on && by_item) letter = '\0';
    if (goes_on) return;
    letter = found;
    at = where;
    by_item = is_item;
  }
};

class LetterFinder {
 public:
  LetterFinder(std::string_view text, int choices) : text_(text), last_(static_cast<char>('A' + choices - 1)) {}

  char find() const {
    char stated = '\0';     // 1
    char said = '\0';       // 2
    Mention named;          // 3
    Mention bracketed;      // 5
    char swallowed = '\0';  // 6
    const std::vector<JudgedLine> judged = judged_lines(text_, last_);
    auto line = judged.begin();
    for (std::size_t at = 0; at < text_.size(); ++at) {
      for (; line != judged.end() && at >= line->end; ++line) keep(said, line->letter);
      // The list says what its lines come to; none of them does alone.
      const bool listed = line != judged.end() && at >= line->begin;
      const std::string_view rest = text_.substr(at);
      const std::string_view before = text_.substr(0, at);
      switch (to_lower(rest.front())) {
        case '(':
          if (listed) break;
          if (const char letter = bracketed_letter(rest); letter != '\0') {
            const std::string_view after = rest.substr(3);
            const bool passed_over = is_abbreviation(letter, before, after) || is_rejected(before) ||
                                     is_blamed(after) || is_listed(before) || goes_on_listing(after, last_);
            if (!passed_over) bracketed.take(letter, at, begins_item(before, rest));
          }
          break;
        case '\\':
          if (rest.size() > 1 && rest[1] == '\\') break;
          if (rest.starts_with("\\boxed")) keep(stated, boxed_letter(rest.substr(6)));
          if (rest.starts_with("\\fbox")) keep(stated, boxed_letter(rest.substr(5)));
          break;
        case 'a':
          if (starts_with_word(rest, "ans") && (at == 0 || !is_letter(text_[at - 1]))) {
            std::string_view after = rest.substr(3);
            if (after.starts_with('.')) after.remove_prefix(1);
            keep(stated, stated_letter(after, true));
            if (const char letter = said_letter(after); letter != '\0' && !is_denied(before)) said = letter;
          }
          if (!starts_with(rest, "answer")) break;
          keep(stated, stated_letter(rest.substr(6), true));
          keep(swallowed, stated_letter(rest.substr(6), false));
          if (const char letter = said_letter(rest.substr(6));
              letter != '\0' && !is_denied(before) && !is_faulty(before)) {
            said = letter;
          }
          break;
        case '<':
          if (starts_with(rest, "<answer>")) keep(stated, tagged_letter(rest.substr(8)));
          break;
        case 'c':
        case 'o':
          if (!listed && (starts_with(rest, "option") || starts_with(rest, "choice")) && !is_rejected(before) &&
              (named.letter == '\0' || !is_compared(before))) {
            const char letter = named_letter(rest.substr(6));
            if (letter != '\0') named.take(letter, at, begins_item(before, rest));
          }
          break;
        default:
          break;
      }
      if (!listed && (at == 0 || !is_letter(text_[at - 1])) && !continues_character(rest.front())) {
        keep(said, letter_of_words(rest, before));
        if (gives_up(rest)) said = named.letter = bracketed.letter = '\0';
      }
    }
    for (; line != judged.end(); ++line) keep(said, line->letter);
    const bool ends_in_list = !judged.empty() && judged.back().end > last_line_begin(text_);
    // "C) as option B, but faster": the option that the last line names is not the one it is.
    const char option = ends_in_list ? '\0' : option_of_last_line(text_, last_);
    if (option != '\0' && named.at >= last_line_begin(text_)) named.letter = option;
    const char at_end = ends_in_list ? '\0' : last_line_letter(text_, last_);
    for (const char letter :
         {stated, said, named.letter, at_end, bracketed.letter, swallowed, first_line_letter(text_, last_)}) {
      if (letter != '\0') return letter;
    }
    return '\0';
  }

 private:
  static void keep(char& best, char found) {
    if (found != '\0') best = found;
  }

  static bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

  // "Option B: ..." at the front of a line.
  bool begins_item(std::string_view before, std::string_view rest) const {
    before = before.substr(before.size() - std::min<std::size_t>(before.size(), kMaxDressing));
    const std::size_t line_end = before.find_last_of("\n\r");
    const std::string_view marks = line_end == std::string_view::npos ? before : before.substr(line_end + 1);
    if (marks.find_first_not_of(" \t*_#>-+\u2022") != std::string_view::npos) return false;
    const OptionItem option = option_item(rest.substr(0, kMaxClause), last_);
    return option.letter != '\0' && option.said().parted;
  }

  // What a word begins that says which letter it is.
  char letter_of_words(std::string_view rest, std::string_view before) const {
    const char ending = is_rejected(before) ? '\0' : ending_letter(rest);
    for (const char letter : {decided_letter(rest), only_letter(rest), judged_letter(rest), ending,
                              described_letter(rest, before, last_), quoted_letter(rest, before, last_)}) {
      if (letter != '\0' && !is_denied(before) && !is_supposed(before) && !is_of_none(before)) return letter;
    }
    if (const char letter = praised_letter(rest, before); letter != '\0') return letter;
    if (const char letter = referred_letter(rest, before, last_); letter != '\0') return letter;
    if (const char letter = letter_abroad(rest, before, last_); letter != '\0') return letter;
    return concluded_letter(rest);
  }

  // After "answer": a colon, then the letter.
  char stated_letter(std::string_view after, bool whole_word) const {
    while (!after.empty() && (after.front() == ' ' || after.front() == '\t' || after.front() == '*')) {
      after.remove_prefix(1);
    }
    if (after.empty() || after.front() != ':') return '\0';
    after.remove_prefix(1);
    const std::string_view same_line = without_dressing(after, false);
    if (!same_line.empty() && same_line.front() != '\n' && same_line.front() != '\r') {
      if (whole_word && !ends_word(same_line.substr(1))) return '\0';
      return letter_of(same_line.front(), last_, true);
    }
    // On a line of its own it must be alone: "Answer:\nA compound" names none.
    const std::string_view next_line = without_dressing(after, true);
    return !next_line.empty() && stands_alone(next_line.substr(1)) ? letter_of(next_line.front(), last_, true) : '\0';
  }

  // After the opening tag.
  char tagged_letter(std::string_view after) const {
    after = without_dressing(after.substr(0, kMaxDressing), true);
    if (after.size() < 2) return '\0';
    const std::string_view rest = trim(after.substr(1));
    if (rest.empty() || std::string_view("<)].:*$").find(rest.front()) == std::string_view::npos) return '\0';
    return letter_of(after.front(), last_, true);
  }

  // After the command: the letter alone, or as options have it, or led in as a sentence would.
  char boxed_letter(std::string_view box) const {
    const std::size_t brace = box.substr(0, kMaxDressing).find_first_not_of(" \t");
    if (brace == std::string_view::npos || box[brace] != '{') return '\0';
    const std::string shown = shown_in_box(box.substr(brace + 1));
    std::string_view text = trim(shown);
    for (const std::string_view word : {"the", "my", "final", "correct", "right", "best"}) {
      if (starts_with_word(text, word)) text = trim(text.substr(word.size()));
    }
    for (const std::string_view word : {"answer", "option", "choice", "letter"}) {
      if (!starts_with_word(text, word)) continue;
      const Spot spot = spot_after(text.substr(word.size()), last_);
      return spot.letter != '\0' && ends_option(spot.after()) ? spot.letter : '\0';
    }
    const bool quoted = text.size() > 2 && text.front() == text.back() &&
                        std::string_view("'\"`").find(text.front()) != std::string_view::npos;
    if (quoted) text = text.substr(1, text.size() - 2);
    text = without_dressing(text, true);
    if (text.empty()) return '\0';
    const bool whole = ends_option(text.substr(1)) || is_praised(text.substr(1));
    return whole ? letter_of(text.front(), last_, true) : '\0';
  }

  // After a letter in a box: nothing, or the option it stands for. "A, C" and "(A) and (C)" are two.
  bool ends_option(std::string_view after) const {
    if (trim(after).empty()) return true;
    if (after.front() == ' ') {
      after = trim(after);
      if (is_digit(after.front())) return true;
    }
    if (std::string_view(")].:").find(after.front()) == std::string_view::npos) return false;
    while (!after.empty() && std::string_view(")].:").find(after.front()) != std::string_view::npos) {
      after.remove_prefix(1);
    }
    return (after.empty() || is_space(after.front()) || is_digit(after.front())) && !goes_on_listing(after, last_);
  }

  // "Thus, C.", "Therefore: C", "**Conclusion:** C"
  char concluded_letter(std::string_view text) const {
    for (const std::string_view word : {"thus", "therefore", "hence", "so", "conclusion"}) {
      if (!starts_with_word(text, word)) continue;
      std::string_view rest = without_dressing(text.substr(word.size()), false);
      if (!rest.empty() && (rest.front() == ',' || rest.front() == ':')) rest.remove_prefix(1);
      rest = without_dressing(rest, false);
      if (rest.empty() || !stands_free(rest.substr(1))) return '\0';
      if (!concludes(rest.substr(1))) return '\0';
      return letter_of(rest.front(), last_, false);
    }
    return '\0';
  }

  // "B is correct", "(B) is the right one", "B is the only option that ...", "A is not the answer; B is."
  char praised_letter(std::string_view text, std::string_view before) const {
    if (text.size() < 4 || !(text[0] >= 'A' && text[0] <= last_) || !stands_free(text.substr(1))) return '\0';
    for (const std::string_view exception : {"except", "except for", "all but", "everything but", "every option but"}) {
      if (ends_with_word(without_marks_at_end(before), exception)) return '\0';
    }
    const std::string_view after = without_aside(without_closing(text.substr(1)));
    if (is_counterfactual(after)) return '\0';
    const bool fits = std::any_of(kFits.begin(), kFits.end(), [&](std::string_view one) {
      return starts_with_word(after, one) && sentence_ends(after.substr(one.size()));
    });
    const bool chosen = fits || (starts_with_word(after, "it is") && sentence_ends(after.substr(5)));  // "So A it is."
    const bool praised = chosen || is_listed_as_right(text.substr(1)) || is_praised(after) ||
                         is_the_answer(before, after) ||
                         (starts_with_word(after, "is") && sentence_ends(after.substr(2)) && is_correction(before));
    if (!praised || is_rejected(before) || is_supposed(before) || is_name_of_thing(before)) return '\0';
    return is_one_of_several(before, after, last_) ? '\0' : text[0];
  }

  // After "answer" or what says that one is chosen.
  char said_letter(std::string_view after) const { return said_spot(after).letter; }

  // The same, with what follows the letter.
  Spot said_spot(std::string_view after) const {
    if (const Spot other = contrasted_after(after, last_); other.letter != '\0') return other;
    return choice_after(after, last_);
  }

  // After "option" or "choice", behind which "A" is no article.
  char named_letter(std::string_view after) const { return named_after(after, last_).letter; }

  // "I'm going with B", "so I pick (C).", "which matches D."
  char decided_letter(std::string_view text) const {
    if (const std::string_view phrase = first_phrase(text, kDecisions); !phrase.empty()) {
      return said_letter(text.substr(phrase.size()));
    }
    const std::string_view verb = first_phrase(text, kSelections);
    if (verb.empty()) return '\0';
    const Spot spot = choice_after(text.substr(verb.size()), last_);
    return concludes(spot.after()) ? spot.letter : '\0';
  }

  // "Only D is consistent with this.", "only (C) remains."
  char only_letter(std::string_view text) const {
    if (!starts_with_word(text, "only")) return '\0';
    const Spot spot = spot_after(text.substr(4), last_);
    if (spot.letter == '\0' || spot.linked) return '\0';
    const std::string_view after = without_closing(spot.after());
    const std::string_view left = first_phrase(after, kLeftOver);
    const bool last_one = !left.empty() && concludes(after.substr(left.size()));  // no "remains unchanged"
    return last_one || !first_phrase(after, kAgreement).empty() ? letter_of(spot.text.front(), last_, false) : '\0';
  }

  // "The correct statement is C.", "Letter: C"
  char judged_letter(std::string_view text) const {
    std::string_view rest;
    if (const std::string_view label = first_phrase(text, kLabels); !label.empty()) {
      rest = text.substr(label.size());
    } else {
      constexpr std::array<std::string_view, 6> kJudgements = {"correct",     "right",      "true one",
                                                               "true option", "true claim", "true statement"};
      const std::string_view praise = first_phrase(text, kJudgements);
      if (praise.empty()) return '\0';
      rest = text.substr(praise.size());
      for (int word = 0; word < 2; ++word) rest = without_noun(rest);
    }
    const Spot spot = choice_after(rest, last_);
    if (!spot.linked) return '\0';
    const bool as_options_do = spot.after().starts_with(')') || spot.after().starts_with(':');
    return as_options_do || concludes(spot.after()) ? spot.letter : '\0';
  }

  // Without the word at the front, where it may be the name of what is asked for.
  static std::string_view without_noun(std::string_view text) {
    constexpr std::array<std::string_view, 24> kNoNouns = {
        "can", "cannot", "could", "couldn", "not", "never", "wouldn", "shouldn", "isn", "is", "because", "since",
        "as",  "for",    "but",   "and",    "if",  "when",  "that",   "which",   "it",  "or", "so",      "would"};
    const std::string_view next = trim(text.substr(0, kMaxDressing));
    std::size_t end = 0;
    while (end < next.size() && is_letter(next[end])) ++end;
    if (end < 2 || !text.starts_with(' ') || !first_phrase(next, kNoNouns).empty()) return text;
    return text.substr(static_cast<std::size_t>(next.data() - text.data()) + end);
  }

  // "..., which corresponds to B." at the end of the text.
  char ending_letter(std::string_view text) const {
    const std::string_view phrase = first_phrase(text, kEndings);
    if (phrase.empty()) return '\0';
    const Spot spot = choice_after(text.substr(phrase.size()), last_);
    if (phrase == "options" && !spot.linked) return '\0';  // "consider the options A"
    return ends_text(spot.after()) ? spot.letter : '\0';
  }

  char bracketed_letter(std::string_view text) const {
    return text.size() > 2 && text[2] == ')' ? letter_of(text[1], last_, false) : '\0';
  }

  std::string_view text_;
  char last_;
};

// As simple-evals reads it: the first "Answer:" that a letter follows, on its line and bare but for a dollar sign.
char first_stated(std::string_view text, int choices) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (to_lower(text[at]) != 'a' || !starts_with(text.substr(at), "answer")) continue;
    std::size_t next = at + 6;
    const auto skip_blanks = [&] {
      while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    };
    skip_blanks();
    if (next == text.size() || text[next] != ':') continue;
    ++next;
    skip_blanks();
    if (next < text.size() && text[next] == '$') ++next;
    if (next == text.size() || !is_letter(text[next])) continue;
    const char letter = to_lower(text[next]);
    if (letter < 'a' + choices) return static_cast<char>(letter - 'a' + 'A');
  }
  return '\0';
}

}  // namespace
}  // namespace letters

char choice_letter(std::string_view text, int choices) {
  if (const char stated = letters::first_stated(text, choices); stated != '\0') return stated;
  const std::string plain = letters::plain_text(text.substr(text.size() - std::min(text.size(), letters::kMaxText)));
  return letters::LetterFinder(plain, choices).find();
}

}  // namespace dts