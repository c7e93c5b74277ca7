#include "core/distribution_sample.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "dts/rng.h"

namespace dts {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Enough of the ranking that a language model's top-p nearly always ends within it.
constexpr std::size_t kTopForTopP = 32;
constexpr std::size_t kBins = 1024;
constexpr std::size_t kSortedCandidates = 512;

bool limits_top(const SamplingOptions& options, std::size_t n_vocab) {
  return options.top_k > 0 && static_cast<std::size_t>(options.top_k) < n_vocab;
}

bool truncates(const SamplingOptions& options, std::size_t n_vocab) {
  return limits_top(options, n_vocab) || options.top_p < 1 || options.min_p > 0;
}

double weight_of(float logit, float max, const Temperature& temperature) {
  return std::exp((static_cast<double>(logit) - static_cast<double>(max)) * temperature.inverse);
}

// The smallest finite float that is not below `value`.
float round_up(double value) {
  if (value <= -static_cast<double>(kLargest)) return -kLargest;
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kLargest) : rounded;
}

}  // namespace

bool Sampler::needs_weights(const SamplingOptions& options, std::size_t n_vocab) {
  return options.temperature > 0 && !limits_top(options, n_vocab);
}

std::size_t Sampler::needed_top(const SamplingOptions& options, std::size_t n_vocab) {
  if (!(options.temperature > 0) || !truncates(options, n_vocab)) return 1;
  return limits_top(options, n_vocab) ? static_cast<std::size_t>(options.top_k) : kTopForTopP;
}

Token Sampler::draw(const RowScan& scan, const SamplingOptions& options, std::uint64_t bits) {
  const Token most_probable = scan.top().front().token;
  if (!(options.temperature > 0)) return most_probable;
  const Temperature temperature = Temperature::of(options.temperature);
  const double u = to_unit(bits);
  if (!truncates(options, scan.logits().size())) return draw_from_blocks(scan, temperature, nullptr, u);
  if (cut_top(scan, options, temperature)) return draw_from_kept(u, most_probable);
  const Cut cut = find_cut(scan, options, temperature);
  return draw_from_blocks(scan, temperature, &cut, u);
}

bool Sampler::cut_top(const RowScan& scan, const SamplingOptions& options, const Temperature& temperature) {
  const bool limited = limits_top(options, scan.logits().size());
  auto top = scan.top();
  if (limited) top = top.first(std::min(top.size(), static_cast<std::size_t>(options.top_k)));
  const bool complete = limited || scan.top_is_all();

  kept_.clear();
  double total = 0;
  for (const RankedLogit& ranked : top) {
    kept_.push_back({.token = ranked.token, .weight = weight_of(ranked.logit, scan.max(), temperature)});
    total += kept_.back().weight;
  }
  if (!complete) total = scan.sample_weight();

  double cumulative = 0;
  std::size_t count = 0;
  bool ended = false;
  while (count < kept_.size() && !ended) {
    if (count > 0 && kept_[count].weight < double{options.min_p}) {
      ended = true;
    } else {
      cumulative += kept_[count++].weight;
      ended = options.top_p < 1 && cumulative >= double{options.top_p} * total;
    }
  }
  kept_.resize(count);
  return ended || complete;
}

Token Sampler::draw_from_kept(double u, Token fallback) {
  std::sort(kept_.begin(), kept_.end(), [](const Entry& a, const Entry& b) { return a.token < b.token; });
  double total = 0;
  for (const Entry& entry : kept_) total += entry.weight;
  const double target = u * total;
  double cumulative = 0;
  for (const Entry& entry : kept_) {
    cumulative += entry.weight;
    if (cumulative > target) return entry.token;
    if (entry.weight > 0) fallback = entry.token;
  }
  return fallback;  // the target rounded up to the total: the last token that is possible
}

Sampler::Cut Sampler::find_cut(const RowScan& scan, const SamplingOptions& options, const Temperature& temperature) {
  Cut cut;
  if (options.top_p < 1) cut = top_p_cut(scan, double{options.top_p}, temperature);
  if (options.min_p > 0) {
    const double least = std::log(std::min(1.0, double{options.min_p})) / temperature.inverse;
    const float bound = round_up(static_cast<double>(scan.max()) + least);
    if (bound > cut.bound) cut = {.bound = bound};
  }
  return cut;
}

Sampler::Cut Sampler::top_p_cut(const RowScan& scan, double top_p, const Temperature& temperature) {
  const std::size_t n_vocab = scan.logits().size();
  const double target = top_p * scan.sample_weight();

  // All tokens lighter than an n-th of the mass that may be dropped are dropped, even if there are n of them. The half
  // is for rounding.
  const double negligible = 0.5 * (1.0 - top_p) * scan.sample_weight() / static_cast<double>(n_vocab);
  const double least = static_cast<double>(scan.max()) + std::log(negligible) / temperature.inverse;
  const auto bound = static_cast<float>(std::max(least, -static_cast<double>(kLargest)));

  if (candidates_.size() < padded(n_vocab) + kLogitPadding) candidates_.resize(padded(n_vocab) + kLogitPadding);
  const DistributionKernels& kernels = distribution_kernels();
  std::size_t count = 0;
  for (const RowScan::Block& block : scan.blocks()) {
    if (block.max < bound) continue;
    count += kernels.select_at_least(block.z, block.padded_size, bound, candidates_.data() + count);
  }

  // Now only logits matter, not tokens: which logit the cut falls on, and how many of the tokens with it are kept.
  double above = 0;  // weight of what is certainly kept
  count = narrow_candidates(count, scan.max(), temperature, target, &above);
  const float logit = candidates_.front();
  const double weight = weight_of(logit, scan.max(), temperature);
  const double needed = std::ceil((target - above) / weight);
  if (!(needed < static_cast<double>(count))) return {.bound = logit};

  auto ties = static_cast<std::ptrdiff_t>(std::max(1.0, needed));
  for (const RowScan::Block& block : scan.blocks()) {
    const auto here = std::count(block.z, block.z + block.size, logit);
    if (here < ties) {
      ties -= here;
      continue;
    }
    const float* tie = std::find(block.z, block.z + block.size, logit);
    for (; ties > 1; --ties) tie = std::find(tie + 1, block.z + block.size, logit);
    return {.bound = logit, .last_tie = block.first + static_cast<std::size_t>(tie - block.z)};
  }
  return {.bound = logit};
}

