#include "engine/native/oracle_backend.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/machine.h"
#include "dts/distribution.h"
#include "engine/native/kv_rounding.h"

namespace dts::native {
namespace {

using Floats = std::vector<float>;

struct LayerWeights {
  Floats attention_norm, qkv, qkv_bias, query_norm, key_norm, attention_output, feed_forward_norm, gate_up, down;
};

Floats read_all(const WeightSource& source, Part part, int layer) {
  const PartShape shape = shape_of(part, source.geometry());
  Floats out;
  out.reserve(static_cast<std::size_t>(shape.rows * shape.columns));
  source.read(part, layer, [&](std::span<const float> values) { out.insert(out.end(), values.begin(), values.end()); });
  return out;
}

struct OracleWeights {
  explicit OracleWeights(const WeightSource& source) : geometry(source.geometry()) {
    embedding = read_all(source, Part::kEmbedding, 0);
    output_norm = read_all(source, Part::kOutputNorm, 0);
    if (!geometry.tied) untied_head = read_all(source, Part::kHead, 0);
    for (int i = 0; i < geometry.layers; ++i) {
      LayerWeights& layer = layers.emplace_back();
      layer.attention_norm = read_all(source, Part::kAttentionNorm, i);
      layer.qkv = read_all(source, Part::kQkv, i);
      if (geometry.qkv_bias) layer.qkv_bias = read_all(source, Part::kQkvBias, i);
      if (geometry.head_norms) {
        layer.query_norm = read_all(source, Part::kQueryNorm, i);
        layer.key_norm = read_all(source, Part::kKeyNorm, i);
      }
      layer.attention_output = read_all(source, Part::kAttentionOutput, i);
      layer.feed_forward_norm = read_all(source, Part::kFeedForwardNorm, i);
      layer.gate_up = read_all(source, Part::kGateUp, i);
      layer.down = read_all(source, Part::kDown, i);
    }
  }
  const Floats& head() const { return geometry.tied ? embedding : untied_head; }

  Geometry geometry;
  Floats embedding, output_norm, untied_head;
  std::vector<LayerWeights> layers;
};

// out[i] = row i of `matrix` . x
void multiply(const Floats& matrix, std::span<const float> x, std::span<float> out) {
  const float* row = matrix.data();
  for (float& y : out) {
    float lanes[8] = {};  // eight sums: the compiler may add them side by side
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += row[i + lane] * x[i + lane];
    }
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    for (; i < x.size(); ++i) sum += row[i] * x[i];
    y = sum;
    row += x.size();
  }
}

void normalise(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> out) {
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
  const auto scale =
      static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(x.size()) + static_cast<double>(epsilon)));
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] * scale * weight[i];
}

void turn(std::span<float> head, const Rope& rope, std::span<const float> frequencies, int position) {
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    const float c = std::cos(angle) * rope.amplitude;
    const float s = std::sin(angle) * rope.amplitude;
    float& a = head[rope.interleaved ? 2 * i : i];
    float& b = head[rope.interleaved ? 2 * i + 1 : i + frequencies.size()];
    const float turned = a * c - b * s;
    b = b * c + a * s;
    a = turned;
  }
}

class OracleBackend final : public Backend {
 public:
  OracleBackend(const OracleWeights& weights, const BackendLimits& limits)
      : weights_(weights), frequencies_(weights.geometry.rope.frequencies(limits.context)), limits_(limits) {
    const Geometry& g = weights.geometry;
    keys_.resize(static_cast<std::size_t>(g.layers) * static_cast<std::size_t>(limits.pages) * page_elements());
    values_.resize(keys_.size());
  }

  int attention_tile() const override { return 5; }  // any will do; odd ones find mistakes

