// A field of a CSV file, quoted where it must be. RFC 4180.
#pragma once

#include <string>

namespace dts::eval::report {

inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace dts::eval::report
