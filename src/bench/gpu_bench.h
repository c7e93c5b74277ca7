// What a step of the native engine costs on the GPU, beside what memory alone would cost and what llama.cpp takes, and
// what whole runs cost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/gpu_runs.h"
#include "dts/llama.h"
#include "dts/native.h"

namespace dts::bench {

struct GpuBenchOptions {
  std::vector<std::string> geometries = {"1.5b", "7b", "qwen3-0.6b", "phi-4-mini"};  // random_model_presets()
  struct Case {
    int trees = 1;
    int branches = 48;         // of each tree
    int private_tokens = 256;  // of each branch
    NativeKvType kv = NativeKvType::kF16;
  };
  // Of several trees: of the first geometry alone.
  std::vector<Case> cases = {{1, 1, 256},
                             {1, 1, 1024},
                             {1, 8, 1024},
                             {1, 48, 256},
                             {1, 48, 1024},
                             {1, 48, 4096},
                             {1, 48, 4096, NativeKvType::kQ8_0},
                             {4, 48, 1024},
                             {8, 48, 1024}};
  int shared_tokens = 512;           // of each tree
  int steps = 20;                    // measured
  bool profiled = false;             // the measured steps alone are a profiler's: ncu --profile-from-start off
  double bytes_per_second = 4.3e12;  // that the floor is made with: what an H200 copies

  // The peer, on the same GPU, in the geometry `peer_geometry`; null: none. Must outlive the run.
  const LlamaModel* peer = nullptr;
  std::string peer_geometry = "1.5b";
  bool runs = true;                            // of that geometry: a tree beside a chain, questions at once
  std::vector<int> run_tokens = {1024, 4096};  // of a trajectory
  int questions = 8;                           // at once, and one after another
  int question_tokens = 512;                   // of a trajectory of theirs
};

struct GpuStep {
  std::string geometry;
  GpuBenchOptions::Case shape;
  double step = 0;      // seconds, median, all in: from the engine's call to the predictions
  double floor = 0;     // seconds: every weight and every distinct token's KV read once
  double peer = 0;      // seconds of llama.cpp's own loop, a stream a branch; 0: not measured
  double kv_bytes = 0;  // held after the last step, a distinct token of the trees
  double kv_ideal = 0;  // K and V of one token
};

// How much of the GPU's memory is left for KV, and what that is.
struct GpuRoom {
  std::string geometry;
  NativeKvType kv = NativeKvType::kF16;
  double token_bytes = 0;  // K and V of one token
  double kv_bytes = 0;     // left beside the weights and what a step needs
  int questions = 0;       // of 48 branches with 8,192 tokens each
};

// DTS-Greedy of 48 branches beside one chain of the same length.
struct ChainAndTree {
  int tokens = 0;      // of a trajectory
  RunTime tree;        // on the native engine
  RunTime chain;       // on the native engine
  RunTime peer_chain;  // on llama.cpp; 0 seconds: not measured
};

struct Questions {
  int questions = 0;
  int tokens = 0;
  RunTime together;
  RunTime one_by_one;
};

struct GpuBenchResult {
  std::vector<GpuStep> steps;
  std::vector<GpuRoom> rooms;
  std::vector<ChainAndTree> chains;
  std::vector<Questions> questions;
};

struct GpuBenchWatch {  // called after each; any may throw to leave, or be null
  std::function<void(const GpuStep&)> on_step;
  std::function<void(const GpuRoom&)> on_room;
  std::function<void(const ChainAndTree&)> on_chain;
  std::function<void(const Questions&)> on_questions;
};

// Was llama.cpp built for GPUs, and is there one?
bool llama_has_gpu();

// Throws dts::Error where there is no GPU.
GpuBenchResult run_gpu_bench(const GpuBenchOptions& options, const GpuBenchWatch& watch);

}  // namespace dts::bench
