// The right answers as datasets write them, checked and in the form that graders want.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts::eval {

// AIME: "33" of "033", " 33 ", "33.0", "$33$", "33^\circ"; nothing unless it is a whole number from 0 to 999.
std::optional<std::string> aime_gold(std::string_view text);

// GSM8K: "1234" of a worked solution that ends in "#### 1,234", or of a bare number; nothing unless it is a number.
std::optional<std::string> gsm8k_gold(std::string_view text);

// A plain decimal number, such as -12.5, and nothing else.
bool is_plain_number(std::string_view text);

}  // namespace dts::eval
