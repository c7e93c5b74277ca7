#include "answer/letter/spot.h"

#include "answer/letter/context.h"
#include "answer/letter/marks.h"
#include "answer/letter/phrases.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

constexpr int kMaxFillers = 6;  // phrases between a marker and its letter

// To the next word; `linked` becomes true where a colon or the like is passed.
std::string_view skip_to_word(std::string_view text, bool& linked) {
  text = without_dressing(text, false);
  bool dashed = false;
  for (const std::string_view dash : {"- ", "\u2013 ", "\u2014 ", "-> ", "=> ", "\u2192 "}) {
    dashed = dashed || text.starts_with(dash);
  }
  if (dashed) text = without_dressing(text.substr(text.find(' ')), false);
  const bool marked = !text.empty() && (text.front() == ':' || text.front() == '=');
  if (marked) text = without_dressing(text.substr(1), false);
  linked = linked || dashed || marked;
  return text;
}

// Nothing unless what spot_after() came to is a choice.
Spot checked(const Spot& spot, bool named, char last) {
  if (spot.letter == '\0') return {};
  const bool in_brackets = spot.after().starts_with(')');
  if (is_blamed(spot.after()) || goes_on_listing(spot.after(), last) || is_cut_off(spot.after())) return {};
  if (named && spot.text.starts_with("A is ")) return spot;
  if (!in_brackets && is_article(spot.text)) return {};
  // "The answer is a.": no article ends a sentence.
  const bool small = spot.text.front() != spot.letter;
  if (small && !in_brackets && !(spot.linked && sentence_ends(spot.after()))) return {};
  return spot;
}

}  // namespace

Spot spot_after(std::string_view after, char last) {
  if (!ends_word(after)) return {};
  bool linked = false;
  bool parted = false;  // by a comma, and by no verb since: "to answer, A and B"
  if (starts_with_word(after, "'s")) {
    after.remove_prefix(2);
    linked = true;
  }
  std::string_view rest = skip_to_word(after, linked);
  for (int filler = 0; filler < kMaxFillers; ++filler) {
    const bool comma = rest.starts_with(',');
    const std::string_view next = comma ? without_dressing(rest.substr(1), false) : rest;
    const std::string_view verb = first_phrase(next, kVerbs);
    const std::string_view word = verb.empty() ? first_phrase(next, kFillers) : verb;
    if (word.empty()) {
      if (!comma || !linked) break;
      rest = next;  // "is, therefore, C"
      break;
    }
    parted = verb.empty() && (parted || (comma && !linked));
    linked = linked || !verb.empty();
    rest = skip_to_word(next.substr(word.size()), linked);
  }
  if (rest.empty() || parted || !stands_free(rest.substr(1))) return {};
  return {letter_of(rest.front(), last, true), rest, linked};
}

Spot choice_after(std::string_view after, char last) { return checked(spot_after(after, last), false, last); }

Spot named_after(std::string_view after, char last) { return checked(spot_after(after, last), true, last); }

Spot contrasted_after(std::string_view after, char last) {
  std::string_view rest = trim(after.substr(0, kMaxClause));
  if (!starts_with_word(rest, "is") || !starts_with_word(trim(rest.substr(2)), "not")) return {};
  const std::size_t size = rest.size();
  rest = rest.substr(0, std::min(rest.find_first_of(".;!?\n"), size));
  const std::size_t but = rest.find(" but ");
  if (but == std::string_view::npos) return {};
  // In the whole text again, for what follows the letter.
  rest = after.substr(static_cast<std::size_t>(rest.data() - after.data()) + but + 4);
  for (const std::string_view word : {"rather", "instead"}) {
    if (starts_with_word(trim(rest.substr(0, kMaxDressing)), word))
      rest = rest.substr(rest.find_first_not_of(' ') + word.size());
  }
  const Spot spot = choice_after(rest, last);
  return concludes(spot.after()) ? spot : Spot{};
}

}  // namespace dts::letters
