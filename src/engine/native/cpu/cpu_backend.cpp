#include "engine/native/cpu/cpu_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/machine.h"
#include "dts/distribution.h"
#include "dts/error.h"
#include "engine/native/cpu/activations.h"
#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/cpu/cpu_weights.h"
#include "engine/native/cpu/kv_pages.h"
#include "engine/native/cpu/step_team.h"
#include "engine/native/kv_rounding.h"

namespace dts::native {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTileRows = 16;      // rows of an attention item
constexpr int kMostQueries = 512;  // of a kv head, in as many of those rows as that makes

// The first exception that any thread met.
class FirstFailure {
 public:
  template <typename Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void clear() { failure_ = nullptr; }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const PanelWeights& weights, const BackendLimits& limits, int threads, std::chrono::nanoseconds packing)
      : weights_(weights),
        packing_(packing),
        g_(weights.geometry()),
        kernels_(*cpu_kernels()),
        frequencies_(g_.rope.frequencies(limits.context)),
        kv_(g_, limits.kv, limits.pages),
        team_(threads) {
    for (int i = 0; i < threads; ++i) predictors_.push_back(std::make_unique<Predictor>(1));
    if (weights.unpacked_bytes() > 0) {
      for (int i = 0; i < threads; ++i) scratch_.push_back({.bytes = AlignedBuffer(weights.largest_panel())});
    }
    reserve(static_cast<std::size_t>(limits.decoding_rows), static_cast<std::size_t>(limits.outputs));
  }

  int attention_tile() const override { return kTileRows; }

  void step(const StepRows& rows, const Interruption& interruption, EngineTimes& times) override {
    const Clock::time_point start = Clock::now();
    rows_ = &rows;
    interruption_ = &interruption;
    interrupted_ = false;
    failure_.clear();  // an interruption may have come before it
    reserve(rows.tokens.size(), rows.outputs.size());
    const auto parts =
        static_cast<std::size_t>(rows.attention->part_starts.back()) * static_cast<std::size_t>(g_.heads);
    if (partials_.size() < parts) {
      partial_values_.resize(parts * static_cast<std::size_t>(g_.head_size));
      partials_.resize(parts);
    }
    if (!all_packed_) {
      all_packed_ = weights_.unpacked_bytes() == 0;
      packing_left_ = team_.threads() * packing_.count();
      if (all_packed_) scratch_.clear();
    }
    Clock::time_point model_end;
    Clock::time_point head_end;
    team_.run([&](int worker) {
      run_model(worker);
      if (worker == 0) model_end = Clock::now();
      multiply(worker, weights_.head(), output_rows_, rows_->outputs.size(), logits_);
      if (worker == 0) head_end = Clock::now();
      predict(worker);
    });
    if (interrupted_) throw Interrupted();
    failure_.rethrow();
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    (rows.outputs.empty() ? times.prefill : times.model) += seconds(start, model_end);
    times.model += seconds(model_end, head_end);
    times.statistics += seconds(head_end, Clock::now());
  }

  void save_pages(std::span<const PageId> pages, std::span<std::byte> to) override { kv_.save(pages, to); }
  void load_pages(std::span<const PageId> pages, std::span<const std::byte> from) override { kv_.load(pages, from); }

 private:
  ActivationBuffer::Forms forms() const { return {.codes = true, .bf16 = kernels_.bf16_rows}; }

