// Which model answers, and how it is held in memory: the options, and the library's struct they become.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "dts/llama.h"

namespace dts::cli {

// Which model, and how it is held in memory.
struct ModelFlags {
  std::string path;      // GGUF; empty: the built-in model
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

}  // namespace dts::cli
