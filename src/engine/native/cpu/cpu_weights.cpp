#include "engine/native/cpu/cpu_weights.h"

#include <fmt/format.h>
#include <ggml.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "dts/error.h"
#include "engine/native/cpu/step_team.h"

namespace dts::native {
namespace {

std::optional<PanelType> panel_type(int ggml) {
  switch (ggml) {
    case GGML_TYPE_F32:
      return PanelType::kF32;
    case GGML_TYPE_F16:
      return PanelType::kF16;
    case GGML_TYPE_BF16:
      return PanelType::kBf16;
    case GGML_TYPE_Q8_0:
      return PanelType::kQ8_0;
    case GGML_TYPE_Q4_0:
      return PanelType::kQ4_0;
    case GGML_TYPE_IQ4_NL:
      return PanelType::kIq4Nl;
    case GGML_TYPE_Q4_K:
      return PanelType::kQ4K;
    case GGML_TYPE_Q5_K:
      return PanelType::kQ5K;
    case GGML_TYPE_Q6_K:
      return PanelType::kQ6K;
    default:
      return std::nullopt;
  }
}

std::vector<float> read_floats(const WeightSource& source, Part part, int layer) {
  std::vector<float> out;
  source.read(part, layer, [&](std::span<const float> values) { out.insert(out.end(), values.begin(), values.end()); });
  return out;
}

class Packer {
 public:
  explicit Packer(const WeightSource& source) : source_(source) {}

  // Makes room; the bytes come with pack().
  void plan(Part part, int layer, StackedPanels& stack) {
    const PartShape shape = shape_of(part, source_.geometry());
    std::vector<StoredRows> stored = source_.stored(part, layer);
    const bool in_file = !stored.empty();
    if (!in_file) {
      auto values = std::make_shared<std::vector<float>>(read_floats(source_, part, layer));
      stored.push_back({.type = GGML_TYPE_F32,
                        .rows = shape.rows,
                        .columns = shape.columns,
                        .data = reinterpret_cast<const std::uint8_t*>(values->data()),
                        .owner = values});
    }
    stack.inputs = static_cast<int>(shape.columns);
    stack.outputs = static_cast<int>(shape.rows);
    for (const StoredRows& rows : stored) {
      const std::optional<PanelType> type = panel_type(rows.type);
      if (!type)
        throw Error(fmt::format("there is no kernel for weights of type {}",
                                ggml_type_name(static_cast<ggml_type>(rows.type))));
      stack.matrices.push_back(make_panels(*type, static_cast<int>(rows.rows), static_cast<int>(rows.columns)));
      pending_.push_back({&stack, stack.matrices.size() - 1, rows, in_file});
    }
  }

  void pack(int threads, const std::function<bool(float)>& progress) {
    std::size_t panels = 0;
    for (const Pending& one : pending_) panels += static_cast<std::size_t>(one.matrix().panels());
    std::size_t done = 0;
    StepTeam team(threads);
    for (const Pending& one : pending_) {
      PanelMatrix& matrix = one.matrix();
      const std::size_t panel_rows = kPanelOutputs * row_bytes(matrix.type, matrix.inputs);
      constexpr std::size_t kPanelsOfTask = 8;
      const auto count = static_cast<std::size_t>(matrix.panels());
      team.run([&](int /*worker*/) {
        team.phase((count + kPanelsOfTask - 1) / kPanelsOfTask, [&](std::size_t task) {
          for (std::size_t p = task * kPanelsOfTask; p < std::min(count, (task + 1) * kPanelsOfTask); ++p) {
            pack_panel(matrix, static_cast<int>(p), one.rows.data + p * panel_rows);
          }
        });
      });
      // Otherwise a load would end with the model in memory twice.
      if (one.in_file) source_.let_go(one.rows);
      done += count;
      if (progress && !progress(static_cast<float>(done) / static_cast<float>(panels)))
        throw Error("loading was stopped");
    }
  }