  // Only grows. What there is room for is noted last: memory may not suffice, and a smaller step come next.
  void reserve(std::size_t rows, std::size_t outputs) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const auto grow = [](std::vector<float>& floats, std::size_t n) {
      if (floats.size() < n) floats.resize(n);
    };
    if (reserved_rows_ < rows) {
      narrow_.reserve(rows, size(std::max(g_.width, g_.q_width())), forms());
      wide_.reserve(rows, size(g_.feed_forward), forms());
      grow(residual_, rows * size(g_.width));
      grow(turns_, rows * frequencies_.size() * 2);
      grow(products_, rows * size(std::max(2 * g_.feed_forward, g_.qkv_width())));
      grow(queries_, rows * size(g_.q_width()));
      grow(projected_, rows * size(g_.width));
      reserved_rows_ = rows;
    }
    if (reserved_outputs_ < outputs) {
      output_rows_.reserve(outputs, size(g_.width), forms());
      grow(logits_, outputs * size(g_.n_vocab));
      reserved_outputs_ = outputs;
    }
  }

  // What every thread goes through: the model up to the rows that predictions are wanted after.
  void run_model(int worker) {
    const StepRows& rows = *rows_;
    const std::size_t n = rows.tokens.size();
    const auto layers = static_cast<std::size_t>(g_.layers);
    phase(rows.copies.size() * layers,
          [&](std::size_t i) { kv_.copy(static_cast<int>(i % layers), rows.copies[i / layers]); });
    phase(n, [&](std::size_t r) { embed(r); });
    for (int layer = 0; layer < g_.layers; ++layer) {
      const CpuLayer& w = weights_.layer(layer);
      phase(n, [&](std::size_t r) {
        add_and_normalise(r, layer > 0, w.attention_norm);
        encode(narrow_, r, g_.width, w.qkv);
      });
      multiply(worker, w.qkv, narrow_, n, products_);
      phase(n, [&](std::size_t r) { place_heads(r, layer, w); });
      const auto kv_heads = static_cast<std::size_t>(g_.kv_heads);
      phase(rows.attention->items.size() * kv_heads,
            [&](std::size_t i) { attend(rows.attention->items[i / kv_heads], layer, static_cast<int>(i % kv_heads)); });
      phase(n, [&](std::size_t r) {
        merge_parts(r);
        encode(narrow_, r, g_.q_width(), w.attention_output);
      });
      multiply(worker, w.attention_output, narrow_, n, projected_);
      phase(n, [&](std::size_t r) {
        add_and_normalise(r, true, w.feed_forward_norm);
        encode(narrow_, r, g_.width, w.gate_up);
      });
      multiply(worker, w.gate_up, narrow_, n, products_);
      phase(n, [&](std::size_t r) {
        const float* gates = products_.data() + r * static_cast<std::size_t>(2 * g_.feed_forward);
        kernels_.gate(gates, gates + g_.feed_forward, g_.feed_forward, wide_.row(r, g_.feed_forward));
        encode(wide_, r, g_.feed_forward, w.down);
      });
      multiply(worker, w.down, wide_, n, projected_);
    }
    phase(rows.outputs.size(), [&](std::size_t i) {
      const auto r = static_cast<std::size_t>(rows.outputs[i].row);
      kernels_.add(projected_row(r), g_.width, residual_row(r));
      kernels_.normalise(residual_row(r), weights_.output_norm().data(), g_.width, g_.norm_epsilon,
                         output_rows_.row(i, g_.width));
      encode(output_rows_, i, g_.width, weights_.head());
    });
  }

  // A phase of the team's that does nothing once the step is interrupted: all threads still go through it.
  template <typename Body>
  void phase(std::size_t count, const Body& body) {
    team_.phase(count, [&](std::size_t index) {
      if (interrupted_.load(std::memory_order_relaxed)) return;
      if (index == 0 && interruption_->due()) {
        interrupted_ = true;
        return;
      }
      body(index);
    });
  }

  float* residual_row(std::size_t r) { return residual_.data() + r * static_cast<std::size_t>(g_.width); }
  float* projected_row(std::size_t r) { return projected_.data() + r * static_cast<std::size_t>(g_.width); }

  void embed(std::size_t r) {
    weights_.embed(rows_->tokens[r], residual_row(r));
    float* turn = turns_.data() + r * frequencies_.size() * 2;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      const float angle = static_cast<float>(rows_->positions[r]) * frequencies_[i];
      turn[2 * i] = std::cos(angle) * g_.rope.amplitude;
      turn[2 * i + 1] = std::sin(angle) * g_.rope.amplitude;
    }
  }

  void add_and_normalise(std::size_t r, bool add, const std::vector<float>& norm) {
    if (add) kernels_.add(projected_row(r), g_.width, residual_row(r));
    kernels_.normalise(residual_row(r), norm.data(), g_.width, g_.norm_epsilon, narrow_.row(r, g_.width));
  }

  // In codes or in bf16, where the weights want them.
  void encode(ActivationBuffer& buffer, std::size_t r, int inputs, const StackedPanels& weights) {
    if (weights.wants_codes()) kernels_.quantise(buffer.row(r, inputs), inputs, buffer.code_row(r, inputs));
    if (kernels_.bf16_rows && weights.wants_bf16()) {
      kernels_.to_bf16(buffer.row(r, inputs), inputs, buffer.bf16_row(r, inputs));
    }
  }

  // out[r] = weights . row r. [rows, outputs]
  void multiply(int worker, const StackedPanels& weights, const ActivationBuffer& from, std::size_t rows,
                std::vector<float>& out) {
    if (rows == 0) return;
    // Several tasks a thread, so that nobody waits long for the last; panels enough that rows are read for several.
    const int panels_a_task = std::clamp(weights.panels() / (8 * team_.threads()), 1, 16);
    const auto tasks_of = [&](const LazyPanels& panels) {
      return static_cast<std::size_t>((panels.matrix().panels() + panels_a_task - 1) / panels_a_task);
    };
    std::size_t tasks = 0;
    for (const LazyPanels& panels : weights.matrices) tasks += tasks_of(panels);
    // All matrices in one phase: threads meet once.
    phase(tasks, [&](std::size_t task) {
      int first_output = 0;
      auto panels = weights.matrices.begin();
      for (; task >= tasks_of(*panels); ++panels) {
        task -= tasks_of(*panels);
        first_output += panels->matrix().outputs;
      }
      const int first = static_cast<int>(task) * panels_a_task;
      const int count = std::min(panels_a_task, panels->matrix().panels() - first);
      const Activations activations = from.view(weights.inputs);
      const auto stride = static_cast<std::size_t>(weights.outputs);
      float* to = out.data() + first_output;
      if (!panels->packed()) pack(*panels, first, count);
      if (panels->packed()) {
        kernels_.multiply(panels->matrix(), first, count, activations, static_cast<int>(rows), to, stride);
        return;
      }
      PanelMatrix& scratch = scratch_[static_cast<std::size_t>(worker)];
      for (int panel = first; panel < first + count; ++panel) {
        if (panels->packed(panel)) {
          kernels_.multiply(panels->matrix(), panel, 1, activations, static_cast<int>(rows), to, stride);
        } else {
          panels->pack_into(scratch, panel);
          kernels_.multiply(scratch, 0, 1, activations, static_cast<int>(rows),
                            to + std::ptrdiff_t{panel} * kPanelOutputs, stride);
        }
      }
    });
  }

  // For good, as far as this step may.
  void pack(const LazyPanels& panels, int first, int count) {
    if (packing_left_.load(std::memory_order_relaxed) <= 0) return;
    const Clock::time_point start = Clock::now();
    panels.pack(first, count);
    packing_left_.fetch_sub(std::chrono::nanoseconds(Clock::now() - start).count(), std::memory_order_relaxed);
  }

  // Queries turned and scaled; keys and values into their slots.
  void place_heads(std::size_t r, int layer, const CpuLayer& w) {
    float* row = products_.data() + r * static_cast<std::size_t>(g_.qkv_width());
    const int size = g_.head_size;
    if (!w.qkv_bias.empty()) kernels_.add(w.qkv_bias.data(), g_.qkv_width(), row);
    for (int head = 0; head < g_.heads + g_.kv_heads; ++head) {
      float* one = row + std::ptrdiff_t{head} * size;
      const bool is_query = head < g_.heads;
      if (g_.head_norms) {
        kernels_.normalise(one, (is_query ? w.query_norm : w.key_norm).data(), size, g_.norm_epsilon, one);
      }
      turn(r, one);
    }
    const float scale = 1.0F / std::sqrt(static_cast<float>(size));
    float* query = queries_.data() + r * static_cast<std::size_t>(g_.q_width());
    for (int i = 0; i < g_.q_width(); ++i) query[i] = row[i] * scale;
    for (int head = 0; head < g_.kv_heads; ++head) {
      const float* key = row + g_.q_width() + std::ptrdiff_t{head} * size;
      kv_.write(kernels_, layer, rows_->slots[r], head, key, key + g_.kv_width());
    }
  }

  void turn(std::size_t r, float* head) const {
    const std::size_t pairs = frequencies_.size();
    const float* turns = turns_.data() + r * pairs * 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      float& a = head[g_.rope.interleaved ? 2 * i : i];
      float& b = head[g_.rope.interleaved ? 2 * i + 1 : i + pairs];
      const float turned = a * turns[2 * i] - b * turns[2 * i + 1];
      b = b * turns[2 * i] + a * turns[2 * i + 1];
      a = turned;
    }
  }

  // One part of one head of one row; its values are in partial_values_.
  struct Partial {
    float max = 0;
    float sum = 0;
  };
  std::size_t partial_index(std::size_t row, int part, int head) const {
    return static_cast<std::size_t>(rows_->attention->part_starts[row] + part) * static_cast<std::size_t>(g_.heads) +
           static_cast<std::size_t>(head);
  }
  float* partial_value(std::size_t index) {
    return partial_values_.data() + index * static_cast<std::size_t>(g_.head_size);
  }

  // All queries of a kv head over a run of pages: each page is read once for all of them.
  void attend(const AttentionItem& item, int layer, int kv_head) {
    const AttentionWork& work = *rows_->attention;
    const int group = g_.group();
    RunningAttention queries[kMostQueries];
    // Of a tile no more rows at once than there is room for.
    const int rows_at_once = std::min(static_cast<int>(item.n_rows), kMostQueries / group);
    for (int first = 0; first < item.n_rows; first += rows_at_once) {
      const int rows = std::min(rows_at_once, item.n_rows - first);
      const auto row_of = [&](int i) {
        return static_cast<std::size_t>(
            work.rows[static_cast<std::size_t>(std::ptrdiff_t{item.first_row} + first + i)]);
      };
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < group; ++k) {
          const int head = kv_head * group + k;
          queries[i * group + k] = {.query = queries_.data() + row_of(i) * static_cast<std::size_t>(g_.q_width()) +
                                             std::ptrdiff_t{head} * g_.head_size,
                                    .value = partial_value(partial_index(row_of(i), item.part, head))};
        }
      }
      for (int p = 0; p < item.n_pages; ++p) {
        for (int i = 0; i < rows; ++i) {
          const int tokens = rows_->positions[row_of(i)] + 1 - item.first_position - p * kPageTokens;
          for (int k = 0; k < group; ++k) queries[i * group + k].tokens = std::clamp(tokens, 0, kPageTokens);
        }
        const PageId page = work.pages[static_cast<std::size_t>(std::ptrdiff_t{item.first_page} + p)];
        kernels_.attend(kv_.view(layer, page, kv_head), g_.head_size, p == 0, queries, rows * group);
      }
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < group; ++k) {
          partials_[partial_index(row_of(i), item.part, kv_head * group + k)] = {queries[i * group + k].max,
                                                                                 queries[i * group + k].sum};
        }
      }
    }
  }

  void merge_parts(std::size_t row) {
    const AttentionWork& work = *rows_->attention;
    const int parts = work.part_starts[row + 1] - work.part_starts[row];
    float* out = narrow_.row(row, g_.q_width());
    for (int head = 0; head < g_.heads; ++head, out += g_.head_size) {
      float max = -std::numeric_limits<float>::infinity();
      for (int p = 0; p < parts; ++p) max = std::max(max, partials_[partial_index(row, p, head)].max);
      float sum = 0;
      for (int p = 0; p < parts; ++p) {
        const Partial& part = partials_[partial_index(row, p, head)];
        sum += std::exp(part.max - max) * part.sum;
      }
      std::fill_n(out, g_.head_size, 0.0F);
      for (int p = 0; p < parts; ++p) {
        const std::size_t index = partial_index(row, p, head);
        kernels_.add_scaled(partial_value(index), std::exp(partials_[index].max - max) / sum, g_.head_size, out);
      }
    }
  }

  void predict(int worker) {
    phase(rows_->outputs.size(), [&](std::size_t i) {
      failure_.guard([&] {
        const OutputRow& output = rows_->outputs[i];
        const auto n_vocab = static_cast<std::size_t>(g_.n_vocab);
        const std::span<float> logits = std::span(logits_).subspan(i * n_vocab, n_vocab);
        if (output.filter != nullptr) output.filter->apply(logits);
        const LogitsRow row{.logits = logits, .draw = output.draw, .spec = output.spec, .out = output.out};
        predictors_[static_cast<std::size_t>(worker)]->predict({&row, 1});
      });
    });
  }

  const PanelWeights& weights_;
  std::chrono::nanoseconds packing_;  // a thread and a step
  const Geometry& g_;
  const CpuKernels& kernels_;
  std::vector<float> frequencies_;
  KvPages kv_;
  StepTeam team_;
  std::vector<std::unique_ptr<Predictor>> predictors_;  // one a thread

  // Of the step that is running.
  const StepRows* rows_ = nullptr;
  const Interruption* interruption_ = nullptr;
  std::atomic<bool> interrupted_ = false;
  FirstFailure failure_;
  std::atomic<std::int64_t> packing_left_ = 0;  // nanoseconds of all threads together

  bool all_packed_ = false;
  std::vector<PanelMatrix> scratch_;  // [threads] one panel; none once all are packed

  // Reused from step to step.
  std::size_t reserved_rows_ = 0;
  std::size_t reserved_outputs_ = 0;
  ActivationBuffer narrow_;       // of width or q_width
  ActivationBuffer wide_;         // of feed_forward
  ActivationBuffer output_rows_;  // [outputs, width]
  std::vector<float> residual_;   // [rows, width]
  std::vector<float> turns_;      // [rows, rotated / 2, (cos, sin)]
  std::vector<float> products_;   // [rows, qkv_width], or [rows, 2 * feed_forward]
  std::vector<float> queries_;    // [rows, q_width]
  std::vector<float> projected_;  // [rows, width] to be added to the residual
  std::vector<float> logits_;     // [outputs, n_vocab]
  std::vector<Partial> partials_;
  std::vector<float> partial_values_;
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const WeightSource& source, int threads, const std::function<bool(float)>& progress,
            std::chrono::nanoseconds packing)
      : weights_(source, progress),
        packing_(packing),
        threads_(threads > 0 ? threads : worthwhile_threads(source.geometry())) {}

  // Without the number of threads, on which nothing depends: an evaluation may go on with another.
  std::string name() const override { return fmt::format("CPU ({})", cpu_kernels()->name); }
  std::int64_t weight_bytes() const override { return weights_.bytes(); }
  std::int64_t available_bytes() const override {
    return std::max<std::int64_t>(0, available_memory() - weights_.unpacked_bytes());
  }
  std::int64_t page_bytes(NativeKvType kv) const override { return KvPages::page_bytes(weights_.geometry(), kv); }
  std::int64_t scratch_bytes(const BackendLimits& limits) const override {
    const Geometry& g = weights_.geometry();
    const std::int64_t wide = std::max(2 * g.feed_forward, g.qkv_width());
    const std::int64_t row = 4 * (std::int64_t{2} * g.width + std::int64_t{2} * g.q_width() + wide + g.feed_forward) +
                             std::int64_t{4} * (g.width + g.q_width() + g.feed_forward);
    const std::int64_t parts = limits.rows + std::int64_t{limits.decoding_rows} * parts_of(limits.context);
    return limits.rows * row + std::int64_t{4} * limits.outputs * (g.n_vocab + 2 * g.width) +
           4 * parts * (g.q_width() + 2 * g.heads);
  }
  std::unique_ptr<Backend> make_backend(const BackendLimits& limits) const override {
    return std::make_unique<CpuBackend>(weights_, limits, threads_, packing_);
  }

 private:
  PanelWeights weights_;
  std::chrono::nanoseconds packing_;
  int threads_;
};

}  // namespace

