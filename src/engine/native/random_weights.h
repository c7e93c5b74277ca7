// Random weights in a given geometry, made as they are asked for: for benchmarks, without a file.
#pragma once

#include <memory>

#include "engine/native/weight_source.h"

namespace dts::native {

// Of such sizes that the residual stream neither dies nor grows out of hand. The numbers repeat every few million.
std::unique_ptr<WeightSource> make_random_weights(const Geometry& geometry);

}  // namespace dts::native
