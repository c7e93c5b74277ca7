// Pages of KV: who holds which, counted. Bookkeeping only: the bytes are the backend's.
#pragma once

#include <vector>

namespace dts::native {

inline constexpr int kPageTokens = 64;

using PageId = int;

class PagePool {
 public:
  explicit PagePool(int pages);

  int size() const { return static_cast<int>(holders_.size()); }
  int free() const { return static_cast<int>(free_.size()); }
  int used() const { return size() - free(); }
  int holders(PageId page) const { return holders_[static_cast<std::size_t>(page)]; }

  // One that nobody held, now held once. There must be a free one. The last that was freed comes first.
  PageId take();
  void hold(PageId page);
  void drop(PageId page);

 private:
  std::vector<int> holders_;  // [pages] 0: free
  std::vector<PageId> free_;  // the last is taken next
};

}  // namespace dts::native