std::string why_no_cpu_kernels() { return cpu_kernels() == nullptr ? "this CPU has neither AVX2 nor NEON" : ""; }

std::string why_not_on_cpu(const WeightSource& source, NativeKvType kv) {
  if (const int size = source.geometry().head_size; kv == NativeKvType::kQ8_0 && size % kKvBlock != 0) {
    return fmt::format("heads of {} elements are no multiple of the {} that share a scale in 8 bits", size, kKvBlock);
  }
  if (const int group = source.geometry().group(); group > kMostQueries) {
    return fmt::format("{} heads share K and V, and the kernels take {} at most", group, kMostQueries);
  }
  return why_no_panels(source);
}

int worthwhile_threads(const Geometry& geometry) {
  // Threads meet some ten times a layer: a very small model's work is done before a second one has come.
  constexpr std::int64_t kParametersPerThread = 4'000'000;
  const std::int64_t worth = std::max<std::int64_t>(1, geometry.parameters() / kParametersPerThread);
  return static_cast<int>(std::min<std::int64_t>(usable_cores(), worth));
}

std::unique_ptr<Device> make_cpu_device(const WeightSource& source, int threads,
                                        const std::function<bool(float)>& progress, std::chrono::nanoseconds packing) {
  if (const std::string why = why_no_cpu_kernels(); !why.empty()) throw Error(why);
  if (const std::string why = why_not_on_cpu(source, NativeKvType::kF16); !why.empty()) throw Error(why);
  return std::make_unique<CpuDevice>(source, threads, progress, packing);
}

}  // namespace dts::native
