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
constexpr std::size_t kHistograms = 4;
constexpr std::size_t kSortedAtOnce = 512;

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
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kInfinity) : rounded;
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
  if (truncates(options, scan.logits().size())) {
    if (cut_top(scan, options, temperature)) return draw_from_kept(u, most_probable);
  } else {
    weigh_blocks_roughly(scan, temperature);
    const Choice choice = draw_from_blocks(scan, temperature, {}, u);
    if (choice.margin > kRoughError * scan.sample_weight()) return choice.token;
  }

  Cut cut;
  if (options.top_p < 1) cut = cut_top_p(scan, std::max(0.0, double{options.top_p}), temperature);
  float least = -kLargest;
  if (options.min_p > 0) {
    const double depth = std::log(std::min(1.0, double{options.min_p})) / temperature.inverse;
    least = round_up(static_cast<double>(scan.max()) + depth);
  }
  if (!(options.top_p < 1) || least > cut.bound) {
    cut = {.bound = least};
    weigh_blocks(scan, temperature, cut);
  }
  return draw_from_blocks(scan, temperature, cut, u).token;
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
  double uncertainty = 0;  // of top_p * total
  if (!complete) {
    total = scan.sample_weight();
    uncertainty = kRoughError * total;
  }

  const double target = options.top_p < 1 ? double{options.top_p} * total : kInfinity;
  double cumulative = 0;
  std::size_t count = 0;
  for (; count < kept_.size(); ++count) {
    const bool reached = cumulative >= target + uncertainty;
    if (count > 0 && (reached || kept_[count].weight < double{options.min_p})) break;
    if (count > 0 && cumulative >= target - uncertainty && uncertainty > 0) return false;
    cumulative += kept_[count].weight;
  }
  const bool decided = count < kept_.size() || complete || cumulative >= target + uncertainty;
  kept_.resize(count);
  return decided;
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

void Sampler::weigh_blocks_roughly(const RowScan& scan, const Temperature& temperature) {
  block_weights_.clear();
  for (const RowScan::Block& block : scan.blocks()) {
    block_weights_.push_back(block.sample_weight * weight_of(block.reference, scan.max(), temperature));
  }
}

// For cuts that keep all ties.
void Sampler::weigh_blocks(const RowScan& scan, const Temperature& temperature, const Cut& cut) {
  const DistributionKernels& kernels = distribution_kernels();
  block_weights_.clear();
  for (const RowScan::Block& block : scan.blocks()) {
    const bool some = block.max >= cut.bound;
    block_weights_.push_back(
        some ? kernels.partition(block.z, block.padded_size, scan.max(), temperature, cut.bound, cut.bound, nullptr)
                   .above
             : 0.0);
  }
}

Sampler::Cut Sampler::cut_top_p(const RowScan& scan, double top_p, const Temperature& temperature) {
  const DistributionKernels& kernels = distribution_kernels();
  const Bracket bracket = bracket_top_p(scan, top_p, temperature);
  candidates_.resize(std::max(candidates_.size(), scan.logits().size() + 2 * kLogitPadding));
  block_weights_.clear();
  block_candidates_.clear();
  double total = 0;
  double above = 0;
  std::size_t count = 0;
  for (const RowScan::Block& block : scan.blocks()) {
    const BlockPartition part = kernels.partition(block.z, block.padded_size, scan.max(), temperature, bracket.low,
                                                  bracket.high, candidates_.data() + count);
    block_weights_.push_back(part.above);
    block_candidates_.push_back(part.selected);
    total += part.total;
    above += part.above;
    count += part.selected;
  }

  narrowed_.resize(std::max(narrowed_.size(), count));
  std::copy_n(candidates_.begin(), count, narrowed_.begin());
  const Boundary boundary =
      find_boundary(std::span(narrowed_).first(count), scan.max(), temperature, top_p * total - above);

  Cut cut{.bound = boundary.logit};
  std::size_t ties = boundary.ties;
  const float* candidate = candidates_.data();
  for (std::size_t b = 0; b < scan.blocks().size(); ++b) {
    const RowScan::Block& block = scan.blocks()[b];
    std::size_t ties_here = 0;
    for (const float* end = candidate + block_candidates_[b]; candidate != end; ++candidate) {
      const bool tie = *candidate == boundary.logit;
      if (*candidate < boundary.logit || (tie && ties_here == ties)) continue;
      ties_here += tie ? 1 : 0;
      block_weights_[b] += weight_of(*candidate, scan.max(), temperature);
    }
    if (ties_here > 0 && ties_here == ties) {
      const float* last = block.z - 1;
      for (std::size_t i = 0; i < ties_here; ++i) last = std::find(last + 1, block.z + block.size, boundary.logit);
      cut.last_tie = block.first + static_cast<std::size_t>(last - block.z);
    }
    ties -= ties_here;
  }
  return cut;
}

