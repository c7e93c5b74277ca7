// A request for a prediction as the device reads it.
#pragma once

#include <cstdint>

#include "dts/prediction.h"
#include "engine/native/cuda/kernels.h"

namespace dts::native::cuda {

// What the device cannot do is left to the host: `by_host`.
DeviceSpec device_spec(const PredictionSpec& spec, std::uint64_t draw);

}  // namespace dts::native::cuda
