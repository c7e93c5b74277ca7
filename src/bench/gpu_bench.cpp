#include "bench/gpu_bench.h"

#include <llama.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/bare_loop.h"
#include "bench/samples.h"
#include "dts/error.h"
#include "dts/native.h"
#include "dts/rng.h"
#include "engine/llama/llama_model.h"
#include "engine/native/cuda/cuda_device.h"
#include "engine/native/native_engine.h"
#include "engine/native/random_weights.h"
#include "engine/random/random_model.h"

namespace dts::bench {
namespace {

native::Geometry geometry_of(const std::string& preset) {
  const RandomModelOptions o = random_model_preset(preset, 0);
  native::Geometry g;
  g.architecture = o.architecture;
  g.layers = o.layers;
  g.width = o.embedding;
  g.heads = o.heads;
  g.kv_heads = o.kv_heads;
  g.head_size = o.head_size;
  g.feed_forward = o.feed_forward;
  g.n_vocab = o.vocabulary_size;
  g.context = o.context;
  g.qkv_bias = o.architecture == "qwen2";
  g.head_norms = o.architecture == "qwen3";
  g.tied = o.tied;
  g.rope.rotated = o.head_size;
  g.rope.interleaved = o.architecture == "llama";
  return g;
}

// Branches that never end; every step feeds all of them.
class Forest {
 public:
  Forest(Engine& engine, const GpuBenchOptions& options, const GpuBenchOptions::Case& shape) : engine_(engine) {
    for (int tree = 0; tree < shape.trees; ++tree) {
      const BranchId root = engine.open();
      append(root, options.shared_tokens, tree);
      std::vector<BranchId> branches = {root};
      for (int i = 1; i < shape.branches; ++i) branches.push_back(engine.fork(root));
      for (const BranchId branch : branches) append(branch, shape.private_tokens, 1000 + branch);
      branches_.insert(branches_.end(), branches.begin(), branches.end());
    }
    tokens_.assign(branches_.size(), 1);
    predictions_.resize(branches_.size());
  }
  ~Forest() {
    for (const BranchId branch : branches_) engine_.release(branch);
  }
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  double step() {
    feeds_.clear();
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      feeds_.push_back({.branch = branches_[i],
                        .tokens = {&tokens_[i], 1},
                        .draw = draw_bits(i, static_cast<std::uint64_t>(steps_)),
                        .spec = &spec_});
    }
    ++steps_;
    const auto start = Clock::now();
    engine_.step(feeds_, predictions_);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      if (predictions_[i].status != Prediction::Status::kOk) throw Error("a prediction of the benchmark failed");
      tokens_[i] = predictions_[i].sampled;
    }
    return seconds;
  }

 private:
  void append(BranchId branch, int count, int seed) {
    std::vector<Token> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back((seed * 7919 + i * 31) % engine_.info().n_vocab);
    const std::span<const Token> all(tokens);
    const auto chunk = static_cast<std::size_t>(engine_.info().prefill_chunk);
    for (std::size_t done = 0; done < all.size(); done += chunk) {
      engine_.prefill(branch, all.subspan(done, std::min(chunk, all.size() - done)));
    }
  }

  Engine& engine_;
  PredictionSpec spec_;
  std::vector<BranchId> branches_;
  std::vector<Token> tokens_;
  std::vector<Feed> feeds_;
  std::vector<Prediction> predictions_;
  int steps_ = 0;
};

// Of the trees after the last step, by the engine's own bookkeeping.
int pages_held(const GpuBenchOptions& options, const GpuBenchOptions::Case& shape, int private_tokens) {
  const int most = (options.shared_tokens + private_tokens) / native::kPageTokens + 2;
  native::PagePool pool(shape.trees * shape.branches * most);
  native::BranchTable table(pool, shape.trees * shape.branches);
  std::vector<native::KvSlot> slots;
  std::vector<native::PageCopy> copies;
  for (int tree = 0; tree < shape.trees; ++tree) {
    std::vector<BranchId> branches = {table.open()};
    table.append(branches[0], options.shared_tokens, slots, copies);
    for (int i = 1; i < shape.branches; ++i) branches.push_back(table.fork(branches[0]));
    for (const BranchId branch : branches) table.append(branch, private_tokens, slots, copies);
  }
  return pool.used();
}

