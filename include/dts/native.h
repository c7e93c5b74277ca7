// The native engine: a GGUF model of a dense family on kernels of our own, made for trees. Branches share pages of KV,
// what they share is read once a step, and a branch's predictions are, to the last bit, the same whatever else is
// decoded.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dts/model.h"

namespace dts {

enum class NativeDevice {
  kCuda,    // a GPU; only where this was built with CUDA
  kCpu,     // its vector units, over packed weights
  kOracle,  // plain loops on the CPU, slow and obvious: what the others are checked with
};

// What K and V are rounded to. On NativeDevice::kOracle they lie in single precision either way.
enum class NativeKvType {
  kF16,   // on NativeDevice::kOracle: not rounded
  kBf16,  // as much memory, the range of single precision and 8 binary digits; not on NativeDevice::kCuda
  kQ8_0,  // 8 bits an element and a scale for 32 of them, as in ggml's type: 0.53 of the memory
};

std::string_view name_of(NativeKvType type);  // as ggml spells it: "q8_0"

struct NativeModelOptions {
  std::string path;  // GGUF, one file
  NativeDevice device = NativeDevice::kCuda;
  NativeKvType kv_type = NativeKvType::kF16;
  int threads = 0;                          // of each engine on the CPU; 0: one a core, fewer for a very small model
  std::function<bool(float)> on_load = {};  // progress 0..1; false aborts the loading
};

// Why this machine has no device for it, in words: "this was built without CUDA". Empty: it has.
std::string why_no_native_gpu();

// Why this CPU has no fast kernels: "this CPU has neither AVX2 nor NEON". Empty: it has.
std::string why_no_native_cpu();

// Why the fast CPU kernels cannot run that model here, in words: "they have none for q2_K weights". Empty: they can.
std::string why_not_native_cpu(const std::string& path, NativeKvType kv = NativeKvType::kF16);

// Why the engine cannot run that model, in words: "it knows qwen2, qwen3, llama and phi3, not 'gemma2'". Empty: it can.
// Throws dts::Error when the file is no model at all.
std::string why_not_native(const std::string& path);

struct NativeModelImpl;

// Weights on a device, and the vocabulary; read only, shared by any number of engines.
class NativeModel final : public Model {
 public:
  // Throws dts::Error naming the file and what is wrong with it, or the device.
  explicit NativeModel(const NativeModelOptions& options);
  ~NativeModel() override;

  const ModelInfo& info() const override;
  const Vocabulary& vocabulary() const override;
  RecommendedSampling recommended_sampling() const override;
  EnginePlan plan_engine(const EngineRequest& request) const override;

 private:
  std::unique_ptr<NativeModelImpl> impl_;
};

}  // namespace dts
