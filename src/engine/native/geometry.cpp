#include "engine/native/geometry.h"

#include <cmath>

namespace dts::native {

std::vector<float> Rope::frequencies(int context) const {
  const std::vector<float>& divisors = !long_factors.empty() && context > original_context ? long_factors : factors;
  std::vector<float> out(static_cast<std::size_t>(rotated / 2));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double frequency = std::pow(static_cast<double>(base), -2.0 * static_cast<double>(i) / rotated);
    const double divisor = divisors.empty() ? 1.0 : static_cast<double>(divisors[i]);
    out[i] = static_cast<float>(frequency * static_cast<double>(scale) / divisor);
  }
  return out;
}

std::int64_t Geometry::parameters() const {
  const std::int64_t w = width;
  const std::int64_t attention = w * qkv_width() + w * q_width() + (qkv_bias ? qkv_width() : 0);
  const std::int64_t norms = 2 * w + (head_norms ? 2 * head_size : 0);
  const std::int64_t layer = attention + norms + 3 * w * feed_forward;
  return layer * layers + w + w * n_vocab * (tied ? 1 : 2);
}

}  // namespace dts::native
