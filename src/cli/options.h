// The option groups that commands share, each with the library's struct it becomes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "dts/llama.h"
#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/search.h"

namespace dts::cli {

enum class EngineChoice {
  kAuto,  // native where there is a GPU and it knows the model, else llama.cpp
  kLlama,
  kNative,     // on the GPU
  kNativeCpu,  // its oracle: slow
};

// Which model, and how it is held in memory.
struct ModelFlags {
  std::string path;  // GGUF; empty: the built-in model
  EngineChoice engine_choice = EngineChoice::kAuto;
  int gpu_layers = -1;   // -1: all that fit
  int context_size = 0;  // tokens a branch may hold; 0: chosen from the prompt and --predict
  int threads = 0;       // 0: one per core
  KvLayout kv = KvLayout::kStreams;
  KvType kv_type = KvType::kF16;
  Toggle flash_attention = Toggle::kAuto;
  Toggle batch_invariant = Toggle::kAuto;

  LlamaEngineOptions engine(int max_branches, int context_length) const;
};
void add_model_options(CLI::App& app, ModelFlags& flags);

// What is not given is the model's own recommendation.
struct SamplingFlags {
  std::optional<float> temperature;
  std::optional<int> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;

  SamplingOptions over(SamplingOptions recommended) const;
  // Where the values come from, for a record: "Qwen3 family", or "--temp, else Qwen3 family".
  std::string source(const std::string& recommended) const;
};
void add_sampling_options(CLI::App& app, SamplingFlags& flags);

// The method, its numbers, and where a search ends.
struct SearchFlags {
  std::string method = "dts-stable";
  MethodOptions numbers;
  float stat_temperature = 0.6F;
  std::uint64_t seed = 0;
  std::optional<int> predict;  // tokens a trajectory; none: what the context holds, at most 32768
  std::int64_t max_total_tokens = 0;
  double max_seconds = 0;

  // Throws a usage error for whatever is wrong with it without knowing the model.
  SearchOptions options() const;
};
void add_search_options(CLI::App& app, SearchFlags& flags);

}  // namespace dts::cli
