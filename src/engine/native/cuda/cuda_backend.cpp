#include "engine/native/cuda/cuda_backend.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "dts/distribution.h"
#include "engine/native/cuda/device_spec.h"
#include "engine/native/cuda/gemm.h"
#include "engine/native/cuda/step_buffers.h"
#include "engine/native/kv_rounding.h"

namespace dts::native::cuda {
namespace {

static_assert(kPage == kPageTokens);
static_assert(kScaleBlock == kKvBlock);
static_assert(sizeof(Item) == sizeof(AttentionItem));
static_assert(sizeof(Copy) == sizeof(PageCopy));

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct GraphDeleter {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using GraphPtr = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, GraphDeleter>;

constexpr std::size_t kMovedPages = 4;  // that are on their way to the host, or back, at once

class CudaBackend final : public Backend {
 public:
  CudaBackend(const CudaWeights& weights, const BackendLimits& limits)
      : weights_(weights),
        g_(weights.geometry),
        limits_(limits),
        sizes_(g_, limits),
        buffers_(g_, sizes_),
        frequencies_(size(g_.rope.rotated / 2)),
        eight_bits_(limits.kv == NativeKvType::kQ8_0),
        page_bytes_(g_.kv_heads * head_page_bytes(g_.head_size, eight_bits_)),
        keys_(size(g_.layers) * pages() * size(page_bytes_)),
        values_(keys_.size()),
        moved_(size(page_bytes(g_, limits.kv)) * kMovedPages),
        moved_pages_(kMovedPages),
        library_(
            static_cast<int>(sizes_.rows), std::max({g_.width, g_.q_width(), g_.feed_forward}),
            std::max(sizes_.outputs * sizes_.stride,
                     sizes_.rows * size(std::max({g_.qkv_width(), 2 * g_.feed_forward, most_slices(g_) * g_.width})))),
        attention_blocks_(attention_blocks(g_.head_size, eight_bits_)) {
    const std::vector<float> frequencies = g_.rope.frequencies(limits.context);
    check(
        cudaMemcpy(frequencies_.get(), frequencies.data(), frequencies.size() * sizeof(float), cudaMemcpyHostToDevice),
        "writing frequencies");
    // Nothing is read before it is written, but what a page does not hold yet is multiplied by zero: no NaN may be
    // there.
    check(cudaMemset(keys_.get(), 0, keys_.size()), "clearing pages");
    check(cudaMemset(values_.get(), 0, values_.size()), "clearing pages");
    const auto clear = [](const auto& buffer) {
      check(cudaMemset(buffer.get(), 0, buffer.size() * sizeof(*buffer.get())), "clearing");
    };
    clear(buffers_.residual), clear(buffers_.slices), clear(buffers_.qkv), clear(buffers_.gate_up),
        clear(buffers_.partial_values);
    clear(buffers_.logits), clear(buffers_.predictions), clear(buffers_.attended);
    const auto all = [&](auto part) {
      std::vector<const f16*> matrices;
      for (const CudaLayer& layer : weights.layers) matrices.push_back((layer.*part).get());
      return matrices;
    };
    const auto gemm = [&](const GemmShape& shape, std::vector<const f16*> matrices) {
      return std::make_unique<Gemm>(library_, shape, std::move(matrices));
    };
    const int width = g_.width;
    const int gate_up = 2 * g_.feed_forward;
    const auto stride = static_cast<int>(sizes_.stride);
    const auto rows = static_cast<int>(sizes_.rows);
    qkv_ = gemm({.outputs = g_.qkv_width(), .inputs = width, .stride = g_.qkv_width(), .room = rows},
                all(&CudaLayer::qkv));
    const auto added = [&](int inputs) {
      return GemmShape{.outputs = width, .inputs = inputs, .stride = width, .room = rows, .slices = slices_of(inputs)};
    };
    output_ = gemm(added(g_.q_width()), all(&CudaLayer::attention_output));
    gate_up_ = gemm({.outputs = gate_up, .inputs = width, .stride = gate_up, .room = rows, .half = true},
                    all(&CudaLayer::gate_up));
    down_ = gemm(added(g_.feed_forward), all(&CudaLayer::down));
    head_ = gemm({.outputs = g_.n_vocab, .inputs = width, .stride = stride, .room = static_cast<int>(sizes_.outputs)},
                 {weights.head()});
  }

  int attention_tile() const override { return cuda::attention_tile(g_.heads, g_.kv_heads); }

  void step(const StepRows& rows, const Interruption& interruption, EngineTimes& times) override {
    if (interruption.due()) throw Interrupted();
    const auto start = std::chrono::steady_clock::now();
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    send(rows);
    const int bucket = bucket_of(static_cast<int>(rows.tokens.size()));
    const int outputs = rows.outputs.empty() ? 0 : bucket_of(static_cast<int>(rows.outputs.size()));
    check(cudaGraphLaunch(graph(bucket, outputs), stream_.get()), "starting a step");
    check(cudaStreamSynchronize(stream_.get()), "making a step");
    const double computed = since();
    (rows.outputs.empty() ? times.prefill : times.model) += computed;
    receive(rows);
    times.statistics += since() - computed;
  }

  void save_pages(std::span<const PageId> pages, std::span<std::byte> to) override {
    const std::size_t each = size(page_bytes(g_, limits_.kv));
    for (std::size_t done = 0; done < pages.size(); done += kMovedPages) {
      const std::span<const PageId> some = pages.subspan(done, std::min(kMovedPages, pages.size() - done));
      name_moved(some);
      gather_pages(cache(), moved_pages_.get(), static_cast<int>(some.size()), moved_.get(), stream_.get());
      check(cudaGetLastError(), "saving pages");
      check(cudaMemcpyAsync(to.data() + done * each, moved_.get(), some.size() * each, cudaMemcpyDeviceToHost,
                            stream_.get()),
            "saving pages");
    }
    check(cudaStreamSynchronize(stream_.get()), "saving pages");
  }

  void load_pages(std::span<const PageId> pages, std::span<const std::byte> from) override {
    const std::size_t each = size(page_bytes(g_, limits_.kv));
    for (std::size_t done = 0; done < pages.size(); done += kMovedPages) {
      const std::span<const PageId> some = pages.subspan(done, std::min(kMovedPages, pages.size() - done));
      name_moved(some);
      check(cudaMemcpyAsync(moved_.get(), from.data() + done * each, some.size() * each, cudaMemcpyHostToDevice,
                            stream_.get()),
            "loading pages");
      scatter_pages(cache(), moved_pages_.get(), static_cast<int>(some.size()), moved_.get(), stream_.get());
      check(cudaGetLastError(), "loading pages");
    }
    check(cudaStreamSynchronize(stream_.get()), "loading pages");
  }

 private:
  void name_moved(std::span<const PageId> pages) {
    static_assert(sizeof(PageId) == sizeof(int));
    check(cudaMemcpyAsync(moved_pages_.get(), pages.data(), pages.size_bytes(), cudaMemcpyHostToDevice, stream_.get()),
          "naming pages");
  }

  Cache cache() const {
    return {
        .keys = keys_.get(), .values = values_.get(), .layers = g_.layers, .pages = pages(), .page_bytes = page_bytes_};
  }

  // One more than branches can have: padding rows write there.
  std::size_t pages() const { return size(limits_.pages) + 1; }

  template <typename T>
  T* host_at(std::size_t offset) const {
    return reinterpret_cast<T*>(buffers_.host_input.get() + offset);
  }
  template <typename T>
  T* device_at(std::size_t offset) const {
    return reinterpret_cast<T*>(buffers_.input.get() + offset);
  }

  void send(const StepRows& rows) {
    const StepInput& at = buffers_.layout;
    const std::size_t n = rows.tokens.size();
    const auto bucket = size(bucket_of(static_cast<int>(n)));
    dts::check(n <= sizes_.rows && rows.outputs.size() <= sizes_.outputs, "a step is within the limits");
    auto* tokens = host_at<std::int32_t>(at.tokens);
    auto* positions = host_at<std::int32_t>(at.positions);
    auto* slot_pages = host_at<std::int32_t>(at.slot_pages);
    auto* slot_offsets = host_at<std::int32_t>(at.slot_offsets);
    auto* part_starts = host_at<std::int32_t>(at.part_starts);
    for (std::size_t r = 0; r < bucket; ++r) {
      const bool padding = r >= n;
      tokens[r] = padding ? 0 : rows.tokens[r];
      positions[r] = padding ? 0 : rows.positions[r];
      slot_pages[r] = padding ? limits_.pages : rows.slots[r].page;
      slot_offsets[r] = padding ? static_cast<int>(r % size(kPageTokens)) : rows.slots[r].offset;
      part_starts[r] = rows.attention->part_starts[std::min(r, n)];
    }
    part_starts[bucket] = rows.attention->part_starts[n];
    auto* output_rows = host_at<std::int32_t>(at.output_rows);
    auto* specs = host_at<DeviceSpec>(at.specs);
    const std::size_t outputs = rows.outputs.empty() ? 0 : size(bucket_of(static_cast<int>(rows.outputs.size())));
    for (std::size_t i = 0; i < outputs; ++i) {
      const OutputRow& output = rows.outputs[std::min(i, rows.outputs.size() - 1)];
      output_rows[i] = output.row;
      specs[i] = device_spec(*output.spec, output.draw);
      // Filters are the host's; padding nobody reads.
      if (i >= rows.outputs.size() || output.filter != nullptr) specs[i].by_host = 1;
    }
    check(cudaMemcpyAsync(buffers_.input.get(), buffers_.host_input.get(), at.size, cudaMemcpyHostToDevice,
                          stream_.get()),
          "sending a step");
    if (rows.attention_version != sent_work_) send_work(*rows.attention);
    sent_work_ = rows.attention_version;
    if (!rows.copies.empty()) {
      for (std::size_t i = 0; i < rows.copies.size(); ++i) {
        buffers_.host_copies.get()[i] = {.from = rows.copies[i].from, .to = rows.copies[i].to};
      }
      check(cudaMemcpyAsync(buffers_.copies.get(), buffers_.host_copies.get(), rows.copies.size_bytes(),
                            cudaMemcpyHostToDevice, stream_.get()),
            "sending copies");
      copy_pages(cache(), buffers_.copies.get(), static_cast<int>(rows.copies.size()), stream_.get());
      check(cudaGetLastError(), "copying pages");
    }
  }

  void send_work(const AttentionWork& work) {
    WorkHeader header;
    header.n_items = static_cast<std::int32_t>(work.items.size());
    header.items = sizeof(WorkHeader) / 4;
    header.rows = header.items + header.n_items * static_cast<std::int32_t>(sizeof(Item) / 4);
    header.pages = header.rows + static_cast<std::int32_t>(work.rows.size());
    const std::size_t numbers = size(header.pages) + work.pages.size();
    dts::check(numbers <= sizes_.work_numbers && size(work.part_starts.back()) <= sizes_.parts,
               "a step's attention is within the limits");
    std::int32_t* to = buffers_.host_work.get();
    std::memcpy(to, &header, sizeof header);
    std::memcpy(to + header.items, work.items.data(), work.items.size() * sizeof(Item));
    std::memcpy(to + header.rows, work.rows.data(), work.rows.size() * 4);
    std::memcpy(to + header.pages, work.pages.data(), work.pages.size() * 4);
    check(cudaMemcpyAsync(buffers_.work.get(), to, numbers * 4, cudaMemcpyHostToDevice, stream_.get()),
          "sending attention's work");
  }

  cudaGraphExec_t graph(int rows, int outputs) {
    GraphPtr& place = graphs_[{rows, outputs}];
    if (place) return place.get();
    for (Gemm* gemm : {qkv_.get(), output_.get(), gate_up_.get(), down_.get()}) gemm->prepare(rows);
    if (outputs > 0) head_->prepare(outputs);
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), "capturing a step");
    cudaGraph_t captured = nullptr;
    try {
      launch(rows, outputs);
    } catch (...) {
      cudaStreamEndCapture(stream_.get(), &captured);
      cudaGraphDestroy(captured);
      throw;
    }
    check(cudaStreamEndCapture(stream_.get(), &captured), "capturing a step");
    cudaGraphExec_t made = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&made, captured, 0);
    cudaGraphDestroy(captured);
    check(code, "preparing a step");
    place.reset(made);
    return made;
  }

