// The fields of a completion's body: honoured, known to change nothing, or refused by their names.
#pragma once

#include <string>

namespace dts {
class JsonField;
}

namespace dts::serve {

// Throws an ApiError, 400, for a field that would change what is generated and that cannot be honoured, and for one
// that nobody here knows: it might.
void check_fields(const JsonField& body);

[[noreturn]] void unsupported_field(const std::string& name, const std::string& why);

}  // namespace dts::serve
