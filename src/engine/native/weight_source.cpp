#include "engine/native/weight_source.h"

namespace dts::native {

PartShape shape_of(Part part, const Geometry& g) {
  switch (part) {
    case Part::kEmbedding:
    case Part::kHead:
      return {g.n_vocab, g.width};
    case Part::kQkv:
      return {g.qkv_width(), g.width};
    case Part::kQkvBias:
      return {1, g.qkv_width()};
    case Part::kQueryNorm:
    case Part::kKeyNorm:
      return {1, g.head_size};
    case Part::kAttentionOutput:
      return {g.width, g.q_width()};
    case Part::kGateUp:
      return {std::int64_t{2} * g.feed_forward, g.width};
    case Part::kDown:
      return {g.width, g.feed_forward};
    case Part::kAttentionNorm:
    case Part::kFeedForwardNorm:
    case Part::kOutputNorm:
      break;
  }
  return {1, g.width};
}

}  // namespace dts::native