 private:
  struct Pending {
    StackedPanels* stack;  // by index: the stack's matrices still move while it is planned
    std::size_t index;
    StoredRows rows;
    bool in_file;
    PanelMatrix& matrix() const { return stack->matrices[index]; }
  };
  const WeightSource& source_;
  std::vector<Pending> pending_;
};

}  // namespace

bool StackedPanels::wants_codes() const {
  return std::any_of(matrices.begin(), matrices.end(), [](const PanelMatrix& m) { return is_quantised(m.type); });
}

bool StackedPanels::wants_bf16() const {
  return std::any_of(matrices.begin(), matrices.end(), [](const PanelMatrix& m) { return m.type == PanelType::kBf16; });
}

int StackedPanels::panels() const {
  int sum = 0;
  for (const PanelMatrix& matrix : matrices) sum += matrix.panels();
  return sum;
}

std::int64_t StackedPanels::bytes() const {
  std::int64_t sum = 0;
  for (const PanelMatrix& matrix : matrices) sum += static_cast<std::int64_t>(matrix.bytes.size());
  return sum;
}

PanelWeights::PanelWeights(const WeightSource& source, int threads, const std::function<bool(float)>& progress)
    : geometry_(source.geometry()) {
  if (const std::string why = why_no_panels(source); !why.empty()) throw Error(why);
  Packer packer(source);
  if (std::vector<StoredRows> stored = source.stored(Part::kEmbedding, 0); stored.size() == 1) {
    stored_embedding_ = std::move(stored.front());
  } else {
    embedding_ = read_floats(source, Part::kEmbedding, 0);
  }
  output_norm_ = read_floats(source, Part::kOutputNorm, 0);
  packer.plan(geometry_.tied ? Part::kEmbedding : Part::kHead, 0, head_);
  layers_.resize(static_cast<std::size_t>(geometry_.layers));
  for (int i = 0; i < geometry_.layers; ++i) {
    CpuLayer& layer = layers_[static_cast<std::size_t>(i)];
    layer.attention_norm = read_floats(source, Part::kAttentionNorm, i);
    layer.feed_forward_norm = read_floats(source, Part::kFeedForwardNorm, i);
    if (geometry_.qkv_bias) layer.qkv_bias = read_floats(source, Part::kQkvBias, i);
    if (geometry_.head_norms) {
      layer.query_norm = read_floats(source, Part::kQueryNorm, i);
      layer.key_norm = read_floats(source, Part::kKeyNorm, i);
    }
    packer.plan(Part::kQkv, i, layer.qkv);
    packer.plan(Part::kAttentionOutput, i, layer.attention_output);
    packer.plan(Part::kGateUp, i, layer.gate_up);
    packer.plan(Part::kDown, i, layer.down);
  }
  packer.pack(threads, progress);
  bytes_ = head_.bytes() + static_cast<std::int64_t>(embedding_.size() * sizeof(float));
  for (const CpuLayer& layer : layers_) {
    bytes_ += layer.qkv.bytes() + layer.attention_output.bytes() + layer.gate_up.bytes() + layer.down.bytes();
  }
}

void PanelWeights::embed(int token, float* out) const {
  const auto width = static_cast<std::size_t>(geometry_.width);
  const auto row = static_cast<std::size_t>(token);
  if (stored_embedding_.data == nullptr) {
    std::copy_n(embedding_.data() + row * width, width, out);
    return;
  }
  const auto type = static_cast<ggml_type>(stored_embedding_.type);
  const std::uint8_t* from = stored_embedding_.data + row * ggml_row_size(type, geometry_.width);
  if (type == GGML_TYPE_F32) {
    std::memcpy(out, from, width * sizeof(float));
  } else {
    ggml_get_type_traits(type)->to_float(from, out, geometry_.width);
  }
}

std::string why_no_panels(const WeightSource& source) {
  const Geometry& g = source.geometry();
  const auto why_not = [&](Part part, int layer) -> std::string {
    for (const StoredRows& rows : source.stored(part, layer)) {
      const std::optional<PanelType> type = panel_type(rows.type);
      const char* name = ggml_type_name(static_cast<ggml_type>(rows.type));
      if (!type) return fmt::format("the CPU's kernels have none for {} weights", name);
      if (rows.columns % block_inputs(*type) != 0)
        return fmt::format("{} inputs are no whole blocks of {}", rows.columns, name);
    }
    return {};
  };
  std::string why = why_not(g.tied ? Part::kEmbedding : Part::kHead, 0);
  for (int layer = 0; layer < g.layers && why.empty(); ++layer) {
    for (const Part part : {Part::kQkv, Part::kAttentionOutput, Part::kGateUp, Part::kDown}) {
      if (why.empty()) why = why_not(part, layer);
    }
  }
  if (why.empty() && g.head_size % 16 != 0)
    why = fmt::format("heads of {} elements are no multiple of 16", g.head_size);
  return why;
}

}  // namespace dts::native
