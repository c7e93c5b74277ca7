// Where an engine keeps its branches' KV: a llama.cpp context that grows, in one of two layouts.
#pragma once

#include <memory>

#include "dts/engine.h"
#include "dts/llama.h"
#include "engine/llama/llama_context.h"

namespace dts {

// A token position in the context: where the next token of a branch goes.
struct Place {
  llama_seq_id sequence = 0;
  int position = 0;
};

class KvStore {
 public:
  virtual ~KvStore() = default;

  virtual BranchId open() = 0;
  virtual BranchId fork(BranchId parent) = 0;
  virtual void release(BranchId branch) = 0;
  virtual bool is_open(BranchId branch) const = 0;
  virtual int live() const = 0;
  virtual int length(BranchId branch) const = 0;  // tokens

  // Carries out what forks and releases left to do, and makes room for `tokens` more on any branch, and for padding.
  // Places are valid after it, until the next fork or release. Throws dts::Error when memory does not suffice; the
  // branches are then as they were.
  virtual void prepare(int tokens) = 0;
  virtual Place next(BranchId branch) const = 0;
  // The place of padding token `index` of an evaluation whose last sequence is `last`; it is taken back afterwards.
  virtual Place padding(llama_seq_id last, int index) const = 0;
  // Must a call of llama_decode cover consecutive sequences?
  virtual bool consecutive() const = 0;
  // After a failed decode for want of cells: makes more. False when there are no more to be had.
  virtual bool make_room() = 0;
  virtual void append(BranchId branch, int tokens) = 0;
  // Can a branch's KV be saved, and a part of it be had again? Places must be valid.
  virtual bool can_save() const = 0;

  virtual llama_context* context() const = 0;
};

struct StoreSetup {
  const LlamaModelImpl* model = nullptr;
  const ModelThreads* threads = nullptr;
  ContextSettings settings;
  MemoryPlan plan;
  const Interruption* interruption = nullptr;  // ends an evaluation
};

// One stream a branch.
std::unique_ptr<KvStore> make_stream_store(const StoreSetup& setup);
// One pool of cells.
std::unique_ptr<KvStore> make_unified_store(const StoreSetup& setup);

}  // namespace dts
