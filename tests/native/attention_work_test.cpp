// The runs of a step against what each row must attend to.
#include "engine/native/attention_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace dts::native {
namespace {

TEST(AttentionWork, PartsTileTheContext) {
  for (int part = 0; part < 100; ++part) {
    const int first = first_token_of(part);
    EXPECT_EQ(parts_of(first), part);
    EXPECT_EQ(parts_of(first + 1), part + 1);
    EXPECT_EQ(first % kPageTokens, 0);
  }
  EXPECT_EQ(parts_of(0), 0);
}

// Every position of every row exactly once, in the part it belongs to, on the page that the branch has there.
void expect_complete(const AttentionWork& work, std::span<const AttentionPlanner::FedRows> feeds,
                     const BranchTable& branches, int tile) {
  std::vector<BranchId> branch_of;
  std::vector<int> position_of;
  for (const auto& feed : feeds) {
    for (int i = 0; i < feed.count; ++i) {
      branch_of.push_back(feed.branch);
      position_of.push_back(branches.length(feed.branch) - feed.count + i);
    }
  }
  const std::size_t rows = branch_of.size();
  ASSERT_EQ(work.part_starts.size(), rows + 1);
  std::vector<std::vector<int>> seen(rows);
  std::set<std::pair<int, int>> made;
  for (const AttentionItem& item : work.items) {
    ASSERT_GE(item.n_rows, 1);
    ASSERT_LE(item.n_rows, tile);
    for (int i = 0; i < item.n_rows; ++i) {
      const auto row = static_cast<std::size_t>(work.rows[static_cast<std::size_t>(item.first_row + i)]);
      ASSERT_TRUE(made.emplace(static_cast<int>(row), item.part).second) << "a part is made once";
      ASSERT_LT(work.part_starts[row] + item.part, work.part_starts[row + 1]);
      const auto pages = branches.pages(branch_of[row]);
      for (int token = 0; token < item.n_pages * kPageTokens; ++token) {
        const int position = item.first_position + token;
        if (position > position_of[row]) break;
        seen[row].push_back(position);
        ASSERT_EQ(work.pages[static_cast<std::size_t>(item.first_page + token / kPageTokens)],
                  pages[static_cast<std::size_t>(position / kPageTokens)]);
      }
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::sort(seen[row].begin(), seen[row].end());
    ASSERT_EQ(static_cast<int>(seen[row].size()), position_of[row] + 1);
    for (int p = 0; p <= position_of[row]; ++p) ASSERT_EQ(seen[row][static_cast<std::size_t>(p)], p);
    for (int part = 0; part < work.part_starts[row + 1] - work.part_starts[row]; ++part) {
      ASSERT_TRUE(made.contains({static_cast<int>(row), part}));
    }
  }
}

TEST(AttentionWork, EveryRowAttendsToItsBranchOnce) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto roll = [&](unsigned sides) { return static_cast<int>(random() % sides); };
    PagePool pool(2000);
    BranchTable branches(pool, 12);
    const int tile = 1 + roll(8);
    AttentionPlanner planner(tile);
    std::vector<BranchId> open = {branches.open()};
    std::vector<KvSlot> slots;
    std::vector<PageCopy> copies;
    branches.append(open[0], 1 + roll(6000), slots, copies);
    AttentionWork work;
    for (int round = 0; round < 30; ++round) {
      if (open.size() < 12 && roll(2) == 0)
        open.push_back(branches.fork(open[static_cast<std::size_t>(roll(static_cast<unsigned>(open.size())))]));
      std::vector<AttentionPlanner::FedRows> feeds;
      for (const BranchId branch : open) {
        if (roll(4) == 0) continue;
        const bool prompt = roll(6) == 0;
        feeds.push_back({.branch = branch, .count = prompt ? 1 + roll(90) : 1, .prompt = prompt});
        branches.append(branch, feeds.back().count, slots, copies);
      }
      planner.plan(feeds, branches, work);
      expect_complete(work, feeds, branches, tile);
    }
  }
}

// Sixteen branches over one prompt: its parts are runs of all of them, in tiles.
TEST(AttentionWork, ASharedRunIsReadOnceForATile) {
  PagePool pool(200);
  BranchTable branches(pool, 16);
  std::vector<KvSlot> slots;
  std::vector<PageCopy> copies;
  std::vector<AttentionPlanner::FedRows> feeds = {{.branch = branches.open()}};
  branches.append(feeds[0].branch, 512, slots, copies);
  for (int i = 1; i < 16; ++i) feeds.push_back({.branch = branches.fork(feeds[0].branch)});
  for (const auto& feed : feeds) branches.append(feed.branch, 1, slots, copies);
  AttentionWork work;
  AttentionPlanner(8).plan(feeds, branches, work);
  EXPECT_EQ(work.items.size(), 2U * 2 + 16);
  EXPECT_EQ(work.pages.size(), 8U + 16);
  AttentionPlanner(16).plan(feeds, branches, work);
  EXPECT_EQ(work.items.size(), 2U + 16);
}

}  // namespace
}  // namespace dts::native