constexpr int kWarmUp = 4;
constexpr int kSlack = 16;  // tokens

// llama.cpp's own loop on the same number of branches, each with all its tokens.
double peer_step(const GpuBenchOptions& options, const GpuBenchOptions::Case& shape) {
  constexpr int kMostSequences = 256;
  const int branches = shape.trees * shape.branches;
  if (branches > kMostSequences) return 0;
  const int length = options.shared_tokens + shape.private_tokens;
  BareLoopOptions bare;
  bare.branches = branches;
  bare.context = length + options.steps + kSlack;
  bare.flash_attention = true;
  BareLoop loop(impl_of(*options.peer).model.get(), bare);
  loop.fill(length);
  for (int i = 0; i < kWarmUp; ++i) loop.step();
  std::vector<double> steps;
  for (int i = 0; i < options.steps; ++i) steps.push_back(loop.step());
  return median(steps);
}

class GeometryBench {
 public:
  GeometryBench(const GpuBenchOptions& options, std::string name)
      : options_(options),
        name_(std::move(name)),
        geometry_(geometry_of(name_)),
        device_(native::make_cuda_device(*native::make_random_weights(geometry_), nullptr)) {}

  // False: this geometry is too large for so many.
  bool measure_step(const GpuBenchOptions::Case& shape, GpuStep& result) const {
    result.geometry = name_;
    result.shape = shape;
    const int all = shape.trees * shape.branches;
    const int appended = kWarmUp + options_.steps;
    // The trees' own tokens, and a page at each end that is not full.
    const int private_pages = (shape.private_tokens + appended + kSlack) / native::kPageTokens + 2;
    const int pages = shape.trees * (options_.shared_tokens / native::kPageTokens + 1) + all * private_pages;
    const auto engine =
        make_engine(all, options_.shared_tokens + shape.private_tokens + appended + kSlack, pages, shape.kv);
    if (!engine) return false;
    Forest forest(*engine, options_, shape);
    for (int i = 0; i < kWarmUp; ++i) forest.step();
    std::vector<double> steps;
    if (options_.profiled) native::set_cuda_profiler(true);
    for (int i = 0; i < options_.steps; ++i) steps.push_back(forest.step());
    if (options_.profiled) native::set_cuda_profiler(false);
    result.step = median(steps);
    const auto tokens = [&](int each) {
      return shape.trees * (options_.shared_tokens + static_cast<double>(shape.branches) * each);
    };
    const auto page_bytes = static_cast<double>(device_->page_bytes(shape.kv));
    result.kv_ideal = page_bytes / native::kPageTokens;
    const double weights =
        static_cast<double>(device_->weight_bytes()) -
        (geometry_.tied ? 0.0 : 2.0 * geometry_.n_vocab * geometry_.width);  // the embedding is looked up
    result.floor = (weights + tokens(shape.private_tokens) * result.kv_ideal) / options_.bytes_per_second;
    const int grown = shape.private_tokens + appended;
    result.kv_bytes = pages_held(options_, shape, grown) * page_bytes / tokens(grown);
    return true;
  }

  GpuRoom room(NativeKvType kv) const {
    constexpr int kBranches = 48;
    constexpr int kTokens = 8192;
    GpuRoom out;
    out.geometry = name_;
    out.kv = kv;
    out.token_bytes = static_cast<double>(device_->page_bytes(kv)) / native::kPageTokens;
    const std::int64_t question =
        device_->page_bytes(kv) *
        (options_.shared_tokens / native::kPageTokens + kBranches * std::int64_t{kTokens / native::kPageTokens + 1});
    // What a step needs grows with the branches: as many as fit beside it.
    for (out.questions = 0;; ++out.questions) {
      native::EngineShape shape;
      shape.max_branches = (out.questions + 1) * kBranches;
      shape.context = options_.shared_tokens + kTokens;
      shape.pages = 1;
      shape.kv = kv;
      const std::int64_t left = device_->available_bytes() - device_->scratch_bytes(native::limits_of(shape));
      if ((out.questions + 1) * question > left) break;
      out.kv_bytes = static_cast<double>(left);
    }
    return out;
  }

