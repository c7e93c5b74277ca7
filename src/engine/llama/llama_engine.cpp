// The in-process engine: branches in, llama.cpp's logits, predictions out.
#include "engine/llama/llama_engine.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/machine.h"
#include "dts/distribution.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "engine/llama/kv_store.h"
#include "engine/llama/llama_context.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/log.h"
#include "engine/llama/memory_plan.h"
#include "engine/llama/sequence_state.h"
#include "engine/llama/step_runs.h"

namespace dts {
namespace {

// Adds the time it lives to an account.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

// Threads meet at a barrier after every operation of the model: a small model's operations are over before a second
// thread has joined them, and where another program has the core it waits for that.
int choose_threads(const LlamaModel& model, int asked) {
  if (asked > 0) return asked;
  constexpr std::int64_t kParametersPerThread = 4'000'000;
  const std::int64_t worthwhile = std::max<std::int64_t>(1, model.info().parameters / kParametersPerThread);
  return static_cast<int>(std::min<std::int64_t>(usable_cores(), worthwhile));
}

class LlamaKeptBranch final : public KeptBranch {
 public:
  explicit LlamaKeptBranch(int tokens) : tokens_(tokens) {}
  int tokens() const override { return tokens_; }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(state.size()); }

  SequenceState state;

 private:
  int tokens_;
};

constexpr int kAborted = 2;  // llama_decode's code

// What making and starting a graph costs, as bytes that could be read in the time.
constexpr double kEvaluationBytes = 4e6;

class LlamaEngine final : public Engine {
 public:
  LlamaEngine(const LlamaModel& model, const LlamaEngineOptions& options, const MemoryPlan& plan)
      : n_vocab_(model.vocabulary().size()),
        threads_(choose_threads(model, options.threads)),
        predictor_(threads_.threads()) {
    const LlamaModelImpl& impl = impl_of(model);
    const StoreSetup setup{.model = &impl,
                           .threads = &threads_,
                           .settings = context_settings(impl, options),
                           .plan = plan,
                           .interruption = &interruption()};
    store_ = setup.settings.unified ? make_unified_store(setup) : make_stream_store(setup);
    unified_ = setup.settings.unified;
    least_rows_ = setup.settings.least_rows;
    row_multiple_ = setup.settings.row_multiple;
    lone_rows_alone_ = setup.settings.lone_rows_alone;
    // One pool attends to all of its cells anyway; a GPU's attention skips what is masked.
    const bool by_longest = !setup.settings.unified && !impl.on_gpu;
    cutter_ = RunCutter({.evaluation = 1.25 * static_cast<double>(model.info().size_bytes) + kEvaluationBytes,
                         .cell = by_longest ? static_cast<double>(plan.bytes_per_cell) : 0.0,
                         .quantum = static_cast<std::size_t>(row_multiple_),
                         .least = static_cast<std::size_t>(least_rows_)});

    info_.name = model.info().name;
    info_.kind = "llama.cpp";
    info_.kv_tokens = unified_ ? plan.cells : std::int64_t{options.max_branches} * plan.context_length;
    info_.capabilities.batch_invariant = setup.settings.batch_invariant;
    info_.capabilities.keeps_branches = store_->can_save();
    info_.capabilities.filters_logits = true;
    info_.n_vocab = n_vocab_;
    info_.context_length = plan.context_length;
    info_.max_branches = options.max_branches;
    info_.prefill_chunk = setup.settings.batch;
    info_.flops_per_token = 2.0 * static_cast<double>(model.info().parameters);
    const GgufFacts& facts = impl.facts;
    info_.flops_per_attended = 2.0 * static_cast<double>(facts.layers.size()) *
                               static_cast<double>(facts.heads * (facts.key_length + facts.value_length));
  }

  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return times_; }

  BranchId open() override {
    check_room();
    return store_->open();
  }

  BranchId fork(BranchId parent) override {
    check_branch(parent);
    check_room();
    const Stopwatch watch(times_.forks);
    return store_->fork(parent);
  }

