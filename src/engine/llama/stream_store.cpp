// One KV stream a branch: dense, compacted lazily, growing in tiers of streams and of cells.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "dts/error.h"
#include "engine/llama/kv_store.h"
#include "engine/llama/kv_streams.h"
#include "engine/llama/memory_plan.h"
#include "engine/llama/sequence_state.h"
#include "engine/llama/tiers.h"

namespace dts {
namespace {

class StreamStore final : public KvStore {
 public:
  explicit StreamStore(const StoreSetup& setup) : setup_(setup) {
    make_context(setup.plan.first_streams, setup.plan.first_cells);
    if (!SequenceState::can_change_streams(context())) {
      // Caches of another kind cannot be carried to more streams: have them all from the start.
      can_change_streams_ = false;
      make_context(setup.plan.streams, setup.plan.first_cells);
    }
  }

  BranchId open() override {
    // With nothing to carry over, go back to the first tier and let the memory of the last search go.
    if (streams_.live() == 0) shrink_ = true;
    return streams_.open();
  }
  BranchId fork(BranchId parent) override { return streams_.fork(parent); }
  void release(BranchId branch) override { streams_.release(branch); }
  bool is_open(BranchId branch) const override { return streams_.is_open(branch); }
  int live() const override { return streams_.live(); }
  int length(BranchId branch) const override { return streams_.length(branch); }
  void append(BranchId branch, int tokens) override { streams_.append(branch, tokens); }
  bool consecutive() const override { return true; }
  bool make_room() override { return false; }  // prepare() has made it
  bool can_save() const override { return can_change_streams_; }
  llama_context* context() const override { return context_->get(); }

  Place next(BranchId branch) const override { return {streams_.stream(branch), streams_.length(branch)}; }

  Place padding(llama_seq_id last, int index) const override {
    const int stream = last + 1 + index;
    return {stream, streams_.tokens_in(stream)};
  }

  void prepare(int tokens) override {
    const MemoryPlan& plan = setup_.plan;
    if (!context_) restart();
    const int least_cells = shrink_ ? plan.first_cells : context_->cells();
    const int cells = tier_for(std::max(least_cells, streams_.longest() + tokens + 1), plan.cells, kCellQuantum);
    const int least_streams = std::max(context_->sequences(), streams_.live() + plan.spare_streams);
    const int streams = tier_for(least_streams, plan.streams, 1);
    if (cells != context_->cells() || streams != context_->sequences()) {
      rebuild(streams, cells);
    } else {
      settle();
    }
    shrink_ = false;
  }

 private:
  void make_context(int streams, int cells) {
    context_.reset();  // first, so that both are never there at once
    context_ = std::make_unique<LlamaContext>(*setup_.model, setup_.settings, *setup_.threads, streams, cells,
                                              setup_.interruption);
  }

  // After a growth that failed, and whose undoing failed too.
  void restart() {
    if (streams_.longest() > 0) throw Error("the KV cache was lost for want of memory; release all branches");
    make_context(can_change_streams_ ? setup_.plan.first_streams : setup_.plan.streams, setup_.plan.first_cells);
  }

  // Copies go to streams that no branch has, so until the end nothing is lost if one fails.
  void settle() {
    settled_ = streams_;
    copies_.clear();
    for (const KvStreams::Move& move : settled_.settle()) {
      if (move.from != KvStreams::kNone && move.from != move.to) copies_.push_back(move);
    }
    if (setup_.model->on_gpu) {
      // From device to device, whole streams; done by the next decode.
      for (const KvStreams::Move& copy : copies_) llama_memory_seq_cp(context_->memory(), copy.from, copy.to, -1, -1);
    } else {
      // Only the cells in use, once for all forks of a branch, and without the new graph that seq_cp would cost.
      std::sort(copies_.begin(), copies_.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
      int saved = KvStreams::kNone;
      for (const KvStreams::Move& copy : copies_) {
        if (copy.from != saved) state_.save(context(), copy.from);
        saved = copy.from;
        state_.load(context(), copy.to);
      }
    }
    for (const int stream : settled_.abandoned()) llama_memory_seq_rm(context_->memory(), stream, -1, -1);
    std::swap(streams_, settled_);
  }

  // A context of another size, and every branch in its place there. Branches that share their tokens are saved once.
  void rebuild(int streams, int cells) {
    const int old_streams = context_->sequences();
    const int old_cells = context_->cells();
    std::map<int, SequenceState> states;
    settled_ = streams_;
    const std::vector<KvStreams::Move>& moves = settled_.settle();
    for (const KvStreams::Move& move : moves) {
      if (move.from != KvStreams::kNone && !states.contains(move.from)) {
        states[move.from].save(context(), move.from);
      }
    }
    try {
      make_context(streams, cells);
      for (const KvStreams::Move& move : moves) {
        if (move.from != KvStreams::kNone) states.at(move.from).load(context(), move.to);
      }
      std::swap(streams_, settled_);
    } catch (...) {
      make_context(old_streams, old_cells);
      for (auto& [stream, state] : states) state.load(context(), stream);
      throw;
    }
  }

  StoreSetup setup_;
  KvStreams streams_;
  std::unique_ptr<LlamaContext> context_;
  bool can_change_streams_ = true;
  bool shrink_ = false;
  // Reused from step to step.
  KvStreams settled_;
  std::vector<KvStreams::Move> copies_;
  SequenceState state_;
};

}  // namespace

std::unique_ptr<KvStore> make_stream_store(const StoreSetup& setup) { return std::make_unique<StreamStore>(setup); }

}  // namespace dts
