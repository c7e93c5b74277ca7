#include "engine/native/attention_work.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace dts::native {

void AttentionWork::clear() {
  items.clear();
  pages.clear();
  rows.clear();
  part_starts.clear();
}

namespace {

// Parts of `tokens` up to position `end`, which is a multiple of them.
struct Stretch {
  int end, tokens;
};
constexpr Stretch kStretches[] = {{512, 256}, {1024, 512}, {std::numeric_limits<int>::max(), 1024}};

}  // namespace

int parts_of(int tokens) {
  int parts = 0;
  int start = 0;
  for (const Stretch& stretch : kStretches) {
    const int here = std::min(tokens, stretch.end) - start;
    parts += (here + stretch.tokens - 1) / stretch.tokens;
    if (tokens <= stretch.end) break;
    start = stretch.end;
  }
  return parts;
}

int first_token_of(int part) {
  int start = 0;
  for (const Stretch& stretch : kStretches) {
    const int parts = (stretch.end - start) / stretch.tokens;
    if (part <= parts) return start + part * stretch.tokens;
    part -= parts;
    start = stretch.end;
  }
  return start;
}

void AttentionPlanner::plan_prompt(const FedRows& feed, int first_row, const BranchTable& branches,
                                   AttentionWork& work) const {
  const std::span<const PageId> pages = branches.pages(feed.branch);
  const int before = branches.length(feed.branch) - feed.count;
  const auto first_page = static_cast<std::int32_t>(work.pages.size());
  work.pages.insert(work.pages.end(), pages.begin(), pages.end());
  for (int row = 0; row < feed.count; row += tile_) {
    const int rows = std::min(tile_, feed.count - row);
    AttentionItem item;
    item.first_page = first_page;
    item.n_pages = (before + row + rows + kPageTokens - 1) / kPageTokens;
    item.first_row = static_cast<std::int32_t>(work.rows.size());
    item.n_rows = rows;
    for (int i = 0; i < rows; ++i) work.rows.push_back(first_row + row + i);
    work.items.push_back(item);
  }
}

void AttentionPlanner::plan(std::span<const FedRows> feeds, const BranchTable& branches, AttentionWork& work) {
  work.clear();
  groups_.clear();
  shared_.clear();
  links_.clear();
  int row = 0;
  int parts = 0;
  for (const FedRows& feed : feeds) {
    if (feed.prompt) {
      plan_prompt(feed, row, branches, work);
      for (int i = 0; i < feed.count; ++i) work.part_starts.push_back(parts++);
      row += feed.count;
      continue;
    }
    check(feed.count == 1, "a row that decodes is one token");
    const std::span<const PageId> pages = branches.pages(feed.branch);
    const int n_parts = parts_of(branches.length(feed.branch));
    for (int part = 0; part < n_parts; ++part) {
      const int begin = first_token_of(part) / kPageTokens;
      const int end = std::min(static_cast<int>(pages.size()), first_token_of(part + 1) / kPageTokens);
      // Pages are shared from the first on: the same last page means that all before it are the same.
      const PageId last = pages[static_cast<std::size_t>(end - 1)];
      const std::uint64_t key =
          (std::uint64_t{static_cast<std::uint32_t>(part)} << 32U) | static_cast<std::uint32_t>(last);
      const auto [place, fresh] = groups_.try_emplace(key, shared_.size());
      if (fresh) {
        shared_.push_back(
            {.first_page = static_cast<std::int32_t>(work.pages.size()), .n_pages = end - begin, .part = part});
        work.pages.insert(work.pages.end(), pages.begin() + begin, pages.begin() + end);
      }
      Shared& group = shared_[place->second];
      links_.emplace_back(row, group.last_row);
      group.last_row = static_cast<std::int32_t>(links_.size() - 1);
      ++group.n_rows;
    }
    work.part_starts.push_back(parts);
    parts += n_parts;
    ++row;
  }
  work.part_starts.push_back(parts);
  // Long runs first: a short one fills what they leave at the end.
  std::stable_sort(shared_.begin(), shared_.end(),
                   [](const Shared& a, const Shared& b) { return a.n_pages > b.n_pages; });
  for (const Shared& group : shared_) {
    std::int32_t link = group.last_row;
    for (int done = 0; done < group.n_rows; done += tile_) {
      AttentionItem item;
      item.first_page = group.first_page;
      item.n_pages = group.n_pages;
      item.first_position = first_token_of(group.part);
      item.part = group.part;
      item.first_row = static_cast<std::int32_t>(work.rows.size());
      item.n_rows = std::min(tile_, group.n_rows - done);
      for (int i = 0; i < item.n_rows; ++i) {
        const auto [fed, before] = links_[static_cast<std::size_t>(link)];
        work.rows.push_back(fed);
        link = before;
      }
      work.items.push_back(item);
    }
  }
}

}  // namespace dts::native