  void launch(int rows, int outputs) {
    const StepInput& at = buffers_.layout;
    cudaStream_t stream = stream_.get();
    embed(device_at<int>(at.tokens), weights_.embedding.get(), buffers_.residual.get(), rows, g_.width, stream);
    compute_turns(device_at<int>(at.positions), frequencies_.get(), g_.rope.amplitude, buffers_.turns.get(), rows,
                  g_.rope.rotated / 2, stream);
    for (int i = 0; i < g_.layers; ++i) launch_layer(i, rows);
    if (outputs > 0) {
      norm(weights_.output_norm.get(), outputs, slices_of(g_.feed_forward), device_at<int>(at.output_rows));
      head_->run(weights_.head(), buffers_.normed.get(), buffers_.logits.get(), outputs, stream);
      PredictArguments arguments;
      arguments.logits = buffers_.logits.get();
      arguments.specs = device_at<DeviceSpec>(at.specs);
      arguments.group_max = buffers_.group_max.get();
      arguments.sums = buffers_.sums.get();
      arguments.out = buffers_.predictions.get();
      arguments.rows = outputs;
      arguments.n_vocab = g_.n_vocab;
      arguments.stride = static_cast<int>(sizes_.stride);
      predict(arguments, stream);
      check(cudaMemcpyAsync(buffers_.host_predictions.get(), buffers_.predictions.get(),
                            size(outputs) * sizeof(DevicePrediction), cudaMemcpyDeviceToHost, stream),
            "receiving predictions");
    }
    check(cudaGetLastError(), "starting a step's kernels");
  }

