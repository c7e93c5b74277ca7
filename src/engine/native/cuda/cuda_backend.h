// Steps on the GPU: one captured graph for each bucket of rows.
#pragma once

#include <memory>

#include "engine/native/backend.h"
#include "engine/native/cuda/cuda_weights.h"

namespace dts::native::cuda {

// Bytes of K and V of one page, all layers.
std::int64_t page_bytes(const Geometry& geometry, NativeKvType kv);

// Bytes that a backend takes beside its pages.
std::int64_t scratch_bytes(const Geometry& geometry, const BackendLimits& limits);

// `weights` must outlive it.
std::unique_ptr<Backend> make_cuda_backend(const CudaWeights& weights, const BackendLimits& limits);

}  // namespace dts::native::cuda
