// One JSON object a line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "eval/datasets/table.h"

namespace dts::eval {

// The columns are the keys of all objects; an object without a key has a null there. Empty lines are skipped, a UTF-8
// byte order mark is allowed. Throws Error naming the line for anything else than an object.
DataTable read_jsonl(std::string_view text, const std::string& label, std::span<const std::string> wanted);

}  // namespace dts::eval