  // Adds what the last product left, and normalises.
  void norm(const float* weight, int rows, int slices, const int* select = nullptr) {
    NormArguments arguments;
    arguments.residual = buffers_.residual.get();
    arguments.slices = buffers_.slices.get();
    arguments.select = select;
    arguments.weight = weight;
    arguments.out = buffers_.normed.get();
    arguments.n_slices = slices;
    arguments.slice_rows = static_cast<int>(sizes_.rows);
    arguments.rows = rows;
    arguments.width = g_.width;
    arguments.epsilon = g_.norm_epsilon;
    add_and_norm(arguments, stream_.get());
  }

  void launch_layer(int index, int rows) {
    const StepInput& at = buffers_.layout;
    const CudaLayer& layer = weights_.layers[size(index)];
    cudaStream_t stream = stream_.get();
    const std::size_t layer_start = size(index) * pages() * size(page_bytes_);
    norm(layer.attention_norm.get(), rows, index > 0 ? slices_of(g_.feed_forward) : 0);
    qkv_->run(layer.qkv.get(), buffers_.normed.get(), buffers_.qkv.get(), rows, stream);

    RopeArguments rope;
    rope.qkv = buffers_.qkv.get();
    rope.bias = layer.qkv_bias.get();
    rope.query_norm = layer.query_norm.get();
    rope.key_norm = layer.key_norm.get();
    rope.turns = buffers_.turns.get();
    rope.slot_pages = device_at<int>(at.slot_pages);
    rope.slot_offsets = device_at<int>(at.slot_offsets);
    rope.queries = buffers_.queries.get();
    rope.keys = keys_.get() + layer_start;
    rope.values = values_.get() + layer_start;
    rope.eight_bits = eight_bits_;
    rope.rows = rows;
    rope.heads = g_.heads;
    rope.kv_heads = g_.kv_heads;
    rope.head_size = g_.head_size;
    rope.rotated = g_.rope.rotated;
    rope.interleaved = g_.rope.interleaved;
    rope.epsilon = g_.norm_epsilon;
    rope_and_store(rope, stream);

    AttentionArguments attention;
    attention.queries = buffers_.queries.get();
    attention.keys = rope.keys;
    attention.values = rope.values;
    attention.work = reinterpret_cast<const WorkHeader*>(buffers_.work.get());
    attention.positions = device_at<int>(at.positions);
    attention.part_starts = device_at<int>(at.part_starts);
    attention.partial_values = buffers_.partial_values.get();
    attention.partial_sums = buffers_.partial_sums.get();
    attention.out = buffers_.attended.get();
    attention.rows = rows;
    attention.heads = g_.heads;
    attention.kv_heads = g_.kv_heads;
    attention.head_size = g_.head_size;
    attention.eight_bits = eight_bits_;
    attention.scale = 1.44269504F / std::sqrt(static_cast<float>(g_.head_size));
    tree_attention(attention, attention_blocks_, stream);
    merge_parts(attention, stream);
    output_->run(layer.attention_output.get(), buffers_.attended.get(), buffers_.slices.get(), rows, stream);

    norm(layer.feed_forward_norm.get(), rows, slices_of(g_.q_width()));
    gate_up_->run(layer.gate_up.get(), buffers_.normed.get(), buffers_.gate_up.get(), rows, stream);
    gated_silu(buffers_.gate_up.get(), buffers_.hidden.get(), rows, g_.feed_forward, stream);
    down_->run(layer.down.get(), buffers_.hidden.get(), buffers_.slices.get(), rows, stream);
  }

