// The peer our step is measured against: the same batch on the same model, driven by nothing but llama.cpp's own API.
// No statistics, no sampling, no tree; what remains is what the model costs.
#pragma once

#include <memory>

#include "dts/llama.h"

struct llama_model;

namespace dts::bench {

// Everything that the model's speed depends on is as in the engine it is compared with.
struct BareLoopOptions {
  int branches = 1;    // sequences that step together
  int context = 2048;  // cells a sequence
  int threads = 1;
  KvType kv_type = KvType::kF16;
  KvLayout kv_layout = KvLayout::kStreams;
  bool flash_attention = false;
};

class BareLoop {
 public:
  // `model` must outlive the loop.
  BareLoop(llama_model* model, const BareLoopOptions& options);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Gives every sequence `tokens` tokens: sequence 0 evaluates them, the others get copies.
  void fill(int tokens);
  // Appends one token to every sequence and waits for the logits. Returns the seconds it took.
  double step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dts::bench
