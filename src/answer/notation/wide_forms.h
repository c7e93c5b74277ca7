// The wide forms that East Asian text has of ASCII.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// U+FF01..FF5E as the ASCII they stand for, the ideographic space and brackets as theirs, and the ideographic full stop
// and comma as ". " and ", ". All other bytes stay as they are, whether they are text or not.
std::string narrow_forms(std::string_view text);

}  // namespace dts
