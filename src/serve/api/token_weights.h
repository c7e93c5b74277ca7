// Penalties and biases of a request, and what it tells the chat template.
#pragma once

#include <string>

#include "question/penalties.h"
#include "serve/api/param.h"

namespace dts::serve {

// `presence_penalty`, `frequency_penalty`, `repetition_penalty` or `repeat_penalty`, `logit_bias`. Tokens are not
// checked yet.
Penalties read_penalties(const Param& body);

// `chat_template_kwargs`, `reasoning_effort` and `enable_thinking` as the template's variables: JSON, or empty.
std::string read_template_variables(const Param& body);

}  // namespace dts::serve
