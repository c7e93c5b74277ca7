// Small models of every family, and the devices that this machine has for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dts/native.h"
#include "support/llama_models.h"

namespace dts {

inline std::vector<NativeDevice> native_devices() {
  std::vector<NativeDevice> devices = {NativeDevice::kOracle, NativeDevice::kCpu};
  if (why_no_native_gpu().empty()) devices.push_back(NativeDevice::kCuda);
  return devices;
}

inline const char* name_of(NativeDevice device) {
  return device == NativeDevice::kOracle ? "Oracle" : device == NativeDevice::kCpu ? "CPU" : "CUDA";
}

inline std::vector<NativeKvType> kv_types(NativeDevice device) {
  std::vector<NativeKvType> types = {NativeKvType::kF16, NativeKvType::kQ8_0};
  if (device != NativeDevice::kCuda) types.push_back(NativeKvType::kBf16);
  return types;
}

inline RandomModelOptions family_options(const std::string& architecture) {
  RandomModelOptions options = random_model_preset("tiny");
  options.architecture = architecture;
  options.embedding = 128;
  options.heads = 4;
  options.kv_heads = 2;
  options.head_size = 32;
  options.layers = 3;
  options.weight_type = "bf16";
  return options;
}

}  // namespace dts
