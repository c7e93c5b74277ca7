// One KV stream a branch: dense, compacted lazily, growing in tiers of streams and of cells.
#include <algorithm>
#include <map>

#include "dts/error.h"
#include "engine/llama/kv_store.h"
#include "engine/llama/kv_streams.h"
#include "engine/llama/sequence_state.h"

namespace dts {
namespace {

int tier(int first, int needed, int most) {
  int size = first;
  while (size < needed) size *= 2;
  return std::min(size, most);
}

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
    // With nothing to carry over, go back to the first tier: forks copy whole streams, and short ones are cheaper.
    if (streams_.live() == 0 && context_->cells() > setup_.plan.first_cells) shrink_ = true;
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
  llama_context* context() const override { return context_->get(); }

  Place next(BranchId branch) const override { return {streams_.stream(branch), streams_.length(branch)}; }

  Place padding(const Place& beside) const override {
    const int above = beside.sequence + 1;
    const int stream = above < context_->sequences() ? above : beside.sequence - 1;
    return {stream, streams_.tokens_in(stream)};
  }

  void prepare(int tokens) override {
    const MemoryPlan& plan = setup_.plan;
    const int cells_now = shrink_ ? 0 : context_->cells();
    const int cells = std::max(cells_now, tier(plan.first_cells, streams_.longest() + tokens + 1, plan.cells));
    const int first_streams = can_change_streams_ ? plan.first_streams : plan.streams;
    const int streams = std::max(context_->sequences(), tier(first_streams, streams_.live() + 1, plan.streams));
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
    context_ = std::make_unique<LlamaContext>(*setup_.model, setup_.settings, *setup_.threads, streams, cells);
  }

  void settle() {
    for (const KvStreams::Move& move : streams_.settle()) {
      if (move.from != KvStreams::kNone && move.from != move.to) {
        llama_memory_seq_cp(context_->memory(), move.from, move.to, -1, -1);
      }
    }
    for (const int stream : streams_.abandoned()) llama_memory_seq_rm(context_->memory(), stream, -1, -1);
  }

  // A context of another size, and every branch in its place there. Branches that share their tokens are saved once.
  void rebuild(int streams, int cells) {
    const int old_streams = context_->sequences();
    const int old_cells = context_->cells();
    std::map<int, SequenceState> states;
    KvStreams settled = streams_;
    const std::vector<KvStreams::Move> moves = settled.settle();
    for (const KvStreams::Move& move : moves) {
      if (move.from != KvStreams::kNone && !states.contains(move.from)) {
        states.emplace(move.from, SequenceState(context(), move.from));
      }
    }
    try {
      make_context(streams, cells);
      for (const KvStreams::Move& move : moves) {
        if (move.from != KvStreams::kNone) states.at(move.from).load(context(), move.to);
      }
      streams_ = std::move(settled);
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
};

}  // namespace

std::unique_ptr<KvStore> make_stream_store(const StoreSetup& setup) { return std::make_unique<StreamStore>(setup); }

}  // namespace dts
