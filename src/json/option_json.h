// Options of decoding as JSON values.
#pragma once

#include <nlohmann/json.hpp>

#include "dts/options.h"
#include "json/field.h"

namespace dts {

// null: none. Numbers that are not finite are "inf", "-inf" and "nan": JSON has no word for them.
nlohmann::ordered_json option_json(const OptionValue& value);

// A value that a client gives, within `range`; of a seed, -1 is none. Throws as a JsonField does.
OptionValue read_option(const OptionInfo& option, const JsonField& field, const OptionRange& range);
// A value that a file has: of the option's type, and no more is asked of it.
OptionValue read_stored_option(const OptionInfo& option, const JsonField& field);

}  // namespace dts
