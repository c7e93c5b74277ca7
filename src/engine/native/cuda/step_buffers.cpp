#include "engine/native/cuda/step_buffers.h"

#include <algorithm>

#include "engine/native/cuda/gemm.h"

namespace dts::native::cuda {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }
std::size_t rounded_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

int bucket_of(int rows) {
  for (const int bucket : {8, 16, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448, 512}) {
    if (rows <= bucket) return bucket;
  }
  return (rows + 127) / 128 * 128;
}

int most_slices(const Geometry& g) { return std::max(slices_of(g.q_width()), slices_of(g.feed_forward)); }

StepSizes::StepSizes(const Geometry& geometry, const BackendLimits& limits)
    : rows(size(std::max(64, bucket_of(limits.rows)))),
      outputs(size(std::max(64, bucket_of(limits.outputs)))),
      stride(rounded_up(size(geometry.n_vocab), 32)),
      parts(size(limits.rows) + size(limits.decoding_rows) * size(parts_of(limits.context))) {
  rows = rounded_up(rows, 64);  // products may go 64 rows at a time
  outputs = rounded_up(outputs, 64);
  const std::size_t items = parts;  // each has one row or more of the parts
  const std::size_t pages = size(limits.decoding_rows) * size(limits.context / kPageTokens + 1) +
                            size(limits.rows) * 2 + size(limits.context / kPageTokens + 1);
  work_numbers = sizeof(WorkHeader) / 4 + items * (sizeof(Item) / 4) + parts + pages;
}

std::int64_t StepSizes::bytes(const Geometry& g) const {
  const std::size_t row = size(g.width) * 6 + size(most_slices(g)) * size(g.width) * 8 + size(g.qkv_width()) * 4 +
                          size(g.q_width()) * 4 + size(g.feed_forward) * 6;
  const std::size_t part = size(g.q_width()) * 4 + size(g.heads) * 8;
  const std::size_t output =
      stride * 4 + kMostGroups * 4 + sizeof(DevicePrediction) + size(blocks_of(g.n_vocab)) * sizeof(DeviceBlockSums);
  constexpr std::size_t kLibraries = std::size_t{512} << 20U;  // cuBLASLt, graphs, what products are chosen by
  return static_cast<std::int64_t>(rows * row + parts * part + 2 * outputs * output + work_numbers * 4 + kLibraries);
}

StepInput::StepInput(const StepSizes& sizes) {
  const auto take = [&](std::size_t bytes) {
    const std::size_t at = size;
    size += rounded_up(bytes, 128);
    return at;
  };
  tokens = take(sizes.rows * 4);
  positions = take(sizes.rows * 4);
  slot_pages = take(sizes.rows * 4);
  slot_offsets = take(sizes.rows * 4);
  part_starts = take((sizes.rows + 1) * 4);
  output_rows = take(sizes.outputs * 4);
  specs = take(sizes.outputs * sizeof(DeviceSpec));
}

StepBuffers::StepBuffers(const Geometry& g, const StepSizes& s)
    : layout(s),
      input(layout.size),
      work(s.work_numbers),
      copies(s.rows),
      residual(s.rows * size(g.width)),
      slices(size(most_slices(g)) * s.rows * size(g.width)),
      normed(s.rows * size(g.width)),
      turns(s.rows * size(g.rope.rotated / 2)),
      qkv(s.rows * size(g.qkv_width())),
      queries(s.rows * size(g.q_width())),
      attended(s.rows * size(g.q_width())),
      gate_up(s.rows * 2 * size(g.feed_forward)),
      hidden(s.rows * size(g.feed_forward)),
      partial_values(s.parts * size(g.q_width())),
      partial_sums(s.parts * size(g.heads)),
      logits(s.outputs * s.stride),
      group_max(s.outputs * kMostGroups),
      sums(s.outputs * size(blocks_of(g.n_vocab))),
      predictions(s.outputs),
      host_input(layout.size),
      host_work(s.work_numbers),
      host_copies(s.rows),
      host_predictions(s.outputs),
      host_logits(size(g.n_vocab)) {}

}  // namespace dts::native::cuda
