// The engine over a backend: branches share pages, and what they share is computed once.
#pragma once

#include <memory>
#include <string>

#include "dts/engine.h"
#include "engine/native/backend.h"

namespace dts::native {

struct EngineShape {
  std::string name;  // the model, as a person would name it
  std::string kind;  // "native CUDA"
  int max_branches = 0;
  int context = 0;  // tokens a branch
  int pages = 0;
  NativeKvType kv = NativeKvType::kF16;
};

inline constexpr int kPrefillChunk = 512;

// What a backend for it must bear.
BackendLimits limits_of(const EngineShape& shape);

// `device` must outlive the engine.
std::unique_ptr<Engine> make_native_engine(const Device& device, const Geometry& geometry, const EngineShape& shape);

}  // namespace dts::native
