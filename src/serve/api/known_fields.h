// The fields of a request's body: honoured, known to change nothing, or refused by their names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dts {
class JsonField;
}

namespace dts::serve {

// Whose body it is.
enum class Api {
  kChat,
  kText,
  kResponses,
  kOllamaChat,
  kOllamaGenerate,
  kTokenize,
  kDetokenize,
  kApplyTemplate,
};

// Throws an ApiError, 400, for a field that would change what is generated and that cannot be honoured, and for one
// that nobody here knows: it might.
void check_fields(const JsonField& body, Api api);

[[noreturn]] void unsupported_field(const std::string& name, const std::string& why);
[[noreturn]] void unknown_field(const std::string& name);
// `value`: what was seen, null where it is missing; `what` would be right.
[[noreturn]] void wrong_field(const std::string& name, const nlohmann::ordered_json* value, const std::string& what);

}  // namespace dts::serve
