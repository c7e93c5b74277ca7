// A llama.cpp context of a given shape, its threads, and batches for it.
#pragma once

#include <llama.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dts/interruption.h"
#include "dts/llama.h"
#include "dts/prediction.h"
#include "engine/llama/llama_model.h"

namespace dts {

ggml_type ggml_type_of(KvType type);

// Threads that stay between evaluations: creating them for each would dominate the step of a small model.
class ModelThreads {
 public:
  explicit ModelThreads(int threads);
  ~ModelThreads();
  ModelThreads(const ModelThreads&) = delete;
  ModelThreads& operator=(const ModelThreads&) = delete;

  int threads() const { return threads_; }
  ggml_threadpool* get() const { return pool_; }  // null: llama.cpp has no pool of its own and makes threads itself

 private:
  int threads_;
  ggml_threadpool* pool_ = nullptr;
};

// How contexts are made; the same for all contexts of an engine.
struct ContextSettings {
  bool unified = false;
  bool flash_attention = false;
  ggml_type kv_type = GGML_TYPE_F16;
  int ubatch = 128;  // tokens evaluated at once
  int batch = 128;   // tokens a call may carry
  int outputs = 1;   // rows of logits a call may ask for
  // A step's rows are padded to at least, and to a multiple of, so many: then a row's logits do not depend on how many
  // others there are.
  int least_rows = 1;
  int row_multiple = 1;
  bool batch_invariant = false;  // and so it does not
  bool lone_rows_alone = false;  // but for a search's only row
};

class LlamaContext {
 public:
  // `sequences` branches of `cells` tokens each; unified: `cells` tokens in all. `interruption`, which outlives it,
  // ends evaluations on the CPU. Throws dts::Error when it cannot be made.
  LlamaContext(const LlamaModelImpl& model, const ContextSettings& settings, const ModelThreads& threads, int sequences,
               int cells, const Interruption* interruption = nullptr);
  ~LlamaContext();
  LlamaContext(const LlamaContext&) = delete;
  LlamaContext& operator=(const LlamaContext&) = delete;

  llama_context* get() const { return context_; }
  llama_memory_t memory() const { return llama_get_memory(context_); }
  int sequences() const { return sequences_; }
  int cells() const { return cells_; }

 private:
  llama_context* context_ = nullptr;
  int sequences_;
  int cells_;
};

// Tokens for one call of llama_decode. Reused, so that a step allocates nothing.
class Batch {
 public:
  void clear() { tokens_.clear(), positions_.clear(), sequences_.clear(), outputs_.clear(); }
  int size() const { return static_cast<int>(tokens_.size()); }
  void add(Token token, int position, llama_seq_id sequence, bool output);
  // Returns llama_decode's code after waiting for the result; what it throws becomes an error with its text.
  int decode(llama_context* context);

 private:
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> sequences_;
  std::vector<std::int8_t> outputs_;
  std::vector<std::int32_t> sequence_counts_;
  std::vector<llama_seq_id*> sequence_lists_;
};

}  // namespace dts
