// The weights in the device's memory, in bf16.
#pragma once

#include <functional>
#include <vector>

#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/kernels.h"
#include "engine/native/weight_source.h"

namespace dts::native::cuda {

struct CudaLayer {
  DeviceBuffer<bf16> attention_norm, qkv, qkv_bias, query_norm, key_norm, attention_output, feed_forward_norm, gate_up,
      down;
};

struct CudaWeights {
  // Throws when `progress` says so, or they do not fit.
  CudaWeights(const WeightSource& source, const std::function<bool(float)>& progress);

  const bf16* head() const { return geometry.tied ? embedding.get() : untied_head.get(); }

  Geometry geometry;
  DeviceBuffer<bf16> embedding, output_norm, untied_head;
  std::vector<CudaLayer> layers;
};

}  // namespace dts::native::cuda
