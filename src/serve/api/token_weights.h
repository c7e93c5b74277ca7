// Penalties and biases of a request, and what it tells the chat template.
#pragma once

#include <string>

#include "question/penalties.h"

namespace dts {
class JsonField;
}

namespace dts::serve {

// `presence_penalty`, `frequency_penalty`, `repetition_penalty` or `repeat_penalty`, `logit_bias`. Tokens are not
// checked yet.
Penalties read_penalties(const JsonField& body);

// `chat_template_kwargs`, `reasoning_effort` and `enable_thinking` as the template's variables: JSON, or empty.
std::string read_template_variables(const JsonField& body);

}  // namespace dts::serve
