// What computes: the model's kernels over pages of KV. The engine above it knows branches and pages; a backend knows
// neither trees nor sharing, only rows, slots and runs of pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dts/engine.h"
#include "dts/native.h"
#include "engine/native/attention_work.h"
#include "engine/native/branch_table.h"
#include "engine/native/weight_source.h"

namespace dts::native {

// A row that a prediction is wanted after.
struct OutputRow {
  std::int32_t row = 0;
  std::uint64_t draw = 0;
  const PredictionSpec* spec = nullptr;  // not owned
  const LogitsFilter* filter = nullptr;  // not owned; null: none
  Prediction* out = nullptr;             // not owned
};

// One step. Rows are fed tokens.
struct StepRows {
  std::span<const PageCopy> copies;         // of whole pages, before anything else
  std::span<const Token> tokens;            // [rows]
  std::span<const std::int32_t> positions;  // [rows]
  std::span<const KvSlot> slots;            // [rows]
  const AttentionWork* attention = nullptr;
  std::uint64_t attention_version = 0;  // the same as in the step before: so is the work
  std::span<const OutputRow> outputs;   // ascending rows
};

// The most that steps will have.
struct BackendLimits {
  int pages = 0;    // of kPageTokens tokens
  int rows = 0;     // of one step
  int outputs = 0;  // of one step
  int decoding_rows = 0;
  int context = 0;  // tokens of a branch
  NativeKvType kv = NativeKvType::kF16;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Step rows that an attention item may have.
  virtual int attention_tile() const = 0;

  // A row's results depend on its own tokens alone, to the last bit. Throws dts::Error when the device fails, and
  // Interrupted when `interruption` is due before it is done; what was written to the slots is then meaningless.
  virtual void step(const StepRows& rows, const Interruption& interruption, EngineTimes& times) = 0;

  // Copies whole pages of all layers to this machine's memory, one after the other, Device::page_bytes() each; and
  // back, to the last bit, into any pages.
  virtual void save_pages(std::span<const PageId> pages, std::span<std::byte> to) = 0;
  virtual void load_pages(std::span<const PageId> pages, std::span<const std::byte> from) = 0;
};

// The weights on a device, shared by the backends made from it, which it must outlive.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual std::string name() const = 0;                        // "NVIDIA H200", "CPU"
  virtual std::int64_t weight_bytes() const = 0;               // taken on it
  virtual std::int64_t available_bytes() const = 0;            // left on it
  virtual std::int64_t page_bytes(NativeKvType kv) const = 0;  // of K and V of one page, all layers
  virtual std::int64_t scratch_bytes(const BackendLimits& limits) const = 0;
  virtual std::unique_ptr<Backend> make_backend(const BackendLimits& limits) const = 0;
};

}  // namespace dts::native
