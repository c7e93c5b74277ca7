#include "engine/native/cuda/cuda_weights.h"

#include "base/check.h"
#include "dts/error.h"

namespace dts::native::cuda {
namespace {

DeviceBuffer<bf16> upload(const WeightSource& source, Part part, int layer) {
  const PartShape shape = shape_of(part, source.geometry());
  DeviceBuffer<bf16> out(static_cast<std::size_t>(shape.rows * shape.columns));
  std::vector<bf16> rounded;
  std::size_t done = 0;
  source.read(part, layer, [&](std::span<const float> values) {
    rounded.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) rounded[i] = __float2bfloat16(values[i]);
    dts::check(done + values.size() <= out.size(), "a part of the weights has the size that its shape says");
    check(cudaMemcpy(out.get() + done, rounded.data(), rounded.size() * sizeof(bf16), cudaMemcpyHostToDevice),
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
  embedding = upload(source, Part::kEmbedding, 0);
  output_norm = upload(source, Part::kOutputNorm, 0);
  if (!geometry.tied) untied_head = upload(source, Part::kHead, 0);
  report(0);
  for (int i = 0; i < geometry.layers; ++i) {
    CudaLayer& layer = layers.emplace_back();
    layer.attention_norm = upload(source, Part::kAttentionNorm, i);
    layer.qkv = upload(source, Part::kQkv, i);
    if (geometry.qkv_bias) layer.qkv_bias = upload(source, Part::kQkvBias, i);
    if (geometry.head_norms) {
      layer.query_norm = upload(source, Part::kQueryNorm, i);
      layer.key_norm = upload(source, Part::kKeyNorm, i);
    }
    layer.attention_output = upload(source, Part::kAttentionOutput, i);
    layer.feed_forward_norm = upload(source, Part::kFeedForwardNorm, i);
    layer.gate_up = upload(source, Part::kGateUp, i);
    layer.down = upload(source, Part::kDown, i);
    report(i + 1);
  }
}

}  // namespace dts::native::cuda