  void release(BranchId branch) override {
    check_branch(branch);
    const Stopwatch watch(times_.forks);
    store_->release(branch);
  }

  std::unique_ptr<KeptBranch> keep(BranchId branch) override {
    check_branch(branch);
    if (!store_->can_save()) return Engine::keep(branch);
    prepare(0);
    const Stopwatch watch(times_.forks);
    auto kept = std::make_unique<LlamaKeptBranch>(store_->length(branch));
    kept->state.save(store_->context(), store_->next(branch).sequence);
    return kept;
  }

  BranchId reopen(KeptBranch& kept, int tokens) override {
    auto& own = dynamic_cast<LlamaKeptBranch&>(kept);
    if (tokens < 1 || tokens > own.tokens()) {
      throw usage_error(fmt::format("{} tokens of a branch that was kept with {}", tokens, own.tokens()));
    }
    check_room();
    const BranchId branch = store_->open();
    try {
      prepare(own.tokens());
      const Stopwatch watch(times_.forks);
      const llama_seq_id sequence = store_->next(branch).sequence;
      own.state.load(store_->context(), sequence);
      llama_memory_seq_rm(llama_get_memory(store_->context()), sequence, tokens, -1);
      store_->append(branch, tokens);
    } catch (...) {
      store_->release(branch);
      throw;
    }
    return branch;
  }

  std::int64_t kv_tokens_of(const Footprint& footprint) const override {
    if (!unified_) return Engine::kv_tokens_of(footprint);
    return footprint.prompt_tokens + std::int64_t{footprint.branches} * footprint.max_tokens;  // the prompt is shared
  }

  void step(std::span<const Feed> feeds, std::span<Prediction> out) override {
    if (feeds.empty()) return;
    check_feeds(feeds, out);
    try {
      if (feeds.front().spec == nullptr) {
        feed_prompt(feeds.front());
      } else {
        feed_rows(feeds, out);
      }
    } catch (const Interrupted&) {
      take_back(feeds);
      throw;
    }
  }

 private:
  struct Fed {
    Place place;
    std::size_t feed = 0;  // index into the step's feeds
  };

  void check_room() const {
    if (store_->live() < info_.max_branches) return;
    throw usage_error(
        fmt::format("all {} branches are open; {} allows no more", info_.max_branches, option_name("max_branches")));
  }

  void check_branch(BranchId branch) const {
    if (!store_->is_open(branch)) throw usage_error(fmt::format("branch {} is not open", branch));
  }

  void check_token(Token token) const {
    if (token < 0 || token >= n_vocab_) {
      throw usage_error(fmt::format("token {} is outside the vocabulary of {}", token, n_vocab_));
    }
  }

  void check_length(BranchId branch, int tokens) const {
    const int length = store_->length(branch);
    if (tokens > info_.context_length - length) {
      throw usage_error(fmt::format("{} tokens after {} are more than the context of {}; raise {}", tokens, length,
                                    info_.context_length, option_name("context_length")));
    }
  }

  void check_feeds(std::span<const Feed> feeds, std::span<const Prediction> out) {
    if (out.size() != feeds.size()) {
      throw usage_error(fmt::format("{} feeds but room for {} predictions", feeds.size(), out.size()));
    }
    // A prompt's tokens are computed by other kernels than a step's rows: together they would round differently.
    const bool prompt = feeds.front().spec == nullptr;
    if (prompt && feeds.size() > 1) throw usage_error("a stretch of a prompt comes alone");
    if (prompt && feeds.front().tokens.size() > static_cast<std::size_t>(info_.prefill_chunk)) {
      throw usage_error(fmt::format("a prefill of {} tokens is more than the {} of one call",
                                    feeds.front().tokens.size(), info_.prefill_chunk));
    }
    lengths_.clear();
    fed_.assign(fed_.size(), false);
    for (const Feed& feed : feeds) {
      check_branch(feed.branch);
      if (feed.tokens.empty() || (feed.tokens.size() > 1 && !prompt)) {
        throw usage_error(
            fmt::format("{} tokens are fed to branch {}: it must be one", feed.tokens.size(), feed.branch));
      }
      if ((feed.spec == nullptr) != prompt) throw usage_error("a stretch of a prompt comes alone");
      for (const Token token : feed.tokens) check_token(token);
      check_length(feed.branch, static_cast<int>(feed.tokens.size()));
      lengths_.push_back(store_->length(feed.branch));
      const auto index = static_cast<std::size_t>(feed.branch);
      if (index >= fed_.size()) fed_.resize(index + 1);
      if (fed_[index]) throw usage_error(fmt::format("branch {} is fed twice in one step", feed.branch));
      fed_[index] = true;
    }
  }

