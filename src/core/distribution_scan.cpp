#include "core/distribution_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace dts {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Orders like (logit, -token): the larger key ranks higher.
std::uint64_t rank_key(float logit, std::size_t token) {
  const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);  // + 0 makes -0 equal to 0
  const std::uint32_t ordered = (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
  return (std::uint64_t{ordered} << 32U) | (0xFFFFFFFFU - static_cast<std::uint32_t>(token));
}

Token token_of(std::uint64_t key) { return static_cast<Token>(0xFFFFFFFFU - static_cast<std::uint32_t>(key)); }

float logit_of(std::uint64_t key) {
  const auto ordered = static_cast<std::uint32_t>(key >> 32U);
  return std::bit_cast<float>((ordered >> 31U) != 0 ? ordered & 0x7FFFFFFFU : ~ordered);
}

}  // namespace

void TopLogits::reset(std::size_t k) {
  k_ = k;
  bound_ = kMinusInfinity;
  size_ = 0;
  const std::size_t capacity = 2 * k + 2 * kLogitPadding;
  if (keys_.size() < capacity) {
    keys_.resize(capacity);
    indices_.resize(capacity);
    ranked_.resize(k);
  }
}

void TopLogits::offer(const DistributionKernels& kernels, const float* z, std::size_t n, std::size_t first) {
  const std::size_t capacity = 2 * k_ + 2 * kLogitPadding;
  std::size_t position = 0;
  while (position < n) {
    if (capacity - size_ < kLogitPadding) shrink();
    const std::size_t count = kernels.indices_above(z, n, &position, bound_, indices_.data(), capacity - size_);
    for (std::size_t i = 0; i < count; ++i) keys_[size_++] = rank_key(z[indices_[i]], first + indices_[i]);
  }
}

// Later tokens that only equal the k-th best rank below it, so from here on a strict bound loses nothing.
void TopLogits::shrink() {
  const auto kth = keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
  std::nth_element(keys_.begin(), kth, keys_.begin() + static_cast<std::ptrdiff_t>(size_), std::greater<>());
  bound_ = logit_of(*kth);
  size_ = k_;
}

std::span<const RankedLogit> TopLogits::finish(std::span<const float> logits) {
  if (size_ > k_) shrink();
  std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_), std::greater<>());
  for (std::size_t i = 0; i < size_; ++i) {
    const Token token = token_of(keys_[i]);
    ranked_[i] = {.logit = logits[static_cast<std::size_t>(token)], .token = token};
  }
  return std::span(ranked_).first(size_);
}

bool RowScan::run(std::span<const float> logits, const Request& request) {
  logits_ = logits;
  request_ = request;
  set_temperatures();
  cut_into_blocks();
  top_.reset(request.top);
  reference_ = kMinusInfinity;
  sums_ = {};

  const DistributionKernels& kernels = distribution_kernels();
  for (Block& block : blocks_) {
    const BlockExtent extent = kernels.extent(block.z, block.padded_size);
    if (extent.invalid) return false;
    block.max = extent.max;
    if (extent.max == kMinusInfinity) continue;
    if (extent.max > reference_) raise_reference(extent.max);
    if (extent.max > top_.bound()) top_.offer(kernels, block.z, block.padded_size, block.first);

    const double highest = (static_cast<double>(extent.max) - static_cast<double>(reference_)) * smallest_scale_;
    if (highest <= kZeroExponent) continue;
    const BlockSums sums = kernels.sums(block.z, block.padded_size, reference_, temperatures_, n_temperatures_);
    for (std::size_t t = 0; t < n_temperatures_; ++t) sums_.weight[t] += sums.weight[t];
    sums_.first += sums.first;
    sums_.second += sums.second;
    block.reference = reference_;
    block.sample_weight = sums.weight[sample_index_];
  }
  if (reference_ == kMinusInfinity) return false;
  log_partition_ = std::log(sums_.weight[unit_index_]);
  ranked_ = top_.finish(logits_);
  return true;
}

void RowScan::set_temperatures() {
  const auto index_of = [this](float temperature) {
    const Temperature wanted = Temperature::of(temperature);
    std::size_t i = 0;
    while (i < n_temperatures_ && temperatures_[i].scale != wanted.scale) ++i;
    if (i == n_temperatures_) temperatures_[n_temperatures_++] = wanted;
    return i;
  };
  n_temperatures_ = 0;
  index_of(request_.stat_temperature);
  unit_index_ = index_of(1.0F);
  sample_index_ = request_.sample_temperature > 0 ? index_of(request_.sample_temperature) : unit_index_;
  smallest_scale_ = temperatures_[0].scale;
  for (std::size_t i = 1; i < n_temperatures_; ++i) {
    smallest_scale_ = std::min(smallest_scale_, temperatures_[i].scale);
  }
}

void RowScan::cut_into_blocks() {
  blocks_.clear();
  for (std::size_t first = 0; first < logits_.size(); first += kBlockLogits) {
    Block block;
    block.first = first;
    block.size = std::min(kBlockLogits, logits_.size() - first);
    block.padded_size = padded(block.size);
    block.z = logits_.data() + first;
    if (block.padded_size != block.size) {
      std::copy_n(block.z, block.size, tail_);
      std::fill(tail_ + block.size, tail_ + block.padded_size, kMinusInfinity);
      block.z = tail_;
    }
    blocks_.push_back(block);
  }
}

// With x = x' + shift and w = w' * 2^shift, where ' is relative to the old reference. Everything has one sign, so
// nothing cancels.
void RowScan::raise_reference(float max) {
  const double rise = static_cast<double>(reference_) - static_cast<double>(max);  // < 0, -infinity at first
  reference_ = max;
  for (std::size_t t = 0; t < n_temperatures_; ++t) {
    const double shift = rise * temperatures_[t].scale;
    const double factor = shift > kZeroExponent ? std::exp2(shift) : 0.0;
    if (t == 0) {
      sums_.second = factor > 0 ? factor * (sums_.second + shift * (2 * sums_.first + shift * sums_.weight[0])) : 0.0;
      sums_.first = factor > 0 ? factor * (sums_.first + shift * sums_.weight[0]) : 0.0;
    }
    sums_.weight[t] *= factor;
  }
}

double RowScan::entropy() const {
  const double mean = sums_.first / sums_.weight[0];
  return std::max(0.0, std::log(sums_.weight[0]) - mean * std::numbers::ln2);
}

double RowScan::varentropy() const {
  const double mean = sums_.first / sums_.weight[0];
  const double variance = sums_.second / sums_.weight[0] - mean * mean;
  return std::max(0.0, variance * std::numbers::ln2 * std::numbers::ln2);
}

double RowScan::logprob(float logit) const {
  return static_cast<double>(logit) - static_cast<double>(reference_) - log_partition_;
}

}  // namespace dts
