#include "engine/native/gguf_weights.h"

#include <fmt/format.h>
#include <ggml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "engine/llama/gguf_file.h"
#include "engine/llama/gguf_metadata.h"
#include "engine/native/mapped_file.h"

namespace dts::native {
namespace {

constexpr std::array<std::string_view, 4> kFamilies = {"qwen2", "qwen3", "llama", "phi3"};

// Of anything in a model: the sum of two or three of them is still a number of 32 bits.
constexpr std::int64_t kMostSize = std::int64_t{1} << 28U;

struct Tensor {
  ggml_type type = GGML_TYPE_F32;
  std::int64_t columns = 0;
  std::int64_t rows = 1;
  std::size_t offset = 0;  // in the file
};

std::string layer_tensor(int layer, const char* name) { return fmt::format("blk.{}.{}", layer, name); }

class GgufWeights final : public WeightSource {
 public:
  GgufWeights(std::string path, Geometry geometry, std::map<std::string, Tensor> tensors)
      : path_(std::move(path)), geometry_(std::move(geometry)), tensors_(std::move(tensors)) {}

  const Geometry& geometry() const override { return geometry_; }

  void read(Part part, int layer, const std::function<void(std::span<const float>)>& take) const override {
    for (const std::string& name : names(part, layer)) read_tensor(name, take);
  }

  std::vector<StoredRows> stored(Part part, int layer) const override {
    if (!mapping_) mapping_ = std::make_shared<MappedFile>(path_);
    std::vector<StoredRows> out;
    for (const std::string& name : names(part, layer)) {
      const Tensor& tensor = tensors_.at(name);
      const std::size_t bytes = ggml_row_size(tensor.type, tensor.columns) * static_cast<std::size_t>(tensor.rows);
      if (tensor.offset > mapping_->size() || bytes > mapping_->size() - tensor.offset) {
        throw Error(fmt::format("{}: tensor {} goes beyond the end of the file", path_, name));
      }
      out.push_back({.type = tensor.type,
                     .rows = tensor.rows,
                     .columns = tensor.columns,
                     .data = mapping_->data() + tensor.offset,
                     .mapped = true,
                     .owner = mapping_});
    }
    return out;
  }

  void fetch(const StoredRows& rows) const override {
    const std::size_t row = ggml_row_size(static_cast<ggml_type>(rows.type), rows.columns);
    if (!MappedFile::fetch(rows.data, row * static_cast<std::size_t>(rows.rows)))
      throw Error(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  }

  // The tensors that make the part, in order.
  std::vector<std::string> names(Part part, int layer) const {
    const auto of = [&](const char* name) { return layer_tensor(layer, name); };
    const auto fused_or = [&](const char* fused, std::vector<std::string> apart) {
      return tensors_.contains(of(fused)) ? std::vector{of(fused)} : std::move(apart);
    };
    switch (part) {
      case Part::kEmbedding:
        return {"token_embd.weight"};
      case Part::kAttentionNorm:
        return {of("attn_norm.weight")};
      case Part::kQkv:
        return fused_or("attn_qkv.weight", {of("attn_q.weight"), of("attn_k.weight"), of("attn_v.weight")});
      case Part::kQkvBias:
        return fused_or("attn_qkv.bias", {of("attn_q.bias"), of("attn_k.bias"), of("attn_v.bias")});
      case Part::kQueryNorm:
        return {of("attn_q_norm.weight")};
      case Part::kKeyNorm:
        return {of("attn_k_norm.weight")};
      case Part::kAttentionOutput:
        return {of("attn_output.weight")};
      case Part::kFeedForwardNorm:
        return {of("ffn_norm.weight")};
      case Part::kGateUp:  // phi3 keeps both in ffn_up
        return tensors_.contains(of("ffn_gate.weight")) ? std::vector{of("ffn_gate.weight"), of("ffn_up.weight")}
                                                        : std::vector{of("ffn_up.weight")};
      case Part::kDown:
        return {of("ffn_down.weight")};
      case Part::kOutputNorm:
        return {"output_norm.weight"};
      case Part::kHead:
        return {"output.weight"};
    }
    return {};
  }

  void read_tensor(const std::string& name, const std::function<void(std::span<const float>)>& take) const {
    const Tensor& tensor = tensors_.at(name);
    constexpr std::int64_t kStretchElements = std::int64_t{1} << 22U;
    const std::int64_t stretch = std::clamp<std::int64_t>(kStretchElements / tensor.columns, 1, tensor.rows);
    const std::size_t row_bytes = ggml_row_size(tensor.type, tensor.columns);
    std::vector<char> bytes(row_bytes * static_cast<std::size_t>(stretch));
    std::vector<float> values(static_cast<std::size_t>(tensor.columns * stretch));
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(tensor.offset));
    const ggml_to_float_t expand = ggml_get_type_traits(tensor.type)->to_float;
    for (std::int64_t row = 0; row < tensor.rows; row += stretch) {
      const std::int64_t rows = std::min(stretch, tensor.rows - row);
      file.read(bytes.data(), static_cast<std::streamsize>(row_bytes) * rows);
      if (!file) throw Error(fmt::format("{}: tensor {} cannot be read", path_, name));
      const auto count = static_cast<std::size_t>(rows * tensor.columns);
      if (tensor.type == GGML_TYPE_F32) {
        std::copy_n(reinterpret_cast<const float*>(bytes.data()), count, values.data());
      } else {
        expand(bytes.data(), values.data(), rows * tensor.columns);
      }
      take(std::span(values).first(count));
    }
  }

