#include "text/quote.h"

#include <fmt/format.h>

#include "text/utf8.h"

namespace dts::text {

std::string in_quotes(std::string_view text, std::size_t max_bytes) {
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= max_bytes) {
      out += "...";
      break;
    }
    const Character character = decode_utf8(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (!character.valid || byte < 0x20 || byte == 0x7F) {
      out += byte == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", byte);
      ++at;
    } else {
      out += text.substr(at, character.size);
      at += character.size;
    }
  }
  return out + "'";
}

std::string list_in_quotes(std::span<const std::string> names, std::size_t max_names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < max_names; ++i) out += (i == 0 ? "" : ", ") + in_quotes(names[i], 40);
  if (names.size() > max_names) out += fmt::format(" and {} more", names.size() - max_names);
  return out;
}

}  // namespace dts::text
