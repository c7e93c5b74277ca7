#include "engine/native/native_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "dts/error.h"
#include "engine/native/parked_branches.h"

namespace dts::native {
namespace {

// Of what a branch may add at most, the part that is reserved for it when its search is admitted: trajectories end
// before their limit, and what they share is there once. Should it not do, searches are suspended.
constexpr int kLikelyShare = 4;

// Pages that a branch had when it was kept, held for as long as they may be wanted.
class KeptPages final : public KeptBranch {
 public:
  KeptPages(std::shared_ptr<PagePool> pool, std::span<const PageId> pages, int tokens, std::int64_t page_bytes)
      : pool_(std::move(pool)), pages_(pages.begin(), pages.end()), tokens_(tokens), page_bytes_(page_bytes) {
    for (const PageId page : pages_) pool_->hold(page);
  }
  ~KeptPages() override {
    for (const PageId page : pages_) pool_->drop(page);
  }
  KeptPages(const KeptPages&) = delete;
  KeptPages& operator=(const KeptPages&) = delete;

  int tokens() const override { return tokens_; }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(pages_.size()) * page_bytes_; }
  std::span<const PageId> pages() const { return pages_; }
  const PagePool* pool() const { return pool_.get(); }

 private:
  std::shared_ptr<PagePool> pool_;
  std::vector<PageId> pages_;
  int tokens_;
  std::int64_t page_bytes_;
};

class NativeEngine final : public Engine {
 public:
  NativeEngine(const Device& device, const Geometry& geometry, const EngineShape& shape)
      : backend_(device.make_backend(limits_of(shape))),
        page_bytes_(device.page_bytes(shape.kv)),
        pool_(std::make_shared<PagePool>(shape.pages)),
        branches_(*pool_, shape.max_branches),
        parked_(*pool_, branches_, *backend_, page_bytes_),
        planner_(backend_->attention_tile()),
        fed_(static_cast<std::size_t>(shape.max_branches)) {
    info_.name = shape.name;
    info_.kind = shape.kind;
    info_.n_vocab = geometry.n_vocab;
    info_.context_length = shape.context;
    info_.max_branches = shape.max_branches;
    info_.kv_tokens = std::int64_t{shape.pages} * kPageTokens;
    info_.prefill_chunk = kPrefillChunk;
    info_.prompt_grain = kPageTokens;
    info_.capabilities.mixes_prompts = true;
    info_.capabilities.keeps_branches = true;
    info_.capabilities.suspends_branches = true;
    info_.capabilities.filters_logits = true;
    info_.flops_per_token = 2.0 * static_cast<double>(geometry.parameters());
    info_.flops_per_attended = 4.0 * geometry.layers * geometry.q_width();
  }

  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return times_; }

  // The prompt once; of each branch what it is likely to add, and a page at its end that is not full.
  std::int64_t kv_tokens_of(const Footprint& footprint) const override {
    const auto whole = [](std::int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens * kPageTokens; };
    const std::int64_t added = whole(footprint.max_tokens / kLikelyShare) + kPageTokens;
    return whole(footprint.prompt_tokens) + footprint.branches * added;
  }

  BranchId open() override {
    check_room();
    return branches_.open();
  }

  BranchId fork(BranchId parent) override {
    check_present(parent);
    check_room();
    return branches_.fork(parent);
  }

  void release(BranchId branch) override {
    check_branch(branch);
    parked_.forget(branch);
    branches_.release(branch);
  }

  // Nothing is copied: whoever appends to a page that is kept gets a copy of it first.
  std::unique_ptr<KeptBranch> keep(BranchId branch) override {
    check_present(branch);
    return std::make_unique<KeptPages>(pool_, branches_.pages(branch), branches_.length(branch), page_bytes_);
  }

  BranchId reopen(KeptBranch& kept, int tokens) override {
    const auto* own = dynamic_cast<const KeptPages*>(&kept);
    if (own == nullptr || own->pool() != pool_.get())
      throw usage_error("a branch is reopened in the engine that kept it");
    if (tokens < 0 || tokens > own->tokens()) {
      throw usage_error(fmt::format("{} tokens are to be reopened of {}", tokens, own->tokens()));
    }
    check_room();
    return branches_.open_with(own->pages(), tokens);
  }

