#include "answer/choice_letter.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxDressing = 64;  // bytes between a marker and its letter
constexpr int kMaxFillers = 4;            // words between them
constexpr std::size_t kMaxText = std::size_t{1}
                                 << 18U;  // bytes: whoever writes more has answered at the end, if at all

// Marks and commands that may stand around a letter and say nothing.
constexpr std::string_view kMarks = "*_$`\"'([{~";
constexpr std::array<std::string_view, 9> kCommands = {"\\textbf", "\\textrm", "\\text", "\\mathrm", "\\mathbf",
                                                       "\\mathsf", "\\bf",     "\\rm",   "\\("};
constexpr std::array<std::string_view, 17> kFillers = {
    "is",     "would",  "be",        "must",    "should", "the",      "option",     "choice",   "correct",
    "letter", "number", "therefore", "clearly", "likely", "probably", "definitely", "obviously"};
// What says that a letter is chosen, however the sentence goes on ...
constexpr std::array<std::string_view, 8> kDecisions = {"go with",   "go for",    "going with", "going for",
                                                        "went with", "settle on", "settle for", "settling on"};
// ... and what says so only where nothing but a reason follows: "choose A = 2" sets a number.
constexpr std::array<std::string_view, 13> kSelections = {"pick",      "picking", "choose",   "choosing", "select",
                                                          "selecting", "chose",   "guess",    "must be",  "should be",
                                                          "it's",      "it is",   "has to be"};
constexpr std::array<std::string_view, 6> kReasons = {"because", "since", "as", "for", "rather", "not"};
// What follows a letter that is right ...
constexpr std::array<std::string_view, 8> kPraise = {"is correct",  "is right",      "is the correct", "is the right",
                                                     "is the best", "is the answer", "is true",        "is therefore"};
// ... and one that is not, and what stands before one that is not meant.
constexpr std::array<std::string_view, 15> kBlame = {
    "is wrong",     "is incorrect",      "is not",    "isn't",         "is false",  "is ruled", "is eliminated",
    "can be ruled", "can be eliminated", "are wrong", "are incorrect", "cannot be", "can't be", "does not",
    "fails"};
constexpr std::array<std::string_view, 17> kRejection = {
    "not",       "rather than", "instead of",  "rule out", "ruled out", "ruling out",
    "eliminate", "eliminated",  "eliminating", "exclude",  "excludes",  "reject",
    "discard",   "unlike",      "isn't",       "than",     "nor"};

bool starts_with(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) { return a == to_lower(b); });
}

std::string_view without_dressing(std::string_view text, bool across_lines) {
  const std::size_t size = text.size();
  while (!text.empty() && size - text.size() < kMaxDressing) {
    const char c = text.front();
    const bool line_end = c == '\n' || c == '\r';
    if (kMarks.find(c) != std::string_view::npos || (is_space(c) && (across_lines || !line_end))) {
      text.remove_prefix(1);
      continue;
    }
    const auto command =
        std::find_if(kCommands.begin(), kCommands.end(), [&](std::string_view name) { return text.starts_with(name); });
    if (command == kCommands.end()) break;
    text.remove_prefix(command->size());
  }
  return text;
}

bool ends_with(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && starts_with(text.substr(text.size() - lower.size()), lower);
}

// "not option C", "rather than (C)": of the words right before it.
bool is_rejected(std::string_view before) {
  before = before.substr(before.size() - std::min<std::size_t>(before.size(), 48));
  for (int word = 0; word < 2; ++word) {
    while (!before.empty() && (is_space(before.back()) || kMarks.find(before.back()) != std::string_view::npos)) {
      before.remove_suffix(1);
    }
    for (const std::string_view one : kRejection) {
      const bool whole =
          before.size() == one.size() || !is_letter(before[before.size() - std::min(before.size(), one.size() + 1)]);
      if (ends_with(before, one) && whole) return true;
    }
    // Past one word that only names it.
    bool named = false;
    for (const std::string_view one : {"option", "options", "choice", "answer", "the"}) {
      if (!ends_with(before, one)) continue;
      before.remove_suffix(one.size());
      named = true;
      break;
    }
    if (!named) return false;
  }
  return false;
}

// "C is wrong": of what follows the letter.
bool is_blamed(std::string_view after) {
  after = after.substr(0, kMaxDressing);
  while (!after.empty() && std::string_view("*_$`\"')]} \t").find(after.front()) != std::string_view::npos) {
    after.remove_prefix(1);
  }
  return std::any_of(kBlame.begin(), kBlame.end(), [&](std::string_view one) { return starts_with(after, one); });
}

class LetterFinder {
 public:
  LetterFinder(std::string_view text, int choices) : text_(text), last_(static_cast<char>('A' + choices - 1)) {}

