#include "engine/native/random_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace dts::native {
namespace {

constexpr std::size_t kPeriod = (std::size_t{1} << 22U) + 7;  // odd: rows of a matrix differ

class RandomWeights final : public WeightSource {
 public:
  explicit RandomWeights(const Geometry& geometry) : geometry_(geometry), numbers_(kPeriod) {
    std::uint64_t state = 1;
    for (float& number : numbers_) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      number = static_cast<float>(static_cast<std::int32_t>(state >> 32U)) * 0x1.0p-31F * 1.7320508F;  // variance 1
    }
  }

  const Geometry& geometry() const override { return geometry_; }

  void read(Part part, int layer, const std::function<void(std::span<const float>)>& take) const override {
    const PartShape shape = shape_of(part, geometry_);
    const bool norm = part == Part::kAttentionNorm || part == Part::kFeedForwardNorm || part == Part::kOutputNorm ||
                      part == Part::kQueryNorm || part == Part::kKeyNorm;
    const float mean = norm ? 1.0F : 0.0F;
    const float deviation = shape.rows == 1 ? 0.05F : 1.0F / std::sqrt(static_cast<float>(shape.columns));
    std::vector<float> values;
    std::size_t at = (static_cast<std::size_t>(part) * 7919 + static_cast<std::size_t>(layer) * 104729) % kPeriod;
    for (std::int64_t left = shape.rows * shape.columns; left > 0;) {
      const std::size_t count = std::min(static_cast<std::size_t>(left), kPeriod - at);
      values.resize(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = mean + deviation * numbers_[at + i];
      take(values);
      left -= static_cast<std::int64_t>(count);
      at = 0;
    }
  }

 private:
  Geometry geometry_;
  std::vector<float> numbers_;
};

}  // namespace

std::unique_ptr<WeightSource> make_random_weights(const Geometry& geometry) {
  return std::make_unique<RandomWeights>(geometry);
}

}  // namespace dts::native
