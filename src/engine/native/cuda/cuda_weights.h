// The weights in the device's memory: matrices in half precision, vectors in single.
#pragma once

#include <functional>
#include <vector>

#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/kernels.h"
#include "engine/native/weight_source.h"

namespace dts::native::cuda {

struct CudaLayer {
  DeviceBuffer<f16> qkv, attention_output, gate_up, down;
  DeviceBuffer<float> attention_norm, qkv_bias, query_norm, key_norm, feed_forward_norm;
};

struct CudaWeights {
  // Throws when `progress` says so, or they do not fit.
  CudaWeights(const WeightSource& source, const std::function<bool(float)>& progress);

  const f16* head() const { return geometry.tied ? embedding.get() : untied_head.get(); }

  Geometry geometry;
  DeviceBuffer<f16> embedding, untied_head;
  DeviceBuffer<float> output_norm;
  std::vector<CudaLayer> layers;
};

}  // namespace dts::native::cuda
