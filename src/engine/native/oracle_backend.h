// The oracle: the model in plain loops of single precision, K and V in single precision, on one thread. Slow and
// obvious; what the fast backends are compared with, and what runs the engine's tests where there is no GPU.
#pragma once

#include <memory>

#include "engine/native/backend.h"

namespace dts::native {

std::unique_ptr<Device> make_oracle_device(const WeightSource& source);

}  // namespace dts::native
