// Which model answers, and how it is held in memory: the options, and the library's struct they become.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "dts/llama.h"
#include "dts/remote.h"

namespace dts::cli {

// What decodes: in this process, or servers of that kind.
enum class EngineChoice {
  kAuto,  // by dts/local_model.h
  kLlama,
  kNative,        // on the GPU if there is one, else on the CPU
  kNativeCpu,     // on the CPU, whether there is a GPU or not
  kNativeOracle,  // slow and obvious
  kVllm,
  kSglang,
  kLlamaServer,
  kOpenai,
};

// Servers, and how long they are waited for. Seconds.
struct RemoteFlags {
  std::vector<std::string> urls;
  std::string api_key_variable;  // of the environment; the key itself is in no flag
  std::string served_model;
  std::string tokenizer;  // GGUF of the same model, for its vocabulary and template; empty: the servers'
  int candidates = 0;
  LogprobsScale logprobs = LogprobsScale::kAuto;
  double stall_timeout = 60;
  double first_token_timeout = 300;
  double patience = 0;
};

// Which model, and how it is held in memory.
struct ModelFlags {
  EngineChoice choice = EngineChoice::kAuto;
  RemoteFlags remote;
  std::string path;      // GGUF; empty: the built-in model, where there is no hub_repo either
  std::string hub_repo;  // "ORG/REPO[:QUANT]" of the hub
  std::string hub_file;  // of that repository; empty: by its quant
  int gpu_layers = -1;   // -1: all that fit
  int context_size = 0;  // tokens a branch may hold; 0: chosen from the prompt and --predict
  int threads = 0;       // 0: one per core
  KvLayout kv = KvLayout::kStreams;
  KvType kv_type = KvType::kF16;
  Toggle flash_attention = Toggle::kAuto;
  Toggle batch_invariant = Toggle::kAuto;

  bool is_built_in() const { return path.empty() && hub_repo.empty() && !is_remote(); }
  bool is_remote() const { return choice >= EngineChoice::kVllm; }
  LlamaEngineOptions engine(int max_branches, int context_length) const;
};
void add_model_options(CLI::App& app, ModelFlags& flags);

}  // namespace dts::cli
