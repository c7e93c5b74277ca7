#include "engine/native/page_pool.h"

#include "base/check.h"

namespace dts::native {

PagePool::PagePool(int pages) : holders_(static_cast<std::size_t>(pages), 0) {
  free_.reserve(holders_.size());
  for (PageId page = pages - 1; page >= 0; --page) free_.push_back(page);
}

PageId PagePool::take() {
  check(!free_.empty(), "a page is taken when there is one");
  const PageId page = free_.back();
  free_.pop_back();
  holders_[static_cast<std::size_t>(page)] = 1;
  return page;
}

void PagePool::hold(PageId page) {
  check(holders(page) > 0, "a page that somebody holds is held again");
  ++holders_[static_cast<std::size_t>(page)];
}

void PagePool::drop(PageId page) {
  check(holders(page) > 0, "a page is dropped by who holds it");
  if (--holders_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

}  // namespace dts::native
