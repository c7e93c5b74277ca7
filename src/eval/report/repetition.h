// Where a trace says again what it has said.
#pragma once

#include <string_view>
#include <vector>

namespace dts::eval::report {

struct TextPart {
  std::string_view text;  // into the whole
  bool again = false;     // a sentence that was there before, word for word
};

// The text cut into parts, in order and without gaps. A sentence ends with ". ", "! ", "? " or a line end; those of
// fewer than 12 bytes are never marked. Linear time.
std::vector<TextPart> mark_repetition(std::string_view text);

}  // namespace dts::eval::report
