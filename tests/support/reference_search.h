// An independent implementation of the algorithm, for the tests: slow, obvious, written from the specification
// (docs/algorithm.md) rather than from src/. Trajectories are whole copies of their tokens; nothing is shared, nothing
// is cached, all arithmetic is in double precision. The random numbers (dts/rng.h) are all it has in common with the
// real one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dts/search.h"
#include "support/scripted_engine.h"

namespace dts {

struct ReferenceLeaf {
  std::vector<Token> tokens;
  SegmentState state = SegmentState::kLive;

  friend bool operator==(const ReferenceLeaf&, const ReferenceLeaf&) = default;
};

struct ReferenceDecision {
  std::vector<Token> prefix;    // generated tokens before the decision
  std::vector<Token> children;  // the tokens it split into

  friend bool operator==(const ReferenceDecision&, const ReferenceDecision&) = default;
  friend auto operator<=>(const ReferenceDecision&, const ReferenceDecision&) = default;
};

struct ReferenceResult {
  // Some comparison (a threshold, a sample, a tie in a truncation) was closer than single precision can tell: the
  // real search may rightly differ.
  bool fragile = false;
  StopReason reason = StopReason::kRunning;
  std::vector<ReferenceDecision> decisions;
  std::vector<ReferenceLeaf> leaves;
  std::vector<std::vector<Token>> finished;  // in order
  std::vector<std::string> answers;          // of `finished`
  std::optional<std::size_t> winner;
  int steps = 0;
  int peak_live = 0;
  std::size_t unique_tokens = 0;
};

ReferenceResult reference_search(const LogitsScript& script, const std::vector<Token>& prompt,
                                 const SearchOptions& options, const SearchText& text, int n_vocab);

}  // namespace dts
