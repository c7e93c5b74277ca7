#include "engine/native/cuda/cuda_weights.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "dts/error.h"

namespace dts::native::cuda {
namespace {

float rounded_to(float value, float /*type*/) { return value; }
f16 rounded_to(float value, f16 /*type*/) {
  constexpr float kMostHalf = 65504;
  if (std::fabs(value) > kMostHalf) {
    throw Error(fmt::format("a weight is {}, and the native engine can hold {} at most: use the engine llama", value,
                            kMostHalf));
  }
  return __float2half(value);
}

template <typename T>
DeviceBuffer<T> upload(const WeightSource& source, Part part, int layer) {
  const PartShape shape = shape_of(part, source.geometry());
  DeviceBuffer<T> out(static_cast<std::size_t>(shape.rows * shape.columns));
  std::vector<T> rounded;
  std::size_t done = 0;
  source.read(part, layer, [&](std::span<const float> values) {
    rounded.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) rounded[i] = rounded_to(values[i], T());
    dts::check(done + values.size() <= out.size(), "a part of the weights has the size that its shape says");
    check(cudaMemcpy(out.get() + done, rounded.data(), rounded.size() * sizeof(T), cudaMemcpyHostToDevice),
          "loading weights");
    done += values.size();
  });
  dts::check(done == out.size(), "a part of the weights has the size that its shape says");
  return out;
}

}  // namespace

CudaWeights::CudaWeights(const WeightSource& source, const std::function<bool(float)>& progress)
    : geometry(source.geometry()) {
  const auto report = [&](int layer) {
    const float done = static_cast<float>(layer + 1) / static_cast<float>(geometry.layers + 1);
    if (progress && !progress(done)) throw Error("loading was cancelled");
  };
  embedding = upload<f16>(source, Part::kEmbedding, 0);
  output_norm = upload<float>(source, Part::kOutputNorm, 0);
  if (!geometry.tied) untied_head = upload<f16>(source, Part::kHead, 0);
  report(0);
  for (int i = 0; i < geometry.layers; ++i) {
    CudaLayer& layer = layers.emplace_back();
    layer.attention_norm = upload<float>(source, Part::kAttentionNorm, i);
    layer.qkv = upload<f16>(source, Part::kQkv, i);
    if (geometry.qkv_bias) layer.qkv_bias = upload<float>(source, Part::kQkvBias, i);
    if (geometry.head_norms) {
      layer.query_norm = upload<float>(source, Part::kQueryNorm, i);
      layer.key_norm = upload<float>(source, Part::kKeyNorm, i);
    }
    layer.attention_output = upload<f16>(source, Part::kAttentionOutput, i);
    layer.feed_forward_norm = upload<float>(source, Part::kFeedForwardNorm, i);
    layer.gate_up = upload<f16>(source, Part::kGateUp, i);
    layer.down = upload<f16>(source, Part::kDown, i);
    report(i + 1);
  }
}

}  // namespace dts::native::cuda
