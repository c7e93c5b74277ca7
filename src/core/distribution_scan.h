// One pass over a row of logits: the sums behind entropy, varentropy and the partition functions, and the largest
// logits. The pass is online: weights are kept relative to the largest logit seen so far and rebased when it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution_kernels.h"
#include "dts/prediction.h"

namespace dts {

struct RankedLogit {
  float logit = 0;
  Token token = 0;
};

// The k largest of a stream of logits that arrives in ascending token order. Equal logits: the lower token ranks
// higher.
class TopLogits {
 public:
  void reset(std::size_t k);
  // `z` [n], padded; z[0] belongs to token `first`. -infinity is never taken.
  void offer(const DistributionKernels& kernels, const float* z, std::size_t n, std::size_t first);
  // Logits at or below this need not be offered.
  float bound() const { return bound_; }
  // Best first. Fewer than k when there were fewer finite logits.
  std::span<const RankedLogit> finish(std::span<const float> logits);

 private:
  void shrink();

  std::size_t k_ = 0;
  float bound_ = 0;                     // the k-th best when last shrunk
  std::vector<std::uint64_t> keys_;     // order as (logit, -token); at most 2k + a little, shrunk to k when full
  std::size_t size_ = 0;                // keys in use
  std::vector<std::uint32_t> indices_;  // scratch
  std::vector<RankedLogit> ranked_;
};

class RowScan {
 public:
  struct Request {
    float stat_temperature = 1;
    // The temperature to sample at; 0 when the sample needs no sums (the most probable token, or a small top-k).
    float sample_temperature = 0;
    std::size_t top = 1;  // how many of the largest logits to keep
  };

  struct Block {
    const float* z = nullptr;  // [padded_size]
    std::size_t padded_size = 0;
    std::size_t size = 0;
    std::size_t first = 0;     // token of z[0]
    float max = 0;             // -infinity when all are
    float reference = 0;       // what `sample_weight` is relative to
    double sample_weight = 0;  // sum exp((z - reference) / sample_temperature)
  };

  // False when the row holds a NaN or +infinity, or nothing but -infinity. `logits` must outlive the use of the scan.
  bool run(std::span<const float> logits, const Request& request);

  std::span<const float> logits() const { return logits_; }
  std::span<const Block> blocks() const { return blocks_; }
  float max() const { return reference_; }

  double entropy() const;     // nats
  double varentropy() const;  // nats^2
  // log softmax(z) at temperature 1 of a logit of this row.
  double logprob(float logit) const;
  // sum exp((z - max) / sample_temperature)
  double sample_weight() const { return sums_.weight[sample_index_]; }

  // The request's `top` largest finite logits, best first.
  std::span<const RankedLogit> top() const { return ranked_; }
  // Whether top() holds all finite logits of the row.
  bool top_is_all() const { return ranked_.size() < request_.top || ranked_.size() == logits_.size(); }

 private:
  void set_temperatures();
  void cut_into_blocks();
  void raise_reference(float max);

  Request request_;
  std::span<const float> logits_;
  std::vector<Block> blocks_;
  alignas(64) float tail_[kBlockLogits] = {};  // the last block when it is partial, padded with -infinity

  Temperature temperatures_[kMaxTemperatures];  // the first is that of the statistics; no two are equal
  std::size_t n_temperatures_ = 0;
  std::size_t unit_index_ = 0;    // of temperature 1
  std::size_t sample_index_ = 0;  // of the sample's, or of any other when it needs no sums
  float smallest_scale_ = 0;

  float reference_ = 0;       // the largest logit so far
  BlockSums sums_;            // relative to reference_
  double log_partition_ = 0;  // log sum exp(z - max)

  TopLogits top_;
  std::span<const RankedLogit> ranked_;
};

}  // namespace dts
