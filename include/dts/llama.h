// The in-process engine: a GGUF model through llama.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dts/engine.h"
#include "dts/model.h"
#include "dts/prediction.h"
#include "dts/vocabulary.h"

namespace dts {

enum class KvType { kF16, kBf16, kQ8_0 };
std::string_view name_of(KvType type);  // as ggml spells it: "q8_0"
enum class KvLayout {
  kStreams,  // each branch its own KV: a step costs what its branches attend to
  kUnified,  // one pool of cells behind a mask: shares prompts, right when memory is the limit
};
enum class Toggle { kAuto, kOn, kOff };

inline constexpr int kMostBranches = 252;  // llama.cpp's 256 sequences, less those for padding

struct LlamaEngineOptions {
  int max_branches = 48;   // branches open at once, over all searches; <= kMostBranches
  int context_length = 0;  // tokens a branch may hold; 0: as many as the model was trained for and memory allows
  int threads = 0;         // 0: one per core; fewer for a very small model
  KvType kv_type = KvType::kF16;
  KvLayout kv_layout = KvLayout::kStreams;
  Toggle flash_attention = Toggle::kAuto;  // auto: on for GPUs, q8_0 and one pool; off on the CPU else
  // Pad a step's rows so that a branch's logits are, to the last bit, the same whatever else is in the step. How much
  // depends on the weights: q8_0 and q4_0 need none, f16 a lone row to two, those that llama.cpp repacks (q4_K) a
  // multiple of four, those with a kernel for eight rows and more (iq2_xxs) a multiple of eight. Auto: on for the CPU
  // with streams; GPUs and mixtures of experts are not batch-invariant anyway, and the capabilities say so.
  Toggle batch_invariant = Toggle::kAuto;
  // Where rows are padded: the only row of a search (of a spec) goes through the model by itself, unpadded, whatever
  // else is in the step. It costs what a bare llama.cpp loop costs, and a tree is as reproducible as before, but
  // another one than without. Many such searches at once get less done. Off where batch_invariant is kOn.
  bool lone_rows_alone = false;
};

struct LlamaModelOptions {
  std::string path;                         // GGUF; the first part when split
  int gpu_layers = -1;                      // -1: all that fit the device; nothing without one
  bool vocabulary_only = false;             // no weights: no engine can be made of it, and its sizes are not known
  std::function<bool(float)> on_load = {};  // progress 0..1; false aborts the loading
  LlamaEngineOptions engine = {};           // of plan_engine(), but for what the request says
};

// Whether llama.cpp, as it is linked here, has a GPU to run on.
bool llama_has_gpu();

struct LlamaModelImpl;

// Weights, vocabulary and chat template; read only, shared by any number of engines.
class LlamaModel final : public Model {
 public:
  // Throws dts::Error naming the file and what is wrong with it.
  explicit LlamaModel(const LlamaModelOptions& options);
  ~LlamaModel() override;

  const ModelInfo& info() const override;
  const Vocabulary& vocabulary() const override;
  RecommendedSampling recommended_sampling() const override;  // the file's metadata, else by family, else the defaults
  EnginePlan plan_engine(const EngineRequest& request) const override;

 private:
  friend const LlamaModelImpl& impl_of(const LlamaModel& model);
  std::unique_ptr<LlamaModelImpl> impl_;
};

// What the engine will allocate at most, in bytes. Made, and checked against the memory there is, before allocating.
struct MemoryPlan {
  int context_length = 0;  // tokens a branch may hold
  KvLayout layout = KvLayout::kStreams;
  KvType kv_type = KvType::kF16;
  bool flash_attention = false;
  int streams = 0;        // KV streams at full size: one a branch, and spare ones
  int spare_streams = 0;  // for padding
  int cells = 0;          // tokens a stream holds at full size; unified: the whole pool
  int first_streams = 0;  // what it starts with; both grow in tiers
  int first_cells = 0;
  std::int64_t bytes_per_cell = 0;
  std::int64_t kv_bytes = 0;         // at full size
  std::int64_t growth_bytes = 0;     // extra while growing to the last tier
  std::int64_t compute_bytes = 0;    // estimate: activations, masks, logits
  std::int64_t available_bytes = 0;  // on the device that holds the KV, beside the weights
  std::int64_t needed_bytes() const { return kv_bytes + growth_bytes + compute_bytes; }
  std::string to_string() const;  // for people, several lines
};

// Throws dts::Error with the bytes needed, the bytes there are and the flags that shrink it, when it cannot fit.
MemoryPlan plan_memory(const LlamaModel& model, const LlamaEngineOptions& options);

// `model` must outlive the engine.
std::unique_ptr<Engine> make_llama_engine(const LlamaModel& model, const LlamaEngineOptions& options);

}  // namespace dts
