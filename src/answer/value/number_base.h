// Numbers in another base than ten: 1011_2.
#pragma once

#include <optional>
#include <string_view>

#include "answer/value/rational.h"

namespace dts {

// The value of "1011_2" and "ff_16". Nothing when it is anything else: a letter with an index, a digit that the base
// does not have, more digits than are worth reading. Expects lower case.
std::optional<Rational> value_in_base(std::string_view text);

}  // namespace dts
