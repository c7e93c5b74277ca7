// Whether a server's log-probabilities are those before or after the temperature.
#pragma once

#include <span>
#include <string>

#include "dts/prediction.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {

enum class FoundScale { kBefore, kAfter, kUnclear };

// From candidates at one and the same place, asked for at temperature 1 and at 1/2: differences of log-probabilities
// are the same, or twice as large. What was drawn does not matter.
FoundScale compare_scales(std::span<const Candidate> at_one, std::span<const Candidate> at_half);

struct LogprobsFound {
  FoundScale scale = FoundScale::kUnclear;
  std::string none;  // why there are no log-probabilities; empty: there are some, or it is not known
};

// Asks a server, with a few prompts until it is clear. What fails is passed over: it will be said when it matters.
LogprobsFound find_logprobs(const Protocol& protocol, const Asker& server, const Vocabulary& vocabulary,
                            PieceSink& pieces, int candidates);

}  // namespace dts::remote