// Narrows the first `count` candidates to those equal to the logit where the weight, summed from the largest logit
// down, reaches `target`. Adds the weight of all larger ones to *above. Returns how many there are.
std::size_t Sampler::narrow_candidates(std::size_t count, float max, const Temperature& temperature, double target,
                                       double* above) {
  const DistributionKernels& kernels = distribution_kernels();
  histogram_.resize(kBins);
  for (;;) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto [low, high] = std::minmax_element(candidates_.begin(), end);
    const double highest = *high;
    if (*low == *high) return count;

    if (count <= kSortedCandidates) {
      std::sort(candidates_.begin(), end, std::greater<>());
      std::size_t first = 0;
      for (;;) {
        const float logit = candidates_[first];
        std::size_t next = first + 1;
        while (next < count && candidates_[next] == logit) ++next;
        const double weight = static_cast<double>(next - first) * weight_of(logit, max, temperature);
        if (next == count || *above + weight >= target) {
          candidates_.front() = logit;
          return next - first;
        }
        *above += weight;
        first = next;
      }
    }

    // The extremes fall into different bins, so every round leaves fewer.
    const double bins_per_logit = static_cast<double>(kBins) / (highest - static_cast<double>(*low));
    const auto bin_of = [&](float logit) {
      return std::min(kBins - 1, static_cast<std::size_t>((highest - static_cast<double>(logit)) * bins_per_logit));
    };
    std::fill(histogram_.begin(), histogram_.end(), 0.0);
    for (std::size_t first = 0; first < count; first += kBlockLogits) {
      const std::size_t size = std::min(kBlockLogits, count - first);
      const float* block = candidates_.data() + first;
      kernels.weights(block, padded(size), max, temperature, weights_);
      for (std::size_t i = 0; i < size; ++i) histogram_[bin_of(block[i])] += static_cast<double>(weights_[i]);
    }
    std::size_t bin = 0;
    while (bin + 1 < kBins && *above + histogram_[bin] < target) *above += histogram_[bin++];
    const auto kept = std::remove_if(candidates_.begin(), end, [&](float logit) { return bin_of(logit) != bin; });
    count = static_cast<std::size_t>(kept - candidates_.begin());
  }
}

double Sampler::block_weight(const RowScan& scan, const RowScan::Block& block, const Temperature& temperature,
                             const Cut* cut) {
  if (cut == nullptr) return block.sample_weight * weight_of(block.reference, scan.max(), temperature);
  if (block.max < cut->bound) return 0;
  const DistributionKernels& kernels = distribution_kernels();
  const std::size_t end = block.first + block.size;
  if (cut->last_tie < block.first || cut->last_tie + 1 >= end) {
    const float bound = cut->last_tie < block.first ? std::nextafter(cut->bound, kInfinity) : cut->bound;
    return kernels.weight_at_least(block.z, block.padded_size, scan.max(), temperature, bound);
  }
  kernels.weights(block.z, block.padded_size, scan.max(), temperature, weights_);
  double sum = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    if (cut->keeps(block.z[i], block.first + i)) sum += static_cast<double>(weights_[i]);
  }
  return sum;
}

// `cut` == nullptr keeps all.
Token Sampler::draw_from_blocks(const RowScan& scan, const Temperature& temperature, const Cut* cut, double u) {
  const auto blocks = scan.blocks();
  block_weights_.clear();
  double total = 0;
  for (const RowScan::Block& block : blocks) {
    block_weights_.push_back(block_weight(scan, block, temperature, cut));
    total += block_weights_.back();
  }

  const double target = u * total;
  double cumulative = 0;
  std::size_t chosen = blocks.size();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!(block_weights_[b] > 0)) continue;
    chosen = b;
    if (cumulative + block_weights_[b] > target) break;
    cumulative += block_weights_[b];
  }

  Token token = scan.top().front().token;
  if (chosen == blocks.size()) return token;
  const RowScan::Block& block = blocks[chosen];
  distribution_kernels().weights(block.z, block.padded_size, scan.max(), temperature, weights_);
  for (std::size_t i = 0; i < block.size; ++i) {
    if (!(weights_[i] > 0) || (cut != nullptr && !cut->keeps(block.z[i], block.first + i))) continue;
    token = static_cast<Token>(block.first + i);
    cumulative += static_cast<double>(weights_[i]);
    if (cumulative > target) break;
  }
  return token;  // when rounding lost the target: the block's last token that is possible
}

}  // namespace dts
