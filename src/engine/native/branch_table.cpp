#include "engine/native/branch_table.h"

#include <algorithm>
#include <utility>

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
  place->parked = false;
  place->length = 0;
  place->pages.clear();
  ++live_;
  ++version_;
  return static_cast<BranchId>(place - branches_.begin());
}

BranchId BranchTable::open_with(std::span<const PageId> pages, int tokens) {
  check(static_cast<std::size_t>(pages_for(tokens)) <= pages.size(), "no more tokens are taken over than there are");
  const BranchId branch = open();
  at(branch).length = tokens;
  at(branch).pages.assign(pages.begin(), pages.begin() + pages_for(tokens));
  for (const PageId page : at(branch).pages) pool_.hold(page);
  return branch;
}

BranchId BranchTable::fork(BranchId parent) {
  check(!at(parent).parked, "a branch whose pages are here is forked");
  return open_with(std::vector<PageId>(at(parent).pages), at(parent).length);
}

void BranchTable::release(BranchId branch) {
  check(is_open(branch), "an open branch is released");
  Branch& released = at(branch);
  for (const PageId page : released.pages) pool_.drop(page);
  released.pages.clear();
  released.open = false;
  if (released.parked) --parked_;
  --live_;
  ++version_;
}

void BranchTable::park(BranchId branch) {
  check(is_open(branch) && !at(branch).parked, "an open branch is parked once");
  for (const PageId page : at(branch).pages) pool_.drop(page);
  at(branch).pages.clear();
  at(branch).parked = true;
  ++parked_;
  ++version_;
}

void BranchTable::unpark(BranchId branch, std::vector<PageId> pages) {
  Branch& b = at(branch);
  check(b.parked && pages.size() == static_cast<std::size_t>(pages_for(b.length)),
        "a parked branch gets all its pages");
  b.pages = std::move(pages);
  b.parked = false;
  --parked_;
  ++version_;
}

// Only then is it written to: full pages are never.
bool BranchTable::last_is_shared(const Branch& branch) const {
  return branch.length % kPageTokens != 0 && pool_.holders(branch.pages.back()) > 1;
}

int BranchTable::pages_to_append(std::span<const Append> appends) const {
  int needed = 0;
  shared_.clear();
  for (const Append& append : appends) {
    const Branch& b = at(append.branch);
    needed += pages_for(b.length + append.tokens) - pages_for(b.length);
    if (append.tokens > 0 && last_is_shared(b)) shared_.push_back(b.pages.back());
  }
  std::sort(shared_.begin(), shared_.end());
  for (std::size_t i = 0, end = 0; i < shared_.size(); i = end) {
    while (end < shared_.size() && shared_[end] == shared_[i]) ++end;
    needed += std::min(static_cast<int>(end - i), pool_.holders(shared_[i]) - 1);
  }
  return needed;
}

void BranchTable::append(BranchId branch, int tokens, std::vector<KvSlot>& slots, std::vector<PageCopy>& copies) {
  Branch& b = at(branch);
  check(!b.parked, "a branch whose pages are here is appended to");
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
