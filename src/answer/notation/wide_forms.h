// The forms that other scripts have of ASCII: wide letters and signs of East Asian text, digits of Arabic and Indic
// text.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// U+FF01..FF5E as the ASCII they stand for, the ideographic space and brackets as theirs, the ideographic full stop and
// comma and the danda as ". " and ", ", and the digits of Arabic, Persian, Devanagari, Bengali and Thai. All other
// bytes stay as they are, whether they are text or not.
std::string narrow_forms(std::string_view text);

}  // namespace dts