 private:
  std::string path_;
  Geometry geometry_;
  std::map<std::string, Tensor> tensors_;
  mutable std::shared_ptr<MappedFile> mapping_;  // made when it is first wanted
};

std::map<std::string, Tensor> list_tensors(const gguf_context* gguf) {
  std::map<std::string, Tensor> tensors;
  for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
    const std::int64_t* ne = gguf_get_tensor_ne(gguf, i);
    Tensor tensor;
    tensor.type = gguf_get_tensor_type(gguf, i);
    tensor.columns = ne[0];
    tensor.rows = ne[1] * ne[2] * ne[3];
    tensor.offset = gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, i);
    tensors.emplace(gguf_get_tensor_name(gguf, i), tensor);
  }
  return tensors;
}

bool is_readable(const std::string& name, const Tensor& tensor, std::string& why) {
  if (tensor.columns < 1 || tensor.rows < 1) return why = fmt::format("{} is empty", name), false;
  if (tensor.type == GGML_TYPE_F32 || ggml_get_type_traits(tensor.type)->to_float != nullptr) return true;
  return why = fmt::format("{} is {}", name, ggml_type_name(tensor.type)), false;
}

// What the metadata says; empty and `why` when a part of it is beyond this engine.
std::optional<Geometry> read_geometry(const GgufMetadata& metadata, const GgufFacts& facts,
                                      const std::map<std::string, Tensor>& tensors, std::string& why) {
  Geometry g;
  g.architecture = facts.architecture;
  if (std::find(kFamilies.begin(), kFamilies.end(), g.architecture) == kFamilies.end()) {
    why = fmt::format("it knows qwen2, qwen3, llama and phi3, not '{}'", g.architecture);
    return std::nullopt;
  }
  const auto key = [&](const char* suffix) { return g.architecture + "." + suffix; };
  // What is beyond any size that can be computed with counts as none.
  const auto size_or = [&](const char* suffix, std::int64_t otherwise) {
    const std::int64_t value = metadata.number(key(suffix)).value_or(otherwise);
    return value >= 0 && value <= kMostSize ? static_cast<int>(value) : 0;
  };
  const auto number = [&](const char* suffix) { return size_or(suffix, 0); };
  g.layers = number("block_count");
  g.width = number("embedding_length");
  g.feed_forward = number("feed_forward_length");
  g.context = number("context_length");
  g.heads = number("attention.head_count");
  g.kv_heads = size_or("attention.head_count_kv", g.heads);
  g.head_size = facts.key_length <= kMostSize ? static_cast<int>(facts.key_length) : 0;
  g.norm_epsilon = static_cast<float>(metadata.real(key("attention.layer_norm_rms_epsilon")).value_or(1e-6));
  const auto embedding = tensors.find("token_embd.weight");
  g.n_vocab =
      embedding == tensors.end() || embedding->second.rows > kMostSize ? 0 : static_cast<int>(embedding->second.rows);
  g.tied = !tensors.contains("output.weight");
  g.qkv_bias = tensors.contains(layer_tensor(0, "attn_q.bias")) || tensors.contains(layer_tensor(0, "attn_qkv.bias"));
  g.head_norms = tensors.contains(layer_tensor(0, "attn_q_norm.weight"));
  if (g.heads < 1 || g.kv_heads < 1 || g.heads % g.kv_heads != 0 || facts.key_length != facts.value_length ||
      g.head_size < 2 || g.width < 1 || g.feed_forward < 1 || g.n_vocab < 1 ||
      std::int64_t{g.heads} * g.head_size > kMostSize) {
    why = fmt::format("its heads ({} and {} of {} and {} elements) are not those of a dense decoder", g.heads,
                      g.kv_heads, facts.key_length, facts.value_length);
    return std::nullopt;
  }
  for (const LayerGeometry& layer : facts.layers) {
    if (layer.key_width != g.kv_width()) return why = "its layers differ in their heads", std::nullopt;
  }
  g.rope.rotated = size_or("rope.dimension_count", g.head_size);
  g.rope.interleaved = g.architecture == "llama";
  g.rope.base = static_cast<float>(metadata.real(key("rope.freq_base")).value_or(10000.0));
  const std::string scaling = metadata.text(key("rope.scaling.type"));
  if (scaling == "yarn") return why = "it has no YaRN", std::nullopt;
  const double factor =
      metadata.real(key("rope.scaling.factor")).value_or(metadata.real(key("rope.scale_linear")).value_or(0));
  if (scaling != "none" && factor != 0) g.rope.scale = 1.0F / static_cast<float>(factor);
  if (!std::isfinite(g.rope.scale)) return why = fmt::format("its positions are divided by {}", factor), std::nullopt;
  g.rope.amplitude = static_cast<float>(metadata.real(key("rope.scaling.attn_factor")).value_or(1.0));
  g.rope.original_context = size_or("rope.scaling.original_context_length", g.context);
  if (g.rope.rotated < 2 || g.rope.rotated > g.head_size || g.rope.rotated % 2 != 0) {
    why = fmt::format("{} of {} elements of a head are turned", g.rope.rotated, g.head_size);
    return std::nullopt;
  }
  for (const char* other : {"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "logit_scale",
                            "expert_count", "attn_logit_softcapping"}) {
    if (metadata.real(key(other)).value_or(0) != 0) return why = fmt::format("it has no {}", other), std::nullopt;
  }
  return g;
}

