// One row of logits -> one Prediction: entropy, varentropy, top-k, DeepConf's confidence and an exact sample.
//
// With x = z / T_stat, H = log Z - E[x] and VE = Var(x), so a single pass over the logits suffices for the statistics.
// docs/algorithm.md defines the sample exactly; distribution_oracle.h is the slow, obvious implementation of the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dts/prediction.h"

namespace dts {

struct LogitsRow {
  std::span<const float> logits;         // [n_vocab], not owned, read only
  std::uint64_t draw = 0;                // random bits for the sample
  const PredictionSpec* spec = nullptr;  // not owned
  Prediction* out = nullptr;             // not owned
};

// Holds the scratch buffers and threads that many rows need; allocates nothing per call once its buffers have grown.
// Rows are independent: the result of a row does not depend on the other rows or on the number of threads. Statistics
// are exact to float rounding; tokens, ranked or drawn, are those of double precision, on every CPU. One caller at a
// time.
//
// Cost on one thread, 48 rows of 152k logits: 4 to 7 ms; rows so flat that top-p keeps thousands of tokens take four
// times that. Threads other than the caller's sleep between calls and are not woken for small vocabularies.
class Predictor {
 public:
  // `threads` >= 1 counts the calling thread.
  explicit Predictor(int threads = 1);
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  void predict(std::span<const LogitsRow> rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dts
