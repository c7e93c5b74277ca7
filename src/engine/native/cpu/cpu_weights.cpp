#include "engine/native/cpu/cpu_weights.h"

#include <fmt/format.h>
#include <ggml.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "dts/error.h"

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

// The part's matrices as they are stored, in memory; what is not is made, and packed at once.
StackedPanels stack_panels(const WeightSource& source, Part part, int layer) {
  const PartShape shape = shape_of(part, source.geometry());
  StackedPanels stack;
  stack.inputs = static_cast<int>(shape.columns);
  stack.outputs = static_cast<int>(shape.rows);
  for (StoredRows& rows : source.stored(part, layer)) {
    const std::optional<PanelType> type = panel_type(rows.type);
    if (!type)
      throw Error(
          fmt::format("there is no kernel for weights of type {}", ggml_type_name(static_cast<ggml_type>(rows.type))));
    source.fetch(rows);
    stack.matrices.emplace_back(*type, std::move(rows));
  }
  if (stack.matrices.empty()) {
    auto values = std::make_shared<std::vector<float>>(read_floats(source, part, layer));
    const auto* data = reinterpret_cast<const std::uint8_t*>(values->data());
    const LazyPanels& made = stack.matrices.emplace_back(
        PanelType::kF32,
        StoredRows{.type = GGML_TYPE_F32, .rows = shape.rows, .columns = shape.columns, .data = data, .owner = values});
    made.pack(0, made.matrix().panels());
  }
  return stack;
}

}  // namespace

bool StackedPanels::wants_codes() const {
  return std::any_of(matrices.begin(), matrices.end(),
                     [](const LazyPanels& m) { return is_quantised(m.matrix().type); });
}

bool StackedPanels::wants_bf16() const {
  return std::any_of(matrices.begin(), matrices.end(),
                     [](const LazyPanels& m) { return m.matrix().type == PanelType::kBf16; });
}

int StackedPanels::panels() const {
  int sum = 0;
  for (const LazyPanels& matrix : matrices) sum += matrix.matrix().panels();
  return sum;
}

std::int64_t StackedPanels::bytes() const {
  std::int64_t sum = 0;
  for (const LazyPanels& matrix : matrices) sum += static_cast<std::int64_t>(matrix.matrix().bytes.size());
  return sum;
}

std::int64_t StackedPanels::unpacked_bytes() const {
  std::int64_t sum = 0;
  for (const LazyPanels& matrix : matrices) sum += matrix.unpacked_bytes();
  return sum;
}

PanelWeights::PanelWeights(const WeightSource& source, const std::function<bool(float)>& progress)
    : geometry_(source.geometry()) {
  if (const std::string why = why_no_panels(source); !why.empty()) throw Error(why);
  if (std::vector<StoredRows> stored = source.stored(Part::kEmbedding, 0); stored.size() == 1) {
    stored_embedding_ = std::move(stored.front());
  } else {
    embedding_ = read_floats(source, Part::kEmbedding, 0);
  }
  output_norm_ = read_floats(source, Part::kOutputNorm, 0);
  int taken = 0;
  const int all = 4 * geometry_.layers + 1;
  const auto take = [&](Part part, int layer) {
    StackedPanels stack = stack_panels(source, part, layer);
    ++taken;
    if (progress && !progress(static_cast<float>(taken) / static_cast<float>(all))) throw Error("loading was stopped");
    return stack;
  };
  for (int i = 0; i < geometry_.layers; ++i) {
    CpuLayer layer;
    layer.attention_norm = read_floats(source, Part::kAttentionNorm, i);
    layer.feed_forward_norm = read_floats(source, Part::kFeedForwardNorm, i);
    if (geometry_.qkv_bias) layer.qkv_bias = read_floats(source, Part::kQkvBias, i);
    if (geometry_.head_norms) {
      layer.query_norm = read_floats(source, Part::kQueryNorm, i);
      layer.key_norm = read_floats(source, Part::kKeyNorm, i);
    }
    layer.qkv = take(Part::kQkv, i);
    layer.attention_output = take(Part::kAttentionOutput, i);
    layer.gate_up = take(Part::kGateUp, i);
    layer.down = take(Part::kDown, i);
    layers_.push_back(std::move(layer));
  }
  head_ = take(geometry_.tied ? Part::kEmbedding : Part::kHead, 0);
}

std::vector<const StackedPanels*> PanelWeights::stacks() const {
  std::vector<const StackedPanels*> all;
  for (const CpuLayer& layer : layers_) {
    for (const StackedPanels* stack : {&layer.qkv, &layer.attention_output, &layer.gate_up, &layer.down}) {
      all.push_back(stack);
    }
  }
  all.push_back(&head_);
  return all;
}

std::int64_t PanelWeights::bytes() const {
  auto sum = static_cast<std::int64_t>(embedding_.size() * sizeof(float));
  for (const StackedPanels* stack : stacks()) sum += stack->bytes();
  return sum;
}

std::int64_t PanelWeights::unpacked_bytes() const {
  std::int64_t sum = 0;
  for (const StackedPanels* stack : stacks()) sum += stack->unpacked_bytes();
  return sum;
}

std::size_t PanelWeights::largest_panel() const {
  std::size_t most = 0;
  for (const StackedPanels* stack : stacks()) {
    for (const LazyPanels& matrix : stack->matrices) most = std::max(most, matrix.matrix().stride());
  }
  return most;
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
