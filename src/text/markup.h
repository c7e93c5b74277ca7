// Text in XML and HTML. Everything goes through here: nothing a model wrote can become markup.
#pragma once

#include <string>
#include <string_view>

namespace dts::text {

// Printable (display.h) text for element content and double- or single-quoted attributes, valid in XML 1.0.
std::string escape_markup(std::string_view text);

// JSON text as it may stand inside <script>: the same value without '<', '>' and '&', and in printable ASCII.
std::string escape_script_json(std::string_view json);

}  // namespace dts::text
