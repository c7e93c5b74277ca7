// One pool of cells for all branches: a fork shares its parent's cells, only the pool grows.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dts/error.h"
#include "engine/llama/kv_store.h"
#include "engine/llama/log.h"
#include "engine/llama/memory_plan.h"
#include "engine/llama/tiers.h"

namespace dts {
namespace {

class UnifiedStore final : public KvStore {
 public:
  explicit UnifiedStore(const StoreSetup& setup) : setup_(setup) { make_context(setup.plan.first_cells); }

  BranchId open() override {
    const auto free = std::find(lengths_.begin(), lengths_.end(), kClosed);
    const auto branch = static_cast<BranchId>(free - lengths_.begin());
    if (free == lengths_.end()) lengths_.push_back(kClosed);
    lengths_[static_cast<std::size_t>(branch)] = 0;
    ++live_;
    return branch;
  }

  BranchId fork(BranchId parent) override {
    check_context();
    const BranchId child = open();
    lengths_[static_cast<std::size_t>(child)] = length(parent);
    llama_memory_seq_cp(context_->memory(), parent, child, -1, -1);
    return child;
  }

  void release(BranchId branch) override {
    if (context_) llama_memory_seq_rm(context_->memory(), branch, -1, -1);
    lengths_[static_cast<std::size_t>(branch)] = kClosed;
    --live_;
  }

  bool is_open(BranchId branch) const override {
    return branch >= 0 && static_cast<std::size_t>(branch) < lengths_.size() && length(branch) != kClosed;
  }
  int live() const override { return live_; }
  int length(BranchId branch) const override { return lengths_[static_cast<std::size_t>(branch)]; }
  void append(BranchId branch, int tokens) override { lengths_[static_cast<std::size_t>(branch)] += tokens; }
  bool consecutive() const override { return false; }
  // A restored branch takes consecutive cells, and a pool that is in use may have none; a fork shares the prompt
  // anyway.
  bool can_save() const override { return false; }
  llama_context* context() const override { return context_->get(); }
  // llama.cpp knows which cells are free; make_room() is asked when there are too few.
  void prepare(int) override { check_context(); }
  Place next(BranchId branch) const override { return {branch, length(branch)}; }
  Place padding(llama_seq_id, int index) const override { return {setup_.plan.streams - 1 - index, 0}; }

  bool make_room() override {
    const int cells = context_->cells();
    if (cells >= setup_.plan.cells) return false;
    llama_context* old = context();
    std::vector<std::uint8_t> state(llama_state_get_size(old));
    state.resize(llama_state_get_data(old, state.data(), state.size()));
    try {
      restore(tier_for(cells + 1, setup_.plan.cells, kCellQuantum), state);
    } catch (...) {
      restore(cells, state);
      throw;
    }
    return true;
  }

 private:
  static constexpr int kClosed = -1;

  void check_context() const {
    if (!context_) throw Error("the KV cache was lost for want of memory; start again with a smaller one");
  }

  void make_context(int cells) {
    context_.reset();  // first, so that both are never there at once
    context_ = std::make_unique<LlamaContext>(*setup_.model, setup_.settings, *setup_.threads, setup_.plan.streams,
                                              cells, setup_.interruption);
  }

  void restore(int cells, const std::vector<std::uint8_t>& state) {
    make_context(cells);
    forget_llama_errors();
    if (llama_state_set_data(context(), state.data(), state.size()) != state.size()) {
      throw Error("llama.cpp cannot restore the branches' KV: " + last_llama_error());
    }
  }

  StoreSetup setup_;
  std::unique_ptr<LlamaContext> context_;
  std::vector<int> lengths_;  // [branches] tokens; kClosed: free
  int live_ = 0;
};

}  // namespace

std::unique_ptr<KvStore> make_unified_store(const StoreSetup& setup) { return std::make_unique<UnifiedStore>(setup); }

}  // namespace dts
