// Where a backend gets its weights from: a file, or a generator. One tensor at a time, so that a model need never be
// in this machine's memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/native/geometry.h"

namespace dts::native {

// Matrices have one output a row: [outputs, inputs]. What some files keep apart is one here.
enum class Part {
  kEmbedding,        // [n_vocab, width]
  kAttentionNorm,    // [width]
  kQkv,              // [qkv_width, width]: queries, then keys, then values
  kQkvBias,          // [qkv_width]; where the geometry says so
  kQueryNorm,        // [head_size]; where the geometry says so
  kKeyNorm,          // [head_size]
  kAttentionOutput,  // [width, q_width]
  kFeedForwardNorm,  // [width]
  kGateUp,           // [2 * feed_forward, width]: gates, then ups
  kDown,             // [width, feed_forward]
  kOutputNorm,       // [width]
  kHead,             // [n_vocab, width]; not asked for where it is tied
};

struct PartShape {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
};
PartShape shape_of(Part part, const Geometry& geometry);

// Rows as they are stored, in blocks of a ggml type.
struct StoredRows {
  int type = 0;  // ggml_type
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::uint8_t* data = nullptr;
  bool mapped = false;                     // from a MappedFile, which can let go of them
  std::shared_ptr<const void> owner = {};  // keeps the data where it is
};

class WeightSource {
 public:
  WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;
  virtual ~WeightSource() = default;

  virtual const Geometry& geometry() const = 0;

  // Hands the part's elements to `take`, in order, stretch by stretch. `layer` is 0 for what is not in a layer.
  // Throws dts::Error when they cannot be read.
  virtual void read(Part part, int layer, const std::function<void(std::span<const float>)>& take) const = 0;

  // The part as it is stored, matrix after matrix; none where there is no such thing. Throws dts::Error.
  virtual std::vector<StoredRows> stored(Part /*part*/, int /*layer*/) const { return {}; }
  // Reads stored rows into memory, if they are not there. Throws dts::Error when that cannot be done.
  virtual void fetch(const StoredRows& /*rows*/) const {}
};

}  // namespace dts::native
