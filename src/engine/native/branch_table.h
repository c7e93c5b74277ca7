// Branches as lists of pages. A fork shares all of its parent's pages; whoever appends to a page that others hold,
// too, gets a copy of it first: so a fork costs at most one page, and nothing if it never appends.
#pragma once

#include <span>
#include <vector>

#include "dts/engine.h"
#include "engine/native/page_pool.h"

namespace dts::native {

struct PageCopy {
  PageId from = 0;
  PageId to = 0;
};

// Where a token's K and V go.
struct KvSlot {
  PageId page = 0;
  int offset = 0;  // token in the page
};

class BranchTable {
 public:
  BranchTable(PagePool& pool, int max_branches);

  int live() const { return live_; }
  int parked() const { return parked_; }  // of those
  bool is_open(BranchId branch) const;
  int length(BranchId branch) const { return at(branch).length; }
  std::span<const PageId> pages(BranchId branch) const { return at(branch).pages; }

  BranchId open();
  // Of the first `tokens` that `pages` hold, which it shares with whoever holds them now.
  BranchId open_with(std::span<const PageId> pages, int tokens);
  BranchId fork(BranchId parent);
  void release(BranchId branch);

  // A branch whose pages were copied elsewhere lets go of them, and gets others with the same in them, which are held
  // for it already. In between it has its length and no pages, and release() is all that may be done with it.
  void park(BranchId branch);
  void unpark(BranchId branch, std::vector<PageId> pages);

  struct Append {
    BranchId branch = 0;
    int tokens = 1;
  };
  // Pages that must be free for all of these, each branch at most once: new ones, and copies of shared last pages. Of
  // all that hold such a page, the last one left needs no copy.
  int pages_to_append(std::span<const Append> appends) const;
  // Makes room for `tokens` more and appends where they go to `slots`. The pages must be free. A copy that has to be
  // made before anything is written is appended to `copies`.
  void append(BranchId branch, int tokens, std::vector<KvSlot>& slots, std::vector<PageCopy>& copies);
  // Undoes the append() of as many tokens, which made `copy` (null: none): for a step that did not happen. Appends are
  // undone last first.
  void take_back(BranchId branch, int tokens, const PageCopy* copy);

  // Changes whenever any branch's list of pages does: what is made from the lists is valid until then.
  std::uint64_t version() const { return version_; }

 private:
  struct Branch {
    bool open = false;
    bool parked = false;
    int length = 0;  // tokens
    std::vector<PageId> pages;
  };

  Branch& at(BranchId branch) { return branches_[static_cast<std::size_t>(branch)]; }
  const Branch& at(BranchId branch) const { return branches_[static_cast<std::size_t>(branch)]; }
  bool last_is_shared(const Branch& branch) const;

  PagePool& pool_;
  std::vector<Branch> branches_;
  int live_ = 0;
  int parked_ = 0;
  std::uint64_t version_ = 0;
  mutable std::vector<PageId> shared_;  // of pages_to_append(), reused
};

}  // namespace dts::native