  void step(const StepRows& rows, const Interruption& interruption, EngineTimes& times) override {
    const auto start = std::chrono::steady_clock::now();
    for (const PageCopy& copy : rows.copies) copy_page(copy);
    const Geometry& g = weights_.geometry;
    const auto width = static_cast<std::size_t>(g.width);
    const std::size_t n = rows.tokens.size();
    residual_.resize(n * width);
    for (std::size_t r = 0; r < n; ++r) {
      const float* row = weights_.embedding.data() + static_cast<std::size_t>(rows.tokens[r]) * width;
      std::copy_n(row, width, residual_.data() + r * width);
    }
    for (int layer = 0; layer < g.layers; ++layer) {
      if (interruption.due()) throw Interrupted();
      attend(rows, layer);
      feed_forward(n, weights_.layers[static_cast<std::size_t>(layer)]);
    }
    const auto model_end = std::chrono::steady_clock::now();
    const auto head_end = predict(rows);
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    (rows.outputs.empty() ? times.prefill : times.model) += seconds(start, model_end);
    times.model += seconds(model_end, head_end);
    times.statistics += seconds(head_end, std::chrono::steady_clock::now());
  }

  void save_pages(std::span<const PageId> pages, std::span<std::byte> to) override {
    std::byte* next = to.data();
    for_each_stretch(pages, [&](const float* stretch) {
      std::memcpy(next, stretch, page_elements() * sizeof(float));
      next += page_elements() * sizeof(float);
    });
  }

  void load_pages(std::span<const PageId> pages, std::span<const std::byte> from) override {
    const std::byte* next = from.data();
    for_each_stretch(pages, [&](float* stretch) {
      std::memcpy(stretch, next, page_elements() * sizeof(float));
      next += page_elements() * sizeof(float);
    });
  }

 private:
  // K, then V, of every layer of every page.
  template <typename Action>
  void for_each_stretch(std::span<const PageId> pages, Action action) {
    for (const PageId page : pages) {
      for (int layer = 0; layer < weights_.geometry.layers; ++layer) {
        for (Floats* cache : {&keys_, &values_}) action(cache->data() + at(layer, page, 0, 0));
      }
    }
  }

  // [kv head][token][element]
  std::size_t page_elements() const {
    return static_cast<std::size_t>(weights_.geometry.kv_width()) * static_cast<std::size_t>(kPageTokens);
  }
  std::size_t at(int layer, PageId page, int kv_head, int token) const {
    const auto size = static_cast<std::size_t>(weights_.geometry.head_size);
    const auto index =
        static_cast<std::size_t>(layer) * static_cast<std::size_t>(limits_.pages) + static_cast<std::size_t>(page);
    return index * page_elements() + (static_cast<std::size_t>(kv_head) * static_cast<std::size_t>(kPageTokens) +
                                      static_cast<std::size_t>(token)) *
                                         size;
  }

  void copy_page(const PageCopy& copy) {
    for (int layer = 0; layer < weights_.geometry.layers; ++layer) {
      for (Floats* cache : {&keys_, &values_}) {
        std::copy_n(cache->data() + at(layer, copy.from, 0, 0), page_elements(),
                    cache->data() + at(layer, copy.to, 0, 0));
      }
    }
  }

  void attend(const StepRows& rows, int layer) {
    const Geometry& g = weights_.geometry;
    const LayerWeights& w = weights_.layers[static_cast<std::size_t>(layer)];
    const auto width = static_cast<std::size_t>(g.width);
    const auto size = static_cast<std::size_t>(g.head_size);
    const auto q_width = static_cast<std::size_t>(g.q_width());
    const std::size_t n = rows.tokens.size();
    Floats normed(width);
    Floats qkv(static_cast<std::size_t>(g.qkv_width()));
    queries_.resize(n * q_width);
    for (std::size_t r = 0; r < n; ++r) {
      normalise(std::span(residual_).subspan(r * width, width), w.attention_norm, g.norm_epsilon, normed);
      multiply(w.qkv, normed, qkv);
      for (std::size_t i = 0; i < w.qkv_bias.size(); ++i) qkv[i] += w.qkv_bias[i];
      for (int head = 0; head < g.heads + g.kv_heads; ++head) {
        const std::span<float> one = std::span(qkv).subspan(static_cast<std::size_t>(head) * size, size);
        if (g.head_norms) normalise(one, head < g.heads ? w.query_norm : w.key_norm, g.norm_epsilon, one);
        turn(one, g.rope, frequencies_, rows.positions[r]);
      }
      std::copy_n(qkv.data(), q_width, queries_.data() + r * q_width);
      for (int head = 0; head < g.kv_heads; ++head) {
        const std::size_t slot = at(layer, rows.slots[r].page, head, rows.slots[r].offset);
        const float* key = qkv.data() + q_width + static_cast<std::size_t>(head) * size;
        std::copy_n(key, size, keys_.data() + slot);
        std::copy_n(key + g.kv_width(), size, values_.data() + slot);
        for (float* one : {keys_.data() + slot, values_.data() + slot}) {
          if (limits_.kv == NativeKvType::kQ8_0) round_to_eight_bits({one, size});
          if (limits_.kv == NativeKvType::kBf16) round_to_bf16({one, size});
        }
      }
    }
    for (const AttentionItem& item : rows.attention->items) attend_run(rows, item, layer);
    Floats merged(q_width);
    Floats projected(width);
    for (std::size_t r = 0; r < n; ++r) {
      merge_parts(*rows.attention, r, merged);
      multiply(w.attention_output, merged, projected);
      for (std::size_t i = 0; i < width; ++i) residual_[r * width + i] += projected[i];
    }
  }

