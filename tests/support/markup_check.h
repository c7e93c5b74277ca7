// A strict reader of the XML and HTML that the drawings write: small, and with no mercy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::test {

struct MarkupTag {
  std::string name;
  std::vector<std::string> attributes;  // names
};

struct MarkupCheck {
  std::string error;            // empty: well-formed
  std::vector<MarkupTag> tags;  // opening ones, in order
};

// Tags balanced and properly nested, attributes quoted and unique, only known entities, no stray '<' or '&', valid
// UTF-8 without control characters. `html`: void elements need no end, and the contents of script and style are
// skipped.
MarkupCheck check_markup(std::string_view text, bool html);

}  // namespace dts::test