  bool has_room(std::span<const Feed> feeds) const override { return pages_needed(feeds) <= pool_->free(); }

  void suspend(std::span<const BranchId> branches) override {
    for (const BranchId branch : branches) check_present(branch);
    const Timer timer(times_.forks);
    parked_.park(branches);
  }

  // A page for each branch that is then open is 64 steps' worth.
  bool resume(std::span<const BranchId> branches) override {
    for (const BranchId branch : branches) {
      if (!parked_.holds(branch)) throw usage_error(fmt::format("branch {} is not suspended", branch));
    }
    const int others = branches_.live() - branches_.parked();
    const Timer timer(times_.forks);
    return parked_.unpark(branches, others > 0 ? others + static_cast<int>(branches.size()) : 0);
  }

  void step(std::span<const Feed> feeds, std::span<Prediction> out) override {
    if (feeds.empty()) return;
    check_feeds(feeds, out);
    check_pages(feeds);
    lay_out(feeds, out);
    try {
      backend_->step({.copies = copies_,
                      .tokens = tokens_,
                      .positions = positions_,
                      .slots = slots_,
                      .attention = &work_,
                      .attention_version = work_version_,
                      .outputs = outputs_},
                     interruption(), times_);
    } catch (...) {
      take_back(feeds);
      throw;
    }
  }

 private:
  // Adds its lifetime to `seconds`.
  class Timer {
   public:
    explicit Timer(double& seconds) : seconds_(seconds), start_(std::chrono::steady_clock::now()) {}
    ~Timer() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    double& seconds_;
    std::chrono::steady_clock::time_point start_;
  };

  // Every branch as it was before lay_out().
  void take_back(std::span<const Feed> feeds) {
    for (std::size_t i = feeds.size(); i-- > 0;) {
      const PageCopy* copy = copies_before_[i] < copies_.size() ? &copies_.back() : nullptr;
      branches_.take_back(feeds[i].branch, static_cast<int>(feeds[i].tokens.size()), copy);
      copies_.resize(copies_before_[i]);
    }
  }

  void check_room() const {
    if (branches_.live() < info_.max_branches) return;
    throw usage_error(fmt::format("all {} branches are open ({})", info_.max_branches, option_name("max_branches")));
  }

  void check_branch(BranchId branch) const {
    if (!branches_.is_open(branch)) throw usage_error(fmt::format("branch {} is not open", branch));
  }

  void check_present(BranchId branch) const {
    check_branch(branch);
    if (parked_.holds(branch)) throw usage_error(fmt::format("branch {} is suspended", branch));
  }

  void check_feeds(std::span<const Feed> feeds, std::span<const Prediction> out) {
    if (out.size() != feeds.size()) {
      throw usage_error(fmt::format("{} feeds but room for {} predictions", feeds.size(), out.size()));
    }
    std::fill(fed_.begin(), fed_.end(), false);
    std::size_t prompt_rows = 0;
    for (const Feed& feed : feeds) {
      check_present(feed.branch);
      const auto index = static_cast<std::size_t>(feed.branch);
      if (fed_[index]) throw usage_error(fmt::format("branch {} is fed twice in one step", feed.branch));
      fed_[index] = true;
      if (feed.tokens.empty() || (feed.tokens.size() > 1 && feed.spec != nullptr)) {
        throw usage_error(
            fmt::format("{} tokens are fed to branch {}: it must be one", feed.tokens.size(), feed.branch));
      }
      if (feed.spec == nullptr) prompt_rows += feed.tokens.size();
      if (prompt_rows > static_cast<std::size_t>(kPrefillChunk)) {
        throw usage_error(
            fmt::format("a prefill of {} tokens is more than the {} of one call", prompt_rows, kPrefillChunk));
      }
      for (const Token token : feed.tokens) {
        if (token < 0 || token >= info_.n_vocab) {
          throw usage_error(fmt::format("token {} is outside the vocabulary of {}", token, info_.n_vocab));
        }
      }
      const int length = branches_.length(feed.branch);
      if (feed.tokens.size() > static_cast<std::size_t>(info_.context_length - length)) {
        throw usage_error(fmt::format("{} tokens after {} are more than the context of {} ({})", feed.tokens.size(),
                                      length, info_.context_length, option_name("context_length")));
      }
    }
  }

