#include "engine/native/cpu/lazy_panels.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/native/mapped_file.h"

namespace dts::native {

LazyPanels::LazyPanels(PanelType type, StoredRows rows)
    : matrix_(make_panels(type, static_cast<int>(rows.rows), static_cast<int>(rows.columns))),
      rows_(std::move(rows)),
      state_(std::make_unique<Shared>()) {
  state_->left = matrix_.panels();
  state_->panels = std::make_unique<std::atomic<State>[]>(static_cast<std::size_t>(matrix_.panels()));
}

std::int64_t LazyPanels::unpacked_bytes() const {
  return state_->left.load(std::memory_order_relaxed) * static_cast<std::int64_t>(matrix_.stride());
}

const std::uint8_t* LazyPanels::rows_of(int panel) const {
  return rows_.data + static_cast<std::size_t>(panel) * kPanelOutputs * row_bytes(matrix_.type, matrix_.inputs);
}

void LazyPanels::pack(int first, int count) const {
  int packed = 0;
  for (int panel = first; panel < first + count; ++panel) {
    State expected = State::kInFile;
    if (!state(panel).compare_exchange_strong(expected, State::kBeingPacked, std::memory_order_relaxed)) continue;
    pack_panel(matrix_, panel, rows_of(panel));
    state(panel).store(State::kPacked, std::memory_order_release);
    ++packed;
  }
  if (packed == 0) return;
  const bool last = state_->left.fetch_sub(packed, std::memory_order_acq_rel) == packed;
  if (!rows_.mapped) return;
  // Otherwise the model would be in memory twice in the end. What lies on a page with other rows goes with the last.
  if (last) {
    first = 0;
    count = matrix_.panels();
  }
  const int rows = std::min(matrix_.outputs, (first + count) * kPanelOutputs) - first * kPanelOutputs;
  MappedFile::let_go(rows_of(first), static_cast<std::size_t>(rows) * row_bytes(matrix_.type, matrix_.inputs));
}

void LazyPanels::pack_into(PanelMatrix& scratch, int panel) const {
  check(scratch.bytes.size() >= matrix_.stride(), "the panel has room");
  scratch.type = matrix_.type;
  scratch.inputs = matrix_.inputs;
  scratch.outputs = std::min(kPanelOutputs, matrix_.outputs - panel * kPanelOutputs);
  pack_panel(scratch, 0, rows_of(panel));
}

}  // namespace dts::native
