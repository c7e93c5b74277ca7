// Draws one token from a scanned row: top-k, top-p and min-p, then the inverse of the cumulative distribution in
// ascending token order.
//
// The three truncations all keep a set that is closed upwards in the ranking (logit descending, ties: lower token), so
// what they keep is described by where the ranking is cut. When the cut falls among the row's few largest logits, which
// the scan has at hand, nothing more is read. Without truncation the scan's block sums say which block to read again.
// When neither decides, or the draw is so close to a boundary that the scan's float weights may be wrong about it, the
// row is read again in double precision: so the token drawn does not depend on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
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

  // A token, and how far the draw is from drawing another, in weight.
  struct Choice {
    Token token = 0;
    double margin = 0;
  };

  // Fills kept_ with the leading entries of the ranking that are kept. False when scan.top() does not decide that.
  bool cut_top(const RowScan& scan, const SamplingOptions& options, const Temperature& temperature);
  Token draw_from_kept(double u, Token fallback);

  // These three leave the kept weight of each block in block_weights_.
  void weigh_blocks_roughly(const RowScan& scan, const Temperature& temperature);
  void weigh_blocks(const RowScan& scan, const Temperature& temperature, const Cut& cut);
  Cut cut_top_p(const RowScan& scan, double top_p, const Temperature& temperature);
  Choice draw_from_blocks(const RowScan& scan, const Temperature& temperature, const Cut& cut, double u);

  struct Bracket {
    float low = 0;
    float high = 0;
  };
  // Two logits between which top-p cuts the ranking for certain.
  Bracket bracket_top_p(const RowScan& scan, double top_p, const Temperature& temperature);

  // Where, going down the ranking of `logits`, a weight of `target` is reached. `logits` must not be empty; reorders
  // them.
  struct Boundary {
    float logit = 0;
    std::size_t ties = 0;  // how many of the logits equal to it are needed
  };
  Boundary find_boundary(std::span<float> logits, float max, const Temperature& temperature, double target);

  std::vector<Entry> kept_;
  std::vector<double> block_weights_;
  std::vector<std::size_t> block_candidates_;  // how many candidates each block has
  std::vector<float> candidates_;              // logits near the cut, in token order [n_vocab + padding]
  std::vector<float> narrowed_;                // scratch for find_boundary
  std::vector<double> histogram_;              // weight by logit
  alignas(64) float rough_weights_[kBlockLogits] = {};
  alignas(64) std::int32_t bins_[kBlockLogits] = {};
  alignas(64) double weights_[kBlockLogits] = {};
};

}  // namespace dts
