#include "engine/llama/schema_text.h"

#include <fmt/format.h>

#include <cstddef>

#include "dts/error.h"

namespace dts {

void refuse_schema(const std::string& why) { throw usage_error(why); }

std::string shown_value(std::string_view value) {
  constexpr std::size_t kMost = 60;
  std::string shown = "'";
  for (const char c : value) {
    if (shown.size() > kMost) {
      shown += "...";
      break;
    }
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return shown + "'";
}

}  // namespace dts
