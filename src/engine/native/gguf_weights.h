// The weights of a GGUF file of a dense family: qwen2, qwen3, llama, phi3. Of any type that ggml can expand.
#pragma once

#include <memory>
#include <string>

#include "engine/native/weight_source.h"

namespace dts::native {

// Null, and `why` in words, when the file is a model that this engine does not know: another family, experts, a RoPE
// scaling it has no code for, a tensor it would leave out. Throws dts::Error when it is no model at all.
std::unique_ptr<WeightSource> open_gguf_weights(const std::string& path, std::string& why);

}  // namespace dts::native
