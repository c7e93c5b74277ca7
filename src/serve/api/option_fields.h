// The options of decoding as a request has them.
#pragma once

#include <string>
#include <string_view>

#include "dts/options.h"
#include "serve/limits.h"

namespace dts::serve {

// What a client calls an option: "max_tokens", "dts.window". Names that are none stay as they are.
std::string field_name(std::string_view option);

// What a request may ask for: the option's range, narrowed by this server's limits.
OptionRange request_range(const OptionInfo& option, const Limits& limits);

}  // namespace dts::serve
