// From what announces the letter of a choice to the letter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace dts::letters {

// Where a letter stands.
struct Spot {
  char letter = '\0';     // upper case
  std::string_view text;  // from it on
  bool linked = false;    // a verb, a colon or the like stands before it

  std::string_view after() const { return text.substr(std::min<std::size_t>(text.size(), 1)); }
};

// All of these are of what follows "answer", "option", "pick" and the like, and `last` is the letter of the last
// choice.
//
// A few words that say nothing, then the letter; nothing where there is none.
Spot spot_after(std::string_view after, char last);
// The same, where it is a choice: no article, not one of several, not refused.
Spot choice_after(std::string_view after, char last);
// The same after "option" or "choice", behind which "A" is no article.
Spot named_after(std::string_view after, char last);
// "is not B but A."
Spot contrasted_after(std::string_view after, char last);

}  // namespace dts::letters
