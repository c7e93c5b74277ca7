// Everything that a step's kernels read and write beside weights and pages; made once.
#pragma once

#include <cstdint>

#include "engine/native/backend.h"
#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/kernels.h"

namespace dts::native::cuda {

// Rows are padded to one of these, so that few graphs do for all numbers of rows.
int bucket_of(int rows);

// The sizes that limits come to.
struct StepSizes {
  StepSizes(const Geometry& geometry, const BackendLimits& limits);

  std::size_t rows = 0;     // a bucket
  std::size_t outputs = 0;  // a bucket
  std::size_t stride = 0;   // of a row of logits
  std::size_t parts = 0;
  std::size_t work_numbers = 0;  // 32-bit numbers of attention work
  std::int64_t bytes(const Geometry& geometry) const;
};

// A step's input beside the attention's work: one block of memory, so that it is one copy.
struct StepInput {
  explicit StepInput(const StepSizes& sizes);
  // Offsets in bytes.
  std::size_t tokens = 0, positions = 0, slot_pages = 0, slot_offsets = 0, part_starts = 0, output_rows = 0, specs = 0;
  std::size_t size = 0;
};

// Of the products whose results are added to the residual stream.
int most_slices(const Geometry& geometry);

struct StepBuffers {
  StepBuffers(const Geometry& geometry, const StepSizes& sizes);

  StepInput layout;
  DeviceBuffer<char> input;
  DeviceBuffer<std::int32_t> work;             // a WorkHeader first
  DeviceBuffer<Copy> copies;                   // [rows]
  DeviceBuffer<float> residual;                // [rows, width]
  DeviceBuffer<float> slices;                  // [slices, rows, width]: what is yet to be added
  DeviceBuffer<f16> normed;                    // [rows, width]
  DeviceBuffer<float2> turns;                  // [rows, rotated / 2]
  DeviceBuffer<float> qkv;                     // [rows, qkv_width]
  DeviceBuffer<f16> queries;                   // [rows, q_width]
  DeviceBuffer<f16> attended;                  // [rows, q_width]
  DeviceBuffer<f16> gate_up;                   // [rows, 2 * feed_forward]
  DeviceBuffer<f16> hidden;                    // [rows, feed_forward]
  DeviceBuffer<float> partial_values;          // [parts, q_width]
  DeviceBuffer<float2> partial_sums;           // [parts, heads]
  DeviceBuffer<float> logits;                  // [outputs, stride]
  DeviceBuffer<float> group_max;               // [outputs, kMostGroups]
  DeviceBuffer<DeviceBlockSums> sums;          // [outputs, blocks]
  DeviceBuffer<DevicePrediction> predictions;  // [outputs]

  PinnedBuffer<char> host_input;
  PinnedBuffer<std::int32_t> host_work;
  PinnedBuffer<Copy> host_copies;
  PinnedBuffer<DevicePrediction> host_predictions;
  PinnedBuffer<float> host_logits;  // [n_vocab]: one row, for those that the host decides
};

}  // namespace dts::native::cuda
