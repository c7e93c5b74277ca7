// What a server says when it refuses, in one line for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dts::remote {

// The request itself is wrong: another server or another time will not help.
bool is_refusal(long status);

// The server works and takes no more for now.
bool is_busy(long status);

// "HTTP 400: prompt is too long": the message inside the error bodies of OpenAI, vLLM, SGLang and llama-server, else
// the body itself; printable, on one line, cut short.
std::string complaint_of(long status, std::string_view body);

// What a stranger wrote, fit to be shown: printable, on one line, at most some 300 bytes.
std::string shown(std::string_view words);

// The text without what headers ("Authorization: Bearer KEY") must not show: some servers repeat a key that they
// refuse.
std::string without_secrets(std::string text, std::span<const std::string> headers);

}  // namespace dts::remote
