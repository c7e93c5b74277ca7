#include "bench/gpu_bench.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "dts/error.h"
#include "dts/native.h"
#include "dts/rng.h"
#include "engine/native/cuda/cuda_device.h"
#include "engine/native/native_engine.h"
#include "engine/native/random_weights.h"
#include "engine/random/random_model.h"

namespace dts::bench {
namespace {

using Clock = std::chrono::steady_clock;

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

// Of the trees before the first step, by the engine's own bookkeeping.
int pages_held(const GpuBenchOptions& options, const GpuBenchOptions::Case& shape) {
  const int most = (options.shared_tokens + shape.private_tokens) / native::kPageTokens + 2;
  native::PagePool pool(shape.trees * shape.branches * most);
  native::BranchTable table(pool, shape.trees * shape.branches);
  std::vector<native::KvSlot> slots;
  std::vector<native::PageCopy> copies;
  for (int tree = 0; tree < shape.trees; ++tree) {
    std::vector<BranchId> branches = {table.open()};
    table.append(branches[0], options.shared_tokens, slots, copies);
    for (int i = 1; i < shape.branches; ++i) branches.push_back(table.fork(branches[0]));
    for (const BranchId branch : branches) table.append(branch, shape.private_tokens, slots, copies);
  }
  return pool.used();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<GpuStep> run_gpu_bench(const GpuBenchOptions& options, const std::function<void(const GpuStep&)>& on_step) {
  if (const std::string why = why_no_native_gpu(); !why.empty()) throw Error("dts bench --gpu: " + why);
  std::vector<GpuStep> out;
  for (const std::string& name : options.geometries) {
    const native::Geometry geometry = geometry_of(name);
    const auto device = native::make_cuda_device(*native::make_random_weights(geometry), nullptr);
    for (const GpuBenchOptions::Case& shape : options.cases) {
      GpuStep result;
      result.geometry = name;
      result.shape = shape;
      const int context = options.shared_tokens + shape.private_tokens + options.steps + 16;
      const int all = shape.trees * shape.branches;
      // The trees' own tokens, and a page at each end that is not full.
      const int private_pages = (shape.private_tokens + options.steps + 16) / native::kPageTokens + 2;
      const int pages = shape.trees * (options.shared_tokens / native::kPageTokens + 1) + all * private_pages;
      const native::EngineShape engine_shape{
          .name = name, .kind = "native CUDA", .max_branches = all, .context = context, .pages = pages};
      if (pages * device->page_bytes() + device->scratch_bytes(native::limits_of(engine_shape)) >
          device->available_bytes()) {
        continue;  // this geometry is too large for so many
      }
      const auto engine = native::make_native_engine(*device, geometry, engine_shape);
      Forest forest(*engine, options, shape);
      for (int i = 0; i < 4; ++i) forest.step();
      if (options.on_measuring) options.on_measuring();
      std::vector<double> steps;
      for (int i = 0; i < options.steps; ++i) steps.push_back(forest.step());
      result.step = median(steps);
      const double tokens =
          shape.trees * (options.shared_tokens + static_cast<double>(shape.branches) * shape.private_tokens);
      result.kv_ideal = static_cast<double>(geometry.kv_elements()) * 2;
      const double weights =
          static_cast<double>(device->weight_bytes()) -
          (geometry.tied ? 0.0 : 2.0 * geometry.n_vocab * geometry.width);  // the embedding is looked up
      result.floor = (weights + tokens * result.kv_ideal) / options.bytes_per_second;
      result.kv_bytes = pages_held(options, shape) * static_cast<double>(device->page_bytes()) / tokens;
      if (on_step) on_step(result);
      out.push_back(result);
    }
  }
  return out;
}

}  // namespace dts::bench
