#include "engine/native/parked_branches.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/check.h"
#include "dts/error.h"

namespace dts::native {

void ParkedBranches::park(std::span<const BranchId> branches) {
  const auto group = std::make_shared<Group>();
  std::map<PageId, int> place_of;
  std::vector<PageId> pages;
  for (const BranchId branch : branches) {
    std::vector<int>& places = group->places[branch];
    for (const PageId page : branches_.pages(branch)) {
      const auto [found, fresh] = place_of.try_emplace(page, static_cast<int>(pages.size()));
      if (fresh) pages.push_back(page);
      places.push_back(found->second);
    }
  }
  try {
    group->bytes = std::make_unique_for_overwrite<std::byte[]>(pages.size() * page_bytes_);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("the pages of KV are full, and there is no memory to suspend a search that holds {:.1f} GB",
                            static_cast<double>(pages.size() * page_bytes_) / 1e9));
  }
  backend_.save_pages(pages, {group->bytes.get(), pages.size() * page_bytes_});
  for (const BranchId branch : branches) {
    groups_[branch] = group;
    branches_.park(branch);
  }
}

bool ParkedBranches::unpark(std::span<const BranchId> branches, int spare) {
  if (branches.empty()) return true;
  const std::shared_ptr<Group> group = groups_.at(branches.front());
  std::map<int, PageId> page_of;  // by place
  for (const BranchId branch : branches) {
    check(groups_.at(branch) == group, "branches come back that were parked together");
    for (const int place : group->places.at(branch)) page_of[place] = 0;
  }
  if (static_cast<int>(page_of.size()) + spare > pool_.free()) return false;
  for (auto& [place, page] : page_of) page = pool_.take();
  try {
    // Places that follow each other are one copy.
    std::vector<PageId> run;
    for (auto at = page_of.begin(); at != page_of.end();) {
      const int first = at->first;
      for (run.clear(); at != page_of.end() && at->first == first + static_cast<int>(run.size()); ++at) {
        run.push_back(at->second);
      }
      backend_.load_pages(
          run, {group->bytes.get() + static_cast<std::size_t>(first) * page_bytes_, run.size() * page_bytes_});
    }
  } catch (...) {
    for (const auto& [place, page] : page_of) pool_.drop(page);
    throw;
  }
  for (const BranchId branch : branches) {
    std::vector<PageId> pages;
    for (const int place : group->places.at(branch)) pages.push_back(page_of.at(place));
    for (const PageId page : pages) pool_.hold(page);
    branches_.unpark(branch, std::move(pages));
    groups_.erase(branch);
  }
  for (const auto& [place, page] : page_of) pool_.drop(page);  // they are the branches' now
  return true;
}

}  // namespace dts::native