  RunTime run(const RunShape& shape) const {
    const int all = shape.questions * shape.branches;
    const int context = shape.prompt_tokens + shape.tokens + kSlack;
    const int pages = shape.questions * (shape.prompt_tokens / native::kPageTokens + 2) +
                      all * (shape.tokens / native::kPageTokens + 3);
    const auto engine = make_engine(all, context, pages);
    if (!engine) throw Error("the benchmark's runs do not fit this GPU");
    RunShape warm = shape;
    warm.tokens = 24;  // graphs are made, and products chosen, in the first steps of each size
    measure_run(*engine, warm);
    return measure_run(*engine, shape);
  }

 private:
  std::unique_ptr<Engine> make_engine(int branches, int context, int pages,
                                      NativeKvType kv = NativeKvType::kF16) const {
    const native::EngineShape shape{
        .name = name_, .kind = "native CUDA", .max_branches = branches, .context = context, .pages = pages, .kv = kv};
    const std::int64_t needed = pages * device_->page_bytes(kv) + device_->scratch_bytes(native::limits_of(shape));
    if (needed > device_->available_bytes()) return nullptr;
    return native::make_native_engine(*device_, geometry_, shape);
  }

  const GpuBenchOptions& options_;
  std::string name_;
  native::Geometry geometry_;
  std::unique_ptr<native::Device> device_;
};

ChainAndTree measure_chain(const GpuBenchOptions& options, const GeometryBench& bench, int tokens) {
  constexpr int kBranches = 48;
  ChainAndTree out;
  out.tokens = tokens;
  RunShape shape;
  shape.prompt_tokens = options.shared_tokens;
  shape.tokens = tokens;
  out.chain = bench.run(shape);
  if (options.peer != nullptr) {
    const auto engine =
        options.peer->make_engine({.max_branches = 1, .context_length = shape.prompt_tokens + tokens + kSlack});
    RunShape warm = shape;
    warm.tokens = 24;
    measure_run(*engine, warm);
    out.peer_chain = measure_run(*engine, shape);
  }
  shape.branches = kBranches;
  out.tree = bench.run(shape);
  return out;
}

Questions measure_questions(const GpuBenchOptions& options, const GeometryBench& bench) {
  Questions out;
  out.questions = options.questions;
  out.tokens = options.question_tokens;
  RunShape shape;
  shape.prompt_tokens = options.shared_tokens;
  shape.tokens = options.question_tokens;
  shape.branches = 48;
  shape.questions = options.questions;
  out.together = bench.run(shape);
  shape.together = false;
  out.one_by_one = bench.run(shape);
  return out;
}

template <typename T>
void keep(std::vector<T>& all, T one, const std::function<void(const T&)>& watch) {
  all.push_back(std::move(one));
  if (watch) watch(all.back());
}

}  // namespace

bool llama_has_gpu() { return llama_supports_gpu_offload(); }

GpuBenchResult run_gpu_bench(const GpuBenchOptions& options, const GpuBenchWatch& watch) {
  if (const std::string why = why_no_native_gpu(); !why.empty()) throw Error(why);
  GpuBenchResult out;
  for (const std::string& name : options.geometries) {
    const GeometryBench bench(options, name);
    const bool has_peer = options.peer != nullptr && name == options.peer_geometry;
    for (const GpuBenchOptions::Case& shape : options.cases) {
      if (shape.trees > 1 && name != options.geometries.front()) continue;
      GpuStep step;
      if (!bench.measure_step(shape, step)) continue;
      if (has_peer && shape.kv == NativeKvType::kF16) step.peer = peer_step(options, shape);
      keep(out.steps, step, watch.on_step);
    }
    for (const NativeKvType kv : {NativeKvType::kF16, NativeKvType::kQ8_0}) {
      keep(out.rooms, bench.room(kv), watch.on_room);
    }
    if (!options.runs || name != options.peer_geometry) continue;
    for (const int tokens : options.run_tokens) {
      keep(out.chains, measure_chain(options, bench, tokens), watch.on_chain);
    }
    keep(out.questions, measure_questions(options, bench), watch.on_questions);
  }
  return out;
}

}  // namespace dts::bench
