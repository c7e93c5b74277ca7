#include "engine/native/cuda/device_spec.h"

#include <algorithm>

namespace dts::native::cuda {

DeviceSpec device_spec(const PredictionSpec& spec, std::uint64_t draw) {
  const SamplingOptions& sampling = spec.sampling;
  constexpr float kLog2E = 1.44269504F;
  const auto usual = [](float t) { return t >= 0.01F && t <= 100.0F; };
  DeviceSpec out;
  out.draw = draw;
  out.confidence_k = std::max(0, spec.confidence_k);
  out.stat_scale = kLog2E / spec.stat_temperature;
  const bool greedy = !(sampling.temperature > 0);
  out.sample_inverse = greedy ? 0.0 : 1.0 / static_cast<double>(sampling.temperature);
  out.sample_top_k = sampling.top_k;
  out.top_p = sampling.top_p;
  out.min_p = sampling.min_p;
  const bool ranks = spec.top_k <= kRanked && spec.confidence_k <= kRanked;
  out.by_host = !ranks || !usual(spec.stat_temperature) || !(greedy || usual(sampling.temperature)) ? 1 : 0;
  return out;
}

}  // namespace dts::native::cuda