  void feed_prompt(const Feed& feed) {
    const auto count = static_cast<int>(feed.tokens.size());
    prepare(count);
    const Place place = store_->next(feed.branch);
    batch_.clear();
    for (int i = 0; i < count; ++i) {
      batch_.add(feed.tokens[static_cast<std::size_t>(i)], place.position + i, place.sequence, /*output=*/false);
    }
    evaluate(times_.prefill);
    store_->append(feed.branch, count);
  }

  void feed_rows(std::span<const Feed> feeds, std::span<Prediction> out) {
    prepare(1);
    order_.clear();
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      const Fed fed{store_->next(feeds[i].branch), i};
      if (lone_rows_alone_ && is_lone(feeds, i)) {
        step_run({&fed, 1}, feeds, out, Padding::kNone);
      } else {
        order_.push_back(fed);
      }
    }
    std::sort(order_.begin(), order_.end(),
              [](const Fed& a, const Fed& b) { return a.place.sequence < b.place.sequence; });
    // An evaluation takes consecutive sequences; there are gaps only when some branches sit out.
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() &&
             (!store_->consecutive() || order_[end].place.sequence == order_[end - 1].place.sequence + 1)) {
        ++end;
      }
      step_consecutive(std::span(order_).subspan(begin, end - begin), feeds, out);
      begin = end;
    }
  }

  // The only row of its search.
  static bool is_lone(std::span<const Feed> feeds, std::size_t index) {
    const auto other = [&](const Feed& feed) { return &feed != &feeds[index] && feed.spec == feeds[index].spec; };
    return std::none_of(feeds.begin(), feeds.end(), other);
  }

  // After an interruption: every branch as it was before the step.
  void take_back(std::span<const Feed> feeds) {
    llama_memory_t memory = llama_get_memory(store_->context());
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      const int length = lengths_[i];
      llama_memory_seq_rm(memory, store_->next(feeds[i].branch).sequence, length, -1);
      store_->append(feeds[i].branch, length - store_->length(feeds[i].branch));
    }
    for (const Place& place : padding_) llama_memory_seq_rm(memory, place.sequence, place.position, -1);
  }

  void prepare(int tokens) {
    const Stopwatch watch(times_.forks);
    store_->prepare(tokens);
  }

  // Decodes batch_.
  void evaluate(double& seconds) {
    int code = decode(seconds);
    while (code == 1 && make_room()) code = decode(seconds);
    if (code == 0) return;
    if (code == kAborted && interruption().due()) throw Interrupted();
    if (code == 1) {
      throw Error(fmt::format("the KV cache is full: raise {}, or lower {} or {}", option_name("context_length"),
                              option_name("max_branches"), option_name("max_tokens")));
    }
    const std::string why = last_llama_error();
    throw Error(
        fmt::format("the model failed on {} tokens (code {}){}", batch_.size(), code, why.empty() ? why : ": " + why));
  }

  int decode(double& seconds) {
    const Stopwatch watch(seconds);
    return batch_.decode(store_->context());
  }

  bool make_room() {
    const Stopwatch watch(times_.forks);
    return store_->make_room();
  }

  // Cut into evaluations of rows that attend to about as many cells.
  void step_consecutive(std::span<const Fed> rows, std::span<const Feed> feeds, std::span<Prediction> out) {
    cells_.clear();
    for (const Fed& fed : rows) cells_.push_back((fed.place.position / kCellQuantum + 1) * kCellQuantum);
    std::size_t begin = 0;
    for (const std::size_t end : cutter_.cut(cells_)) {
      step_run(rows.subspan(begin, end - begin), feeds, out);
      begin = end;
    }
  }

  enum class Padding { kAsPlanned, kNone };

  void step_run(std::span<const Fed> run, std::span<const Feed> feeds, std::span<Prediction> out,
                Padding padding = Padding::kAsPlanned) {
    batch_.clear();
    for (const Fed& fed : run) {
      batch_.add(feeds[fed.feed].tokens.front(), fed.place.position, fed.place.sequence, /*output=*/true);
    }
    // Fewer rows, or rows left over, would be computed by other means, with another rounding. Padding rows want logits
    // too: the output head is computed for those rows only that do.
    padding_.clear();
    const auto wanting = [&] { return batch_.size() < least_rows_ || batch_.size() % row_multiple_ != 0; };
    while (padding == Padding::kAsPlanned && wanting()) {
      padding_.push_back(store_->padding(run.back().place.sequence, static_cast<int>(padding_.size())));
      batch_.add(/*token=*/0, padding_.back().position, padding_.back().sequence, /*output=*/true);
    }
    evaluate(times_.model);
    for (const Place& place : padding_) {
      llama_memory_seq_rm(llama_get_memory(store_->context()), place.sequence, place.position, -1);
    }
    for (const Fed& fed : run) store_->append(feeds[fed.feed].branch, 1);

    const Stopwatch watch(times_.statistics);
    rows_.clear();
    for (std::size_t i = 0; i < run.size(); ++i) {
      const Feed& feed = feeds[run[i].feed];
      const float* logits = llama_get_logits_ith(store_->context(), static_cast<std::int32_t>(i));
      if (logits == nullptr) throw Error("the model returned no logits");
      rows_.push_back({.logits = filtered(feed, {logits, static_cast<std::size_t>(n_vocab_)}, i),
                       .draw = feed.draw,
                       .spec = feed.spec,
                       .out = &out[run[i].feed]});
    }
    predictor_.predict(rows_);
  }

  // The logits as the feed's filter leaves them, in place `row` of a buffer.
  std::span<const float> filtered(const Feed& feed, std::span<const float> logits, std::size_t row) {
    if (feed.filter == nullptr) return logits;
    if (filtered_.size() <= row) filtered_.resize(row + 1);
    filtered_[row].assign(logits.begin(), logits.end());
    feed.filter->apply(filtered_[row]);
    return filtered_[row];
  }

  int n_vocab_;
  ModelThreads threads_;
  Predictor predictor_;
  std::unique_ptr<KvStore> store_;  // after threads_: its context uses them
  EngineInfo info_;
  EngineTimes times_;
  bool unified_ = false;
  int least_rows_ = 1;
  int row_multiple_ = 1;
  bool lone_rows_alone_ = false;
  RunCutter cutter_;

  // Reused from step to step.
  Batch batch_;
  std::vector<Fed> order_;
  std::vector<int> cells_;
  std::vector<Place> padding_;
  std::vector<bool> fed_;     // [branches]
  std::vector<int> lengths_;  // [feeds] tokens before the step
  std::vector<LogitsRow> rows_;
  std::vector<std::vector<float>> filtered_;  // [rows][n_vocab] where a filter changes them
};

}  // namespace

std::unique_ptr<Engine> make_llama_engine_as_planned(const LlamaModel& model, const LlamaEngineOptions& options,
                                                     const MemoryPlan& plan) {
  return std::make_unique<LlamaEngine>(model, options, plan);
}

std::unique_ptr<Engine> make_llama_engine(const LlamaModel& model, const LlamaEngineOptions& options) {
  return make_llama_engine_as_planned(model, options, plan_memory(model, options));
}

}  // namespace dts
