// Draws one token from a scanned row: top-k, top-p and min-p, then the inverse of the cumulative distribution in
// ascending token order.
//
// The three truncations all keep a set that is closed upwards in the ranking (logit descending, ties: lower token), so
// what they keep is described by where the ranking is cut. When the cut falls among the row's few largest logits, which
// the scan has at hand, nothing more is read; else the cut is found and the row is read again, in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/distribution_scan.h"
#include "dts/prediction.h"

namespace dts {

// Owns scratch buffers that grow with the vocabulary, and nothing else: a draw depends on its arguments alone.
class Sampler {
 public:
  // What the scan must provide for draw().
  static bool needs_weights(const SamplingOptions& options, std::size_t n_vocab);
  static std::size_t needed_top(const SamplingOptions& options, std::size_t n_vocab);

  // The scan must have been run with what needs_weights() and needed_top() say.
  Token draw(const RowScan& scan, const SamplingOptions& options, std::uint64_t bits);

 private:
  // Kept are the tokens with logit > bound, and those with logit == bound up to `last_tie`.
  struct Cut {
    float bound = -std::numeric_limits<float>::infinity();
    std::size_t last_tie = std::numeric_limits<std::size_t>::max();

    bool keeps(float logit, std::size_t token) const { return logit > bound || (logit == bound && token <= last_tie); }
  };

  struct Entry {
    Token token = 0;
    double weight = 0;
  };

  // The leading entries of the ranking that are kept, into kept_. False when the cut lies below scan.top().
  bool cut_top(const RowScan& scan, const SamplingOptions& options, const Temperature& temperature);
  Token draw_from_kept(double u, Token fallback);

  Cut find_cut(const RowScan& scan, const SamplingOptions& options, const Temperature& temperature);
  Cut top_p_cut(const RowScan& scan, double top_p, const Temperature& temperature);
  std::size_t narrow_candidates(std::size_t count, float max, const Temperature& temperature, double target,
                                double* above);

  Token draw_from_blocks(const RowScan& scan, const Temperature& temperature, const Cut* cut, double u);
  double block_weight(const RowScan& scan, const RowScan::Block& block, const Temperature& temperature, const Cut* cut);

  std::vector<Entry> kept_;
  std::vector<float> candidates_;      // logits that top-p may keep [padded(n_vocab) + padding]
  std::vector<double> histogram_;      // weight by logit
  std::vector<double> block_weights_;  // kept weight of each block
  alignas(64) float weights_[kBlockLogits] = {};
};

}  // namespace dts
