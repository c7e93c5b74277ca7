// The definition of a Prediction, in scalar double precision: slow and obvious. Tests and benchmarks compare
// distribution.h with it; nothing else uses it.
#pragma once

#include <cstdint>
#include <span>

#include "dts/prediction.h"

namespace dts {

Prediction predict_oracle(std::span<const float> logits, const PredictionSpec& spec, std::uint64_t draw);

}  // namespace dts