  char find() const {
    char stated = '\0';     // 1
    char said = '\0';       // 2
    char named = '\0';      // 3
    char bracketed = '\0';  // 5
    char swallowed = '\0';  // 6
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const std::string_view rest = text_.substr(at);
      switch (to_lower(rest.front())) {
        case '(':
          if (!is_rejected(text_.substr(0, at)) && !is_blamed(rest.substr(std::min<std::size_t>(rest.size(), 3)))) {
            keep(bracketed, bracketed_letter(rest));
          }
          break;
        case '\\':
          if (rest.size() > 1 && rest[1] == '\\') break;
          if (rest.starts_with("\\boxed")) keep(stated, boxed_letter(rest.substr(6)));
          if (rest.starts_with("\\fbox")) keep(stated, boxed_letter(rest.substr(5)));
          break;
        case 'a':
          if (!starts_with(rest, "answer")) break;
          keep(stated, stated_letter(rest.substr(6), true));
          keep(swallowed, stated_letter(rest.substr(6), false));
          keep(said, said_letter(rest.substr(6)));
          break;
        case '<':
          if (starts_with(rest, "<answer>")) keep(stated, tagged_letter(rest.substr(8)));
          break;
        case 'c':
        case 'o':
          if ((starts_with(rest, "option") || starts_with(rest, "choice")) && !is_rejected(text_.substr(0, at))) {
            keep(named, said_letter(rest.substr(6), true));
          }
          break;
        default:
          break;
      }
      if (at == 0 || !is_letter(text_[at - 1])) {
        keep(said, decided_letter(rest));
        keep(said, praised_letter(rest));
        keep(said, concluded_letter(rest));
      }
    }
    for (const char letter : {stated, said, named, last_line_letter(), bracketed, swallowed}) {
      if (letter != '\0') return letter;
    }
    return '\0';
  }

 private:
  static void keep(char& best, char found) {
    if (found != '\0') best = found;
  }

  // Upper case; '\0' when it is none of the choices.
  char letter_of(char c, bool any_case) const {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return upper >= 'A' && upper <= last_ && (any_case || c == upper) ? upper : '\0';
  }

  static bool ends_word(std::string_view after) {
    return after.empty() || (!is_letter(after.front()) && !is_digit(after.front()));
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
      return letter_of(same_line.front(), true);
    }
    // On a line of its own it must be alone: "Answer:\nA compound" names none.
    const std::string_view next_line = without_dressing(after, true);
    return !next_line.empty() && stands_alone(next_line.substr(1)) ? letter_of(next_line.front(), true) : '\0';
  }

  // Nothing but marks up to the end of the line.
  static bool stands_alone(std::string_view after) {
    for (const char c : after.substr(0, kMaxDressing)) {
      if (c == '\n' || c == '\r') return true;
      if (std::string_view(" \t*_$`\"')]}.").find(c) == std::string_view::npos) return false;
    }
    return after.size() <= kMaxDressing;
  }

  // After the opening tag.
  char tagged_letter(std::string_view after) const {
    after = without_dressing(after.substr(0, kMaxDressing), true);
    if (after.size() < 2) return '\0';
    const std::string_view rest = trim(after.substr(1));
    if (rest.empty() || std::string_view("<)].:*$").find(rest.front()) == std::string_view::npos) return '\0';
    return letter_of(after.front(), true);
  }

  // After the command.
  char boxed_letter(std::string_view box) const {
    box = box.substr(0, kMaxDressing);
    const std::size_t brace = box.find_first_not_of(" \t");
    if (brace == std::string_view::npos || box[brace] != '{') return '\0';
    box = without_dressing(box.substr(brace), true);
    if (box.size() < 2) return '\0';
    const std::string_view after = trim(box.substr(1));
    if (after.empty() || std::string_view("})].:*$").find(after.front()) == std::string_view::npos) return '\0';
    return letter_of(box.front(), true);
  }

  // "Thus, C.", "Therefore: C"
  char concluded_letter(std::string_view text) const {
    for (const std::string_view word : {"thus", "therefore", "hence", "so"}) {
      if (!starts_with(text, word) || !ends_word(text.substr(word.size()))) continue;
      std::string_view rest = text.substr(word.size());
      if (!rest.empty() && (rest.front() == ',' || rest.front() == ':')) rest.remove_prefix(1);
      rest = without_dressing(rest, false);
      if (rest.empty() || !ends_word(rest.substr(1)) || !concludes(rest.substr(1))) return '\0';
      return letter_of(rest.front(), false);
    }
    return '\0';
  }

  // "B is correct", "(B) is the right one".
  char praised_letter(std::string_view text) const {
    if (text.size() < 4 || !(text[0] >= 'A' && text[0] <= last_)) return '\0';
    std::string_view after = text.substr(1);
    if (!ends_word(after)) return '\0';
    while (!after.empty() && std::string_view("*_$`\")] ").find(after.front()) != std::string_view::npos) {
      after.remove_prefix(1);
    }
    const bool praised =
        std::any_of(kPraise.begin(), kPraise.end(), [&](std::string_view one) { return starts_with(after, one); });
    return praised ? text[0] : '\0';
  }

  // After "answer", "option" or "choice": a few filler words, then the letter. Behind the last two "A" is no article.
  char said_letter(std::string_view after, bool named = false) const {
    if (!ends_word(after)) return '\0';
    std::string_view rest = skip_to_word(after);
    for (int filler = 0; filler < kMaxFillers; ++filler) {
      const auto word = std::find_if(kFillers.begin(), kFillers.end(), [&](std::string_view name) {
        return starts_with(rest, name) && ends_word(rest.substr(name.size()));
      });
      if (word == kFillers.end()) break;
      rest = skip_to_word(rest.substr(word->size()));
    }
    if (rest.empty() || !ends_word(rest.substr(1))) return '\0';
    const bool in_brackets = rest.size() > 1 && rest[1] == ')';
    if (is_blamed(rest.substr(1))) return '\0';
    if (named && rest.starts_with("A is ")) return letter_of('A', true);
    return !in_brackets && is_article(rest) ? '\0' : letter_of(rest.front(), in_brackets);
  }

  // "I'm going with B", "so I pick (C)."
  char decided_letter(std::string_view text) const {
    for (const std::string_view phrase : kDecisions) {
      if (starts_with(text, phrase)) return said_letter(text.substr(phrase.size()));
    }
    for (const std::string_view verb : kSelections) {
      if (!starts_with(text, verb) || !ends_word(text.substr(verb.size()))) continue;
      const char letter = said_letter(text.substr(verb.size()));
      const std::size_t at = letter == '\0' ? std::string_view::npos : letter_after(text.substr(verb.size()), letter);
      return at != std::string_view::npos && concludes(text.substr(verb.size() + at + 1)) ? letter : '\0';
    }
    return '\0';
  }

  // Where said_letter found it: the first that stands as a word of its own.
  static std::size_t letter_after(std::string_view text, char letter) {
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (to_lower(text[at]) == to_lower(letter) && !is_letter(text[at - 1]) && ends_word(text.substr(at + 1))) {
        return at;
      }
    }
    return std::string_view::npos;
  }

  // The sentence ends here, or gives its reason.
  static bool concludes(std::string_view after) {
    after = after.substr(0, kMaxDressing);
    while (!after.empty() && std::string_view("*_$`\"')]} \t").find(after.front()) != std::string_view::npos) {
      after.remove_prefix(1);
    }
    if (after.empty() || std::string_view(".!;\n\r").find(after.front()) != std::string_view::npos) return true;
    return std::any_of(kReasons.begin(), kReasons.end(), [&](std::string_view reason) {
      return starts_with(after, reason) && ends_word(after.substr(reason.size()));
    });
  }

  static std::string_view skip_to_word(std::string_view text) {
    text = without_dressing(text, false);
    const bool dashed = text.starts_with("- ") || text.starts_with("\u2013 ") || text.starts_with("\u2014 ");
    if (dashed) text = without_dressing(text.substr(text.find(' ')), false);
    if (!text.empty() && (text.front() == ':' || text.front() == '=')) text = without_dressing(text.substr(1), false);
    return text;
  }

  // "A compound": not the choice A.
  static bool is_article(std::string_view text) {
    if (text.size() < 3 || text[0] != 'A' || text[1] != ' ') return false;
    const std::string_view next = text.substr(2);
    return is_letter(next.front()) && !starts_with(next, "because") && !starts_with(next, "since");
  }

  char last_line_letter() const {
    const std::string_view all = trim(text_);
    const std::size_t line_end = all.find_last_of("\n\r");
    const std::string_view line =
        without_dressing(line_end == std::string_view::npos ? all : all.substr(line_end + 1), false);
    if (line.empty()) return '\0';
    const std::string_view after = line.substr(1);
    const bool as_options_do = !after.empty() &&
                               std::string_view(").:").find(after.front()) != std::string_view::npos &&
                               (after.size() == 1 || !is_letter(after[1]));
    return as_options_do || stands_alone(after) ? letter_of(line.front(), as_options_do || after.empty()) : '\0';
  }

  char bracketed_letter(std::string_view text) const {
    return text.size() > 2 && text[2] == ')' ? letter_of(text[1], false) : '\0';
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

char choice_letter(std::string_view text, int choices) {
  if (const char stated = first_stated(text, choices); stated != '\0') return stated;
  return LetterFinder(text.substr(text.size() - std::min(text.size(), kMaxText)), choices).find();
}

}  // namespace dts
