#include "engine/native/branch_table.h"

#include <algorithm>

#include "base/check.h"

namespace dts::native {
namespace {

int pages_for(int tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

BranchTable::BranchTable(PagePool& pool, int max_branches)
    : pool_(pool), branches_(static_cast<std::size_t>(max_branches)) {}

bool BranchTable::is_open(BranchId branch) const {
  return branch >= 0 && static_cast<std::size_t>(branch) < branches_.size() && at(branch).open;
}

BranchId BranchTable::open() {
  const auto place = std::find_if(branches_.begin(), branches_.end(), [](const Branch& b) { return !b.open; });
  check(place != branches_.end(), "a branch is opened when there is room");
  place->open = true;
  place->length = 0;
  place->pages.clear();
  ++live_;
  ++version_;
  return static_cast<BranchId>(place - branches_.begin());
}

BranchId BranchTable::fork(BranchId parent) {
  const BranchId child = open();
  at(child).length = at(parent).length;
  at(child).pages = at(parent).pages;
  for (const PageId page : at(child).pages) pool_.hold(page);
  return child;
}

void BranchTable::release(BranchId branch) {
  check(is_open(branch), "an open branch is released");
  Branch& released = at(branch);
  for (const PageId page : released.pages) pool_.drop(page);
  released.pages.clear();
  released.open = false;
  --live_;
  ++version_;
}

// Only then is it written to: full pages are never.
bool BranchTable::last_is_shared(const Branch& branch) const {
  return branch.length % kPageTokens != 0 && pool_.holders(branch.pages.back()) > 1;
}

int BranchTable::pages_to_append(BranchId branch, int tokens) const {
  const Branch& b = at(branch);
  return pages_for(b.length + tokens) - pages_for(b.length) + (tokens > 0 && last_is_shared(b) ? 1 : 0);
}

void BranchTable::append(BranchId branch, int tokens, std::vector<KvSlot>& slots, std::vector<PageCopy>& copies) {
  Branch& b = at(branch);
  if (tokens > 0 && last_is_shared(b)) {
    const PageId own = pool_.take();
    copies.push_back({.from = b.pages.back(), .to = own});
    pool_.drop(b.pages.back());
    b.pages.back() = own;
    ++version_;
  }
  for (int i = 0; i < tokens; ++i, ++b.length) {
    if (b.length % kPageTokens == 0) {
      b.pages.push_back(pool_.take());
      ++version_;
    }
    slots.push_back({.page = b.pages.back(), .offset = b.length % kPageTokens});
  }
}

void BranchTable::take_back(BranchId branch, int tokens, const PageCopy* copy) {
  Branch& b = at(branch);
  check(tokens <= b.length, "no more tokens are taken back than there are");
  b.length -= tokens;
  const auto kept = static_cast<std::size_t>(pages_for(b.length));
  for (; b.pages.size() > kept; ++version_) {
    pool_.drop(b.pages.back());
    b.pages.pop_back();
  }
  if (copy == nullptr) return;
  check(b.pages.back() == copy->to, "a copy is undone by the branch that made it");
  pool_.hold(copy->from);
  pool_.drop(copy->to);
  b.pages.back() = copy->from;
  ++version_;
}

}  // namespace dts::native
