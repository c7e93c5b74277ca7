// Changes a row of logits before anything is computed from it: a grammar forbids tokens, a penalty makes them less
// likely. A prediction knows the changed row only, so that H and VE are those of what can be chosen, a child that is
// forbidden is not a child, and a draw cannot hit it.
#pragma once

#include <memory>
#include <span>

#include "dts/prediction.h"

namespace dts {

// One trajectory's: it has seen the tokens that the trajectory has generated.
class LogitsFilter {
 public:
  LogitsFilter() = default;
  LogitsFilter& operator=(const LogitsFilter&) = delete;
  virtual ~LogitsFilter() = default;

  // For a trajectory that goes its own way from here.
  virtual std::unique_ptr<LogitsFilter> clone() const = 0;
  // The trajectory has one token more; never one that was forbidden, never an end token.
  virtual void accept(Token token) = 0;
  // `logits` [n_vocab]: -infinity forbids. Must leave a token that is allowed. A pure function of what was accepted.
  virtual void apply(std::span<float> logits) const = 0;

 protected:
  LogitsFilter(const LogitsFilter&) = default;
};

}  // namespace dts
