// A text as the readers of a choice's letter expect it.
#pragma once

#include <string>
#include <string_view>

namespace dts::letters {

// Wide forms narrow, quotation marks straight, spaces plain, and tags of HTML as the marks or the ends of lines that
// they are: "<b>C</b>" -> "**C**". All else stays as it is.
std::string plain_text(std::string_view text);

}  // namespace dts::letters
