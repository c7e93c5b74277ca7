// A matrix in a file whose panels are packed while the first steps use them.
//
// To pack a model is to fill as much memory as it has bytes, and where that is fresh it has to be handed out first: in
// a virtual machine that can take two seconds a gigabyte. So a load packs nothing. A step packs a share of the panels
// for good; the others it packs into memory of the thread's own that it uses again and again. The bytes are the same
// either way, so no result tells which it was.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/native/cpu/panels.h"
#include "engine/native/weight_source.h"

namespace dts::native {

class LazyPanels {
 public:
  LazyPanels(PanelType type, StoredRows rows);

  // All of it; only what is packed has bytes that mean anything.
  const PanelMatrix& matrix() const { return matrix_; }
  bool packed() const { return state_->left.load(std::memory_order_acquire) == 0; }
  bool packed(int panel) const { return state(panel).load(std::memory_order_acquire) == State::kPacked; }
  std::int64_t unpacked_bytes() const;

  // Any number of threads may call these at once.
  //
  // Packs for good what nobody else has packed or is packing of panels [first, first + count), and lets go of the rows.
  void pack(int first, int count) const;
  // Packs one panel as the only one of `scratch`, which has room for it.
  void pack_into(PanelMatrix& scratch, int panel) const;

 private:
  enum class State : std::uint8_t { kInFile, kBeingPacked, kPacked };
  struct Shared {
    std::atomic<int> left = 0;                          // panels that are not packed
    std::unique_ptr<std::atomic<State>[]> panels = {};  // [panels]
  };

  std::atomic<State>& state(int panel) const { return state_->panels[static_cast<std::size_t>(panel)]; }
  const std::uint8_t* rows_of(int panel) const;

  // What pack() fills and nobody reads before: to those who multiply, it was always there.
  mutable PanelMatrix matrix_;
  StoredRows rows_;
  std::unique_ptr<Shared> state_;
};

}  // namespace dts::native