  // One part of one head of one row: softmax(q . K) V before the division by the sum.
  struct Partial {
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0;
    Floats value;
  };
  Partial& partial(std::int32_t part, int head) {
    const auto index = static_cast<std::size_t>(part) * static_cast<std::size_t>(weights_.geometry.heads) +
                       static_cast<std::size_t>(head);
    if (index >= partials_.size()) partials_.resize(index + 1);
    return partials_[index];
  }

  void attend_run(const StepRows& rows, const AttentionItem& item, int layer) {
    const Geometry& g = weights_.geometry;
    const auto size = static_cast<std::size_t>(g.head_size);
    const float scale = 1.0F / std::sqrt(static_cast<float>(g.head_size));
    const AttentionWork& work = *rows.attention;
    for (int i = 0; i < item.n_rows; ++i) {
      const auto row =
          static_cast<std::size_t>(work.rows[static_cast<std::size_t>(std::ptrdiff_t{item.first_row} + i)]);
      const int tokens =
          std::min(item.n_pages * kPageTokens, rows.positions[row] + 1 - static_cast<int>(item.first_position));
      for (int head = 0; head < g.heads; ++head) {
        const float* query =
            queries_.data() + (row * static_cast<std::size_t>(g.heads) + static_cast<std::size_t>(head)) * size;
        Partial& out = partial(work.part_starts[row] + item.part, head);
        out = {};
        out.value.assign(size, 0.0F);
        scores_.clear();
        const auto cell = [&](int token) {
          const PageId page =
              work.pages[static_cast<std::size_t>(std::ptrdiff_t{item.first_page} + token / kPageTokens)];
          return at(layer, page, head / g.group(), token % kPageTokens);
        };
        for (int token = 0; token < tokens; ++token) {
          const float* key = keys_.data() + cell(token);
          float dot = 0;
          for (std::size_t e = 0; e < size; ++e) dot += query[e] * key[e];
          scores_.push_back(dot * scale);
          out.max = std::max(out.max, scores_.back());
        }
        for (int token = 0; token < tokens; ++token) {
          const float weight = std::exp(scores_[static_cast<std::size_t>(token)] - out.max);
          const float* value = values_.data() + cell(token);
          out.sum += weight;
          for (std::size_t e = 0; e < size; ++e) out.value[e] += weight * value[e];
        }
      }
    }
  }

  void merge_parts(const AttentionWork& work, std::size_t row, std::span<float> merged) {
    const Geometry& g = weights_.geometry;
    const auto size = static_cast<std::size_t>(g.head_size);
    for (int head = 0; head < g.heads; ++head) {
      float max = -std::numeric_limits<float>::infinity();
      for (std::int32_t p = work.part_starts[row]; p < work.part_starts[row + 1]; ++p) {
        max = std::max(max, partial(p, head).max);
      }
      const std::span<float> out = merged.subspan(static_cast<std::size_t>(head) * size, size);
      std::fill(out.begin(), out.end(), 0.0F);
      float sum = 0;
      for (std::int32_t p = work.part_starts[row]; p < work.part_starts[row + 1]; ++p) {
        const Partial& part = partial(p, head);
        const float weight = std::exp(part.max - max);
        sum += weight * part.sum;
        for (std::size_t e = 0; e < size; ++e) out[e] += weight * part.value[e];
      }
      for (float& value : out) value /= sum;
    }
  }

