// What readers of answers share: JSON from strangers, checked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "dts/prediction.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {

// The text of an answer or of one event. Throws JsonError when it is no JSON, or more than an answer is.
nlohmann::json parse_answer(std::string_view text);

// Throws dts::Error with the server's own words when the event is an error, or is no JSON object.
nlohmann::json parse_event(std::string_view data);

// A member, or null.
const nlohmann::json& member(const nlohmann::json& object, const char* name);

Token token_in(const nlohmann::json& value);       // a whole number that can be a token
float logprob_in(const nlohmann::json& value);     // a number, at most 0 but for rounding
std::string bytes_in(const nlohmann::json& list);  // [104, 105]

// Sorts, and throws dts::Error when a token comes twice or the probabilities add up to more than 1. Log-probabilities
// are rounded more than the logits they come from: where they are equal, the order of a server that ranks by logits
// (`ranked`) is the right one, else the lower id comes first.
void finish_token(DrawnToken& drawn, bool ranked);

std::int64_t count_in(const nlohmann::json& value, std::int64_t otherwise);
std::string text_in(const nlohmann::json& value);  // empty unless it is a string
// "</think>" comes later in the trajectory: the prompt ends with an opened <think>.
bool opens_thinking(std::string_view prompt);

}  // namespace dts::remote
