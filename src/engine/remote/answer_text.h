// What a server says when it refuses, in one line for people.
#pragma once

#include <string>
#include <string_view>

namespace dts::remote {

// The request itself is wrong: another server or another time will not help.
bool is_refusal(long status);

// "HTTP 400: prompt is too long": the message inside the error bodies of OpenAI, vLLM, SGLang and llama-server, else the
// body itself; printable, on one line, cut short.
std::string complaint_of(long status, std::string_view body);

}  // namespace dts::remote