  void receive(const StepRows& rows) {
    for (std::size_t i = 0; i < rows.outputs.size(); ++i) {
      const OutputRow& output = rows.outputs[i];
      const DevicePrediction& got = buffers_.host_predictions.get()[i];
      Prediction& out = *output.out;
      const auto top_k = std::min(size(std::max(0, output.spec->top_k)), size(g_.n_vocab));
      const bool short_of =
          got.status == DevicePrediction::kOk && size(got.n_ranked) < top_k;  // masked tokens rank, too
      if (got.status == DevicePrediction::kByHost || short_of) {
        predict_on_host(output, i);
        continue;
      }
      out.top.clear();
      if (got.status == DevicePrediction::kNotANumber) {
        out.status = Prediction::Status::kNotANumber;
        continue;
      }
      out.status = Prediction::Status::kOk;
      out.entropy = got.entropy;
      out.varentropy = got.varentropy;
      out.confidence = got.confidence;
      out.sampled = got.sampled;
      out.sampled_logprob = got.sampled_logprob;
      for (std::size_t k = 0; k < top_k; ++k) out.top.push_back({.token = got.tokens[k], .logprob = got.logprobs[k]});
    }
  }

  void predict_on_host(const OutputRow& output, std::size_t index) {
    const std::size_t n_vocab = size(g_.n_vocab);
    check(cudaMemcpyAsync(buffers_.host_logits.get(), buffers_.logits.get() + index * sizes_.stride,
                          n_vocab * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()),
          "receiving logits");
    check(cudaStreamSynchronize(stream_.get()), "receiving logits");
    if (output.filter != nullptr) output.filter->apply({buffers_.host_logits.get(), n_vocab});
    const LogitsRow row{
        .logits = {buffers_.host_logits.get(), n_vocab}, .draw = output.draw, .spec = output.spec, .out = output.out};
    predictor_.predict({&row, 1});
  }

