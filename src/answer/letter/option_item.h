// An option at the front of a line, however its list marks it: "- **B**:", "3. (C)", "| D |", "✓ A", "Option B)".
#pragma once

#include <string_view>

#include "answer/letter/verdict.h"

namespace dts::letters {

struct OptionItem {
  char letter = '\0';              // upper case; '\0': the line begins with none
  std::string_view text;           // from the letter on
  Verdict ahead = Verdict::kNone;  // by a mark before it: "[x] B"
  bool in_table = false;

  // What follows the mark that parts the letter from what is said of it; nothing where none does: "A compound".
  // `dotted`: only a bracket or a point is that mark, as options themselves have it: "A) no".
  struct Said {
    bool parted = false;
    bool dotted = false;
    std::string_view text;
  };
  Said said() const;
};

// `last` is the letter of the last choice.
OptionItem option_item(std::string_view line, char last);

}  // namespace dts::letters
