// Writes GGUF models with random weights: stand-ins for tests, for benchmarks without a download, and for `dts run`
// before a real model is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dts {

struct RandomModelOptions {
  // Architecture, as general.architecture names it: "qwen2", "qwen3", "phi3" or "llama".
  std::string architecture = "qwen3";
  int layers = 2;
  int embedding = 64;      // width of the residual stream
  int heads = 4;           // query heads
  int kv_heads = 2;        // divides heads
  int head_size = 16;      // even; qwen2 and phi3 need embedding / heads
  int feed_forward = 128;  // inner width
  int experts = 0;         // of each feed-forward layer, 2 of them used by a token; 0: no mixture. "llama" only
  int context = 4096;      // training context, tokens
  bool tied = false;       // the output head is the embedding table
  // ggml's name of the weights' type: "f32", "f16", "bf16", "q8_0", "q4_0", ... Norms and biases are f32 always.
  std::string weight_type = "f16";

  // A GGUF whose vocabulary and chat template are borrowed. Empty: a synthetic one of bytes, some words, <think> tags
  // and chat tokens, padded to `vocabulary_size`.
  std::string vocabulary_file;
  int vocabulary_size = 512;        // of the synthetic vocabulary; >= 512
  std::string chat_template;        // replaces the vocabulary's own when not empty
  bool chat_template_none = false;  // no template at all

  // Standard deviation of the logits, in nats. 1.6 makes about a tenth of the tokens decision tokens at 512 tokens.
  float sharpness = 1.6F;
  // How much more the end token's logit varies than the others': the larger, the sooner trajectories end.
  float end_emphasis = 1.0F;
  std::uint64_t seed = 1;
  std::string name = "random weights";
};

// Names understood by random_model_preset(): geometries of real models, and "tiny".
std::span<const std::string_view> random_model_presets();

// The geometry of a named model, weights q8_0, with `layers` layers (0: as many as the model has). Throws a usage error
// that lists the names for an unknown one.
RandomModelOptions random_model_preset(std::string_view name, int layers = 0);

// Writes the model, or throws dts::Error and leaves no file behind. The same options give the same bytes.
void write_random_model(const std::string& path, const RandomModelOptions& options);

}  // namespace dts