  const CudaWeights& weights_;
  const Geometry& g_;
  BackendLimits limits_;
  StepSizes sizes_;
  Stream stream_;
  StepBuffers buffers_;
  DeviceBuffer<float> frequencies_;
  bool eight_bits_;
  int page_bytes_;                      // of K, or V, of one layer
  DeviceBuffer<unsigned char> keys_;    // [layers, pages, kv_heads, head_page_bytes()]
  DeviceBuffer<unsigned char> values_;  // as keys_
  DeviceBuffer<unsigned char> moved_;   // [kMovedPages, layers, 2, page_bytes_]: on their way to the host, or back
  DeviceBuffer<int> moved_pages_;       // [kMovedPages]
  GemmLibrary library_;
  std::unique_ptr<Gemm> qkv_, output_, gate_up_, down_, head_;
  int attention_blocks_;
  std::map<std::pair<int, int>, GraphPtr> graphs_;  // by buckets of rows and outputs
  std::uint64_t sent_work_ = ~std::uint64_t{0};
  Predictor predictor_;
};

}  // namespace

std::int64_t page_bytes(const Geometry& geometry, NativeKvType kv) {
  return std::int64_t{2} * geometry.layers * geometry.kv_heads *
         head_page_bytes(geometry.head_size, kv == NativeKvType::kQ8_0);
}

std::int64_t scratch_bytes(const Geometry& geometry, const BackendLimits& limits) {
  return StepSizes(geometry, limits).bytes(geometry) +
         static_cast<std::int64_t>(kMovedPages) * page_bytes(geometry, limits.kv);
}

std::unique_ptr<Backend> make_cuda_backend(const CudaWeights& weights, const BackendLimits& limits) {
  return std::make_unique<CudaBackend>(weights, limits);
}

}  // namespace dts::native::cuda
