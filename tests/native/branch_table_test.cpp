// Branches as lists of pages against branches as plain lists of tokens.
#include "engine/native/branch_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace dts::native {
namespace {

// What the pages hold, and what each branch should.
class Model {
 public:
  Model(int pages, int max_branches, unsigned seed)
      : pool_(pages), table_(pool_, max_branches), memory_(static_cast<std::size_t>(pages)), random_(seed) {
    for (auto& page : memory_) page.assign(kPageTokens, -1);
    max_branches_ = max_branches;
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const unsigned kind = roll(10);
      if (truth_.empty() || (kind == 0 && room())) {
        truth_[table_.open()];
      } else if (kind < 3 && room()) {
        const auto parent = some();
        const int used = pool_.used();
        const BranchId child = table_.fork(parent->first);
        EXPECT_EQ(pool_.used(), used) << "a fork takes no page";
        truth_[child] = parent->second;
      } else if (kind == 3) {
        const auto branch = some();
        table_.release(branch->first);
        truth_.erase(branch);
      } else {
        append(some(), 1 + static_cast<int>(roll(roll(4) == 0 ? 200 : 3)), roll(8) == 0);
      }
      check_all();
    }
    while (!truth_.empty()) {
      table_.release(truth_.begin()->first);
      truth_.erase(truth_.begin());
    }
    EXPECT_EQ(pool_.used(), 0);
    EXPECT_EQ(table_.live(), 0);
  }

 private:
  using Truth = std::map<BranchId, std::vector<int>>;

  unsigned roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  bool room() const { return static_cast<int>(truth_.size()) < max_branches_; }
  Truth::iterator some() { return std::next(truth_.begin(), roll(static_cast<unsigned>(truth_.size()))); }

  void append(Truth::iterator branch, int tokens, bool undo) {
    const int needed = table_.pages_to_append(branch->first, tokens);
    if (needed > pool_.free()) return;
    const int used = pool_.used();
    std::vector<KvSlot> slots;
    std::vector<PageCopy> copies;
    table_.append(branch->first, tokens, slots, copies);
    EXPECT_EQ(pool_.used(), used + needed);
    ASSERT_LE(copies.size(), 1U);
    if (!undo) {
      for (const PageCopy& copy : copies) at(copy.to) = at(copy.from);
    }
    ASSERT_EQ(slots.size(), static_cast<std::size_t>(tokens));
    for (const KvSlot& slot : slots) {
      at(slot.page)[static_cast<std::size_t>(slot.offset)] = next_;
      branch->second.push_back(next_++);
    }
    if (!undo) return;
    table_.take_back(branch->first, tokens, copies.empty() ? nullptr : copies.data());
    branch->second.resize(branch->second.size() - static_cast<std::size_t>(tokens));
    EXPECT_EQ(pool_.used(), used);
  }

  void check_all() {
    std::set<PageId> used;
    for (const auto& [branch, tokens] : truth_) {
      ASSERT_EQ(table_.length(branch), static_cast<int>(tokens.size()));
      const auto pages = table_.pages(branch);
      ASSERT_EQ(pages.size(), (tokens.size() + kPageTokens - 1) / kPageTokens);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        ASSERT_EQ(at(pages[i / kPageTokens])[i % kPageTokens], tokens[i]) << "branch " << branch << " token " << i;
      }
      used.insert(pages.begin(), pages.end());
    }
    ASSERT_EQ(static_cast<int>(used.size()), pool_.used()) << "a page is in use exactly while a branch has it";
  }

  std::vector<int>& at(PageId page) { return memory_[static_cast<std::size_t>(page)]; }

  PagePool pool_;
  BranchTable table_;
  std::vector<std::vector<int>> memory_;  // [pages][kPageTokens]
  std::mt19937 random_;
  Truth truth_;
  int max_branches_ = 0;
  int next_ = 0;
};

TEST(BranchTable, HoldsWhatBranchesWereFed) {
  for (unsigned seed = 0; seed < 20; ++seed) Model(60, 9, seed).run(400);
}

TEST(BranchTable, ForksOfAFullPageCopyNothing) {
  PagePool pool(10);
  BranchTable table(pool, 3);
  std::vector<KvSlot> slots;
  std::vector<PageCopy> copies;
  const BranchId parent = table.open();
  table.append(parent, 2 * kPageTokens, slots, copies);
  const BranchId child = table.fork(parent);
  table.append(child, 1, slots, copies);
  table.append(parent, 1, slots, copies);
  EXPECT_TRUE(copies.empty());
  EXPECT_EQ(pool.used(), 4);
}

// The last that holds a page writes to it in place.
TEST(BranchTable, OfAllThatShareAPageOneNeedsNoCopy) {
  PagePool pool(10);
  BranchTable table(pool, 4);
  std::vector<KvSlot> slots;
  std::vector<PageCopy> copies;
  const BranchId parent = table.open();
  table.append(parent, 10, slots, copies);
  std::vector<BranchId> all = {parent, table.fork(parent), table.fork(parent), table.fork(parent)};
  for (const BranchId branch : all) table.append(branch, 1, slots, copies);
  EXPECT_EQ(copies.size(), 3U);
  EXPECT_EQ(pool.used(), 4);
}

}  // namespace
}  // namespace dts::native