  void feed_forward(std::size_t n, const LayerWeights& w) {
    const Geometry& g = weights_.geometry;
    const auto width = static_cast<std::size_t>(g.width);
    const auto inner = static_cast<std::size_t>(g.feed_forward);
    Floats normed(width);
    Floats gate_up(2 * inner);
    Floats projected(width);
    for (std::size_t r = 0; r < n; ++r) {
      const std::span<float> row = std::span(residual_).subspan(r * width, width);
      normalise(row, w.feed_forward_norm, g.norm_epsilon, normed);
      multiply(w.gate_up, normed, gate_up);
      for (std::size_t i = 0; i < inner; ++i) {
        const float gate = gate_up[i];
        gate_up[i] = gate / (1.0F + std::exp(-gate)) * gate_up[inner + i];
      }
      multiply(w.down, std::span(gate_up).first(inner), projected);
      for (std::size_t i = 0; i < width; ++i) row[i] += projected[i];
    }
  }

  // When the logits were there.
  std::chrono::steady_clock::time_point predict(const StepRows& rows) {
    const Geometry& g = weights_.geometry;
    const auto width = static_cast<std::size_t>(g.width);
    const auto n_vocab = static_cast<std::size_t>(g.n_vocab);
    logits_.resize(rows.outputs.size() * n_vocab);
    logit_rows_.clear();
    Floats normed(width);
    for (std::size_t i = 0; i < rows.outputs.size(); ++i) {
      const OutputRow& output = rows.outputs[i];
      const std::span<float> logits = std::span(logits_).subspan(i * n_vocab, n_vocab);
      normalise(std::span(residual_).subspan(static_cast<std::size_t>(output.row) * width, width), weights_.output_norm,
                g.norm_epsilon, normed);
      multiply(weights_.head(), normed, logits);
      if (output.filter != nullptr) output.filter->apply(logits);
      logit_rows_.push_back({.logits = logits, .draw = output.draw, .spec = output.spec, .out = output.out});
    }
    const auto head_end = std::chrono::steady_clock::now();
    predictor_.predict(logit_rows_);
    return head_end;
  }

  const OracleWeights& weights_;
  Floats frequencies_;
  BackendLimits limits_;
  Floats keys_;    // [layer][page][kv head][token][element]
  Floats values_;  // as keys_
  Predictor predictor_;

  // Reused from step to step.
  Floats residual_;  // [rows, width]
  Floats queries_;   // [rows, q_width]
  Floats scores_;    // [tokens of a run]
  Floats logits_;    // [outputs, n_vocab]
  std::vector<Partial> partials_;
  std::vector<LogitsRow> logit_rows_;
};

class OracleDevice final : public Device {
 public:
  explicit OracleDevice(const WeightSource& source) : weights_(source) {}

  std::string name() const override { return "CPU (oracle)"; }
  std::int64_t weight_bytes() const override { return weights_.geometry.parameters() * 4; }
  std::int64_t available_bytes() const override { return available_memory(); }
  std::int64_t page_bytes(NativeKvType /*kv*/) const override {
    return weights_.geometry.kv_elements() * kPageTokens * 4;
  }
  std::int64_t scratch_bytes(const BackendLimits& limits) const override {
    const Geometry& g = weights_.geometry;
    const std::int64_t row = g.width + g.qkv_width() + std::int64_t{2} * g.feed_forward;
    const std::int64_t parts = limits.rows + std::int64_t{limits.decoding_rows} * parts_of(limits.context);
    return 4 * (limits.rows * row + std::int64_t{limits.outputs} * g.n_vocab + parts * (g.q_width() + 16 * g.heads));
  }
  std::unique_ptr<Backend> make_backend(const BackendLimits& limits) const override {
    return std::make_unique<OracleBackend>(weights_, limits);
  }

 private:
  OracleWeights weights_;
};

}  // namespace

std::unique_ptr<Device> make_oracle_device(const WeightSource& source) {
  return std::make_unique<OracleDevice>(source);
}

}  // namespace dts::native