  int pages_needed(std::span<const Feed> feeds) const {
    appends_.clear();
    for (const Feed& feed : feeds) {
      appends_.push_back({.branch = feed.branch, .tokens = static_cast<int>(feed.tokens.size())});
    }
    return branches_.pages_to_append(appends_);
  }

  void check_pages(std::span<const Feed> feeds) const {
    if (pages_needed(feeds) <= pool_->free()) return;
    throw Error(fmt::format("the {} pages of KV ({} tokens each) are full: lower {} or {}", pool_->size(), kPageTokens,
                            option_name("max_branches"), option_name("max_tokens")));
  }

  // Rows, in the order of the feeds.
  void lay_out(std::span<const Feed> feeds, std::span<Prediction> out) {
    copies_.clear();
    copies_before_.clear();
    tokens_.clear();
    positions_.clear();
    slots_.clear();
    outputs_.clear();
    fed_rows_.clear();
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      const Feed& feed = feeds[i];
      const int length = branches_.length(feed.branch);
      const auto count = static_cast<int>(feed.tokens.size());
      for (int k = 0; k < count; ++k) positions_.push_back(length + k);
      tokens_.insert(tokens_.end(), feed.tokens.begin(), feed.tokens.end());
      copies_before_.push_back(copies_.size());
      branches_.append(feed.branch, count, slots_, copies_);
      fed_rows_.push_back({.branch = feed.branch, .count = count, .prompt = feed.spec == nullptr});
      if (feed.spec == nullptr) continue;
      outputs_.push_back({.row = static_cast<std::int32_t>(tokens_.size() - 1),
                          .draw = feed.draw,
                          .spec = feed.spec,
                          .filter = feed.filter,
                          .out = &out[i]});
    }
    // The runs change at forks, ends and page boundaries only; lengths are in the positions.
    const bool same = planned_ == fed_rows_ && planned_at_ == branches_.version() && !has_prompt();
    if (same) return;
    planner_.plan(fed_rows_, branches_, work_);
    planned_ = fed_rows_;
    planned_at_ = branches_.version();
    ++work_version_;
  }

  bool has_prompt() const {
    return std::any_of(fed_rows_.begin(), fed_rows_.end(), [](const auto& rows) { return rows.prompt; });
  }

  std::unique_ptr<Backend> backend_;
  std::int64_t page_bytes_;
  std::shared_ptr<PagePool> pool_;  // with those who hold kept pages
  BranchTable branches_;
  ParkedBranches parked_;
  AttentionPlanner planner_;
  EngineInfo info_;
  EngineTimes times_;

  // Reused from step to step.
  mutable std::vector<BranchTable::Append> appends_;
  std::vector<bool> fed_;  // [branches]
  std::vector<PageCopy> copies_;
  std::vector<std::size_t> copies_before_;  // [feeds] how many there were before this feed's
  std::vector<Token> tokens_;
  std::vector<std::int32_t> positions_;
  std::vector<KvSlot> slots_;
  std::vector<OutputRow> outputs_;
  std::vector<AttentionPlanner::FedRows> fed_rows_, planned_;
  AttentionWork work_;
  std::uint64_t planned_at_ = 0;
  std::uint64_t work_version_ = 0;
};

}  // namespace

BackendLimits limits_of(const EngineShape& shape) {
  return {.pages = shape.pages,
          .rows = kPrefillChunk + shape.max_branches,
          .outputs = shape.max_branches,
          .decoding_rows = shape.max_branches,
          .context = shape.context,
          .kv = shape.kv};
}

std::unique_ptr<Engine> make_native_engine(const Device& device, const Geometry& geometry, const EngineShape& shape) {
  return std::make_unique<NativeEngine>(device, geometry, shape);
}

}  // namespace dts::native
