// Text in XML and HTML. Everything goes through here: nothing a model wrote can become markup.
#pragma once

#include <string>
#include <string_view>

namespace dts::text {

// Printable (display.h) text for element content and double- or single-quoted attributes, valid in XML 1.0.
std::string escape_markup(std::string_view text);

// A JSON string, quotes included, that is safe inside <script>: no '<', '>' or '&', and ASCII only.
std::string escape_script_string(std::string_view text);

}  // namespace dts::text