Sampler::Bracket Sampler::bracket_top_p(const RowScan& scan, double top_p, const Temperature& temperature) {
  const double total = scan.sample_weight();
  // All tokens lighter than an n-th of the mass that may be dropped are dropped, even if there are n of them. The half
  // is for rounding.
  const double negligible = 0.5 * std::max(1.0 - top_p, kRoughError) / static_cast<double>(scan.logits().size());
  const double depth = -std::log(negligible * total) / temperature.inverse;

  const DistributionKernels& kernels = distribution_kernels();
  const auto bins_per_logit = static_cast<float>(static_cast<double>(kBins - 1) / depth);
  // Neighbours go to different histograms: adding twice in a row to the same number waits for memory.
  histogram_.assign(kHistograms * kBins, 0.0);
  for (const RowScan::Block& block : scan.blocks()) {
    if (static_cast<double>(scan.max()) - static_cast<double>(block.max) > depth) continue;
    kernels.rough_weights(block.z, block.padded_size, scan.max(), temperature, rough_weights_);
    for (std::size_t i = 0; i < block.padded_size; ++i) {
      bins_[i] = static_cast<std::int32_t>(
          std::min((scan.max() - block.z[i]) * bins_per_logit, static_cast<float>(kBins - 1)));
    }
    for (std::size_t i = 0; i < block.padded_size; i += kHistograms) {
      for (std::size_t h = 0; h < kHistograms; ++h) {
        histogram_[h * kBins + static_cast<std::size_t>(bins_[i + h])] += static_cast<double>(rough_weights_[i + h]);
      }
    }
  }
  for (std::size_t i = kBins; i < kHistograms * kBins; ++i) histogram_[i % kBins] += histogram_[i];

  const double target = top_p * total;
  const double uncertainty = kRoughError * total;
  double above = 0;
  std::size_t first = 0;
  while (first + 1 < kBins && above + histogram_[first] < target - uncertainty) above += histogram_[first++];
  std::size_t last = first;
  while (last + 1 < kBins && above + histogram_[last] < target + uncertainty) above += histogram_[last++];

  // A hundredth of a bin more on both sides, for the rounding of the bins.
  const auto edge = [&](double bin) {
    return static_cast<double>(scan.max()) - bin / static_cast<double>(kBins - 1) * depth;
  };
  Bracket bracket;
  bracket.high = first == 0 ? kInfinity : round_up(edge(static_cast<double>(first) - 0.01));
  bracket.low = last + 1 == kBins ? -kLargest : round_up(edge(static_cast<double>(last) + 1.01));
  return bracket;
}

Sampler::Boundary Sampler::find_boundary(std::span<float> logits, float max, const Temperature& temperature,
                                         double target) {
  double above = 0;
  while (logits.size() > kSortedAtOnce) {
    const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
    if (*low == *high) break;
    // The extremes fall into different bins, so every round leaves fewer.
    const double highest = *high;
    const double bins_per_logit = static_cast<double>(kBins) / (highest - static_cast<double>(*low));
    const auto bin_of = [&](float logit) {
      return std::min(kBins - 1, static_cast<std::size_t>((highest - static_cast<double>(logit)) * bins_per_logit));
    };
    histogram_.assign(kBins, 0.0);
    for (const float logit : logits) histogram_[bin_of(logit)] += weight_of(logit, max, temperature);
    std::size_t bin = 0;
    while (bin + 1 < kBins && above + histogram_[bin] < target) above += histogram_[bin++];
    const auto kept = std::remove_if(logits.begin(), logits.end(), [&](float logit) { return bin_of(logit) != bin; });
    logits = logits.first(static_cast<std::size_t>(kept - logits.begin()));
  }

  std::sort(logits.begin(), logits.end(), std::greater<>());
  for (std::size_t first = 0;;) {
    const float logit = logits[first];
    const std::size_t next =
        static_cast<std::size_t>(std::find_if(logits.begin() + static_cast<std::ptrdiff_t>(first), logits.end(),
                                              [&](float other) { return other != logit; }) -
                                 logits.begin());
    const double weight = weight_of(logit, max, temperature);
    const auto ties = static_cast<double>(next - first);
    if (next == logits.size() || above + ties * weight >= target) {
      const double needed = std::clamp(std::ceil((target - above) / weight), 1.0, ties);
      return {.logit = logit, .ties = static_cast<std::size_t>(needed)};
    }
    above += ties * weight;
    first = next;
  }
}

Sampler::Choice Sampler::draw_from_blocks(const RowScan& scan, const Temperature& temperature, const Cut& cut,
                                          double u) {
  const auto blocks = scan.blocks();
  double total = 0;
  for (const double weight : block_weights_) total += weight;
  const double target = u * total;
  double cumulative = 0;
  std::size_t chosen = blocks.size();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!(block_weights_[b] > 0)) continue;
    chosen = b;
    if (cumulative + block_weights_[b] > target) break;
    cumulative += block_weights_[b];
  }
  if (chosen == blocks.size()) return {.token = scan.top().front().token, .margin = 0};

  // When rounding loses the target, the block's last token that is possible.
  const RowScan::Block& block = blocks[chosen];
  distribution_kernels().weights(block.z, block.padded_size, scan.max(), temperature, weights_);
  Choice choice{.token = scan.top().front().token, .margin = 0};
  for (std::size_t i = 0; i < block.size; ++i) {
    if (!(weights_[i] > 0) || !cut.keeps(block.z[i], block.first + i)) continue;
    const double before = target - cumulative;
    cumulative += weights_[i];
    choice = {.token = static_cast<Token>(block.first + i), .margin = std::min(before, cumulative - target)};
    if (cumulative > target) break;
  }
  return choice;
}

}  // namespace dts
