// What suspended branches hold, in this machine's memory. A page that several of those suspended together share is
// there once, and once again in the pool when they come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/native/backend.h"

namespace dts::native {

class ParkedBranches {
 public:
  // All must outlive it.
  ParkedBranches(PagePool& pool, BranchTable& branches, Backend& backend, std::int64_t page_bytes)
      : pool_(pool), branches_(branches), backend_(backend), page_bytes_(static_cast<std::size_t>(page_bytes)) {}

  bool holds(BranchId branch) const { return groups_.contains(branch); }

  // Throws dts::Error when memory does not suffice: nothing has changed then.
  void park(std::span<const BranchId> branches);
  // Branches that were parked together, or what is left of them. `spare`: pages that must be free beyond theirs. False:
  // there are not so many.
  bool unpark(std::span<const BranchId> branches, int spare);
  // The branch is released: it will not come back.
  void forget(BranchId branch) { groups_.erase(branch); }

 private:
  struct Group {
    std::unique_ptr<std::byte[]> bytes;           // [pages, page_bytes]
    std::map<BranchId, std::vector<int>> places;  // of a branch's pages, in `bytes`
  };

  PagePool& pool_;
  BranchTable& branches_;
  Backend& backend_;
  std::size_t page_bytes_;
  std::map<BranchId, std::shared_ptr<Group>> groups_;
};

}  // namespace dts::native
