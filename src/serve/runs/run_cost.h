// What a question may take in memory at most, before anything of it is allocated.
#pragma once

#include <cstdint>

#include "dts/search.h"

namespace dts::serve {

// Bytes beside the engine's: the tree and its events, the windows of confidence, and the candidates that are kept for
// `top_logprobs`. What is queued takes next to nothing, and the branches of all that runs are bounded by the engine, so
// a bound of one request is a bound of all.
std::int64_t most_bytes(const SearchOptions& search, std::size_t prompt_tokens, int top_logprobs);

}  // namespace dts::serve