// Every tensor of the file is one that is read, in the shape that is expected, and none is missing.
bool check_tensors(const GgufWeights& weights, const std::map<std::string, Tensor>& tensors, std::string& why) {
  const Geometry& g = weights.geometry();
  std::size_t known = 0;
  const auto expect = [&](Part part, int layer) {
    const PartShape shape = shape_of(part, g);
    std::int64_t elements = 0;
    for (const std::string& name : weights.names(part, layer)) {
      const auto tensor = tensors.find(name);
      if (tensor == tensors.end()) return why = fmt::format("it has no tensor {}", name), false;
      const bool row = shape.rows == 1;
      if (!row && tensor->second.columns != shape.columns) return why = fmt::format("{} is misshapen", name), false;
      if (!is_readable(name, tensor->second, why)) return false;
      elements += tensor->second.rows * tensor->second.columns;
      ++known;
    }
    if (elements != shape.rows * shape.columns) return why = fmt::format("part {} is misshapen", known), false;
    return true;
  };
  if (!expect(Part::kEmbedding, 0) || !expect(Part::kOutputNorm, 0)) return false;
  if (!g.tied && !expect(Part::kHead, 0)) return false;
  for (int layer = 0; layer < g.layers; ++layer) {
    for (const Part part : {Part::kAttentionNorm, Part::kQkv, Part::kAttentionOutput, Part::kFeedForwardNorm,
                            Part::kGateUp, Part::kDown}) {
      if (!expect(part, layer)) return false;
    }
    if (g.qkv_bias && !expect(Part::kQkvBias, layer)) return false;
    if (g.head_norms && (!expect(Part::kQueryNorm, layer) || !expect(Part::kKeyNorm, layer))) return false;
  }
  for (const char* name : {"rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"}) {
    const auto tensor = tensors.find(name);
    if (tensor == tensors.end()) continue;
    if (!is_readable(name, tensor->second, why)) return false;
    ++known;
  }
  if (known != tensors.size()) {
    return why = fmt::format("{} of its {} tensors are unknown", tensors.size() - known, tensors.size()), false;
  }
  return true;
}

}  // namespace

std::unique_ptr<WeightSource> open_gguf_weights(const std::string& path, std::string& why) {
  const auto [facts, gguf] = open_gguf(path);
  const GgufMetadata metadata(gguf.get());
  if (metadata.number("split.count").value_or(1) > 1) return why = "the file is split", nullptr;
  const std::map<std::string, Tensor> tensors = list_tensors(gguf.get());
  std::optional<Geometry> geometry = read_geometry(metadata, facts, tensors, why);
  if (!geometry) return nullptr;
  if (!check_tensors(GgufWeights(path, *geometry, tensors), tensors, why)) return nullptr;

  const auto factors = [&](const char* name, std::vector<float>& out) {
    const auto tensor = tensors.find(name);
    if (tensor == tensors.end()) return true;
    if (tensor->second.columns * tensor->second.rows != geometry->rope.rotated / 2) return false;
    GgufWeights(path, *geometry, tensors).read_tensor(name, [&](std::span<const float> values) {
      out.insert(out.end(), values.begin(), values.end());
    });
    return true;
  };
  if (!factors("rope_freqs.weight", geometry->rope.factors) ||
      !factors("rope_factors_short.weight", geometry->rope.factors) ||
      !factors("rope_factors_long.weight", geometry->rope.long_factors)) {
    return why = "its RoPE factors are misshapen", nullptr;
  }
  return std::make_unique<GgufWeights>(path, *std::move(geometry), tensors);
}

}  // namespace dts::native
