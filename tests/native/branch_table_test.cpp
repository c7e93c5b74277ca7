// Branches as lists of pages against branches as plain lists of tokens.
#include "engine/native/branch_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "engine/native/parked_branches.h"

namespace dts::native {
namespace {

constexpr std::size_t kPageBytes = kPageTokens * sizeof(int);

// Pages whose tokens are numbers.
class PageMemory final : public Backend {
 public:
  explicit PageMemory(int pages) : pages_(static_cast<std::size_t>(pages), std::vector<int>(kPageTokens, -1)) {}
  std::vector<int>& at(PageId page) { return pages_[static_cast<std::size_t>(page)]; }

  int attention_tile() const override { return 1; }
  void step(const StepRows& /*rows*/, const Interruption& /*interruption*/, EngineTimes& /*times*/) override {
    FAIL() << "nothing is computed here";
  }
  void save_pages(std::span<const PageId> pages, std::span<std::byte> to) override {
    ASSERT_EQ(to.size(), pages.size() * kPageBytes);
    for (std::size_t i = 0; i < pages.size(); ++i) std::memcpy(&to[i * kPageBytes], at(pages[i]).data(), kPageBytes);
  }
  void load_pages(std::span<const PageId> pages, std::span<const std::byte> from) override {
    ASSERT_EQ(from.size(), pages.size() * kPageBytes);
    for (std::size_t i = 0; i < pages.size(); ++i) std::memcpy(at(pages[i]).data(), &from[i * kPageBytes], kPageBytes);
  }

 private:
  std::vector<std::vector<int>> pages_;  // [pages][kPageTokens]
};

// What the pages hold, and what each branch should.
class Model {
 public:
  Model(int pages, int max_branches, unsigned seed)
      : pool_(pages),
        table_(pool_, max_branches),
        memory_(pages),
        parked_(pool_, table_, memory_, kPageBytes),
        random_(seed),
        max_branches_(max_branches) {}

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const unsigned kind = roll(10);
      if (truth_.empty() && !room()) {
        unpark();  // all are away
      } else if (truth_.empty() || (kind == 0 && room())) {
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
      } else if (kind == 4 && room()) {
        open_with_the_start_of(some());
      } else if (kind == 5) {
        roll(2) == 0 ? park() : unpark();
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
    for (const auto& group : away_) {
      for (const auto& [branch, tokens] : group) {
        parked_.forget(branch);
        table_.release(branch);
      }
    }
    EXPECT_EQ(pool_.used(), 0);
    EXPECT_EQ(table_.live(), 0);
    EXPECT_EQ(table_.parked(), 0);
  }

 private:
  using Truth = std::map<BranchId, std::vector<int>>;

  unsigned roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  bool room() const { return table_.live() < max_branches_; }
  Truth::iterator some() { return std::next(truth_.begin(), roll(static_cast<unsigned>(truth_.size()))); }

  void open_with_the_start_of(Truth::iterator other) {
    const auto length = static_cast<int>(roll(static_cast<unsigned>(other->second.size() + 1)));
    const int used = pool_.used();
    const BranchId branch = table_.open_with(
        std::vector<PageId>(table_.pages(other->first).begin(), table_.pages(other->first).end()), length);
    EXPECT_EQ(pool_.used(), used);
    truth_[branch].assign(other->second.begin(), other->second.begin() + length);
  }

  // Some of the branches go away together, and come back together but for those released meanwhile.
  void park() {
    Truth group;
    std::vector<BranchId> ids;
    for (const auto& [branch, tokens] : truth_) {
      if (roll(2) == 0) continue;
      ids.push_back(branch);
      group.emplace(branch, tokens);
    }
    if (ids.empty()) return;
    parked_.park(ids);
    for (const BranchId branch : ids) truth_.erase(branch);
    away_.push_back(std::move(group));
  }

  void unpark() {
    if (away_.empty()) return;
    const auto at = away_.begin() + roll(static_cast<unsigned>(away_.size()));
    if (roll(3) == 0) {
      parked_.forget(at->begin()->first);
      table_.release(at->begin()->first);
      at->erase(at->begin());
    }
    std::vector<BranchId> ids;
    for (const auto& [branch, tokens] : *at) ids.push_back(branch);
    const int free = pool_.free();
    const int spare = static_cast<int>(roll(30));
    if (!parked_.unpark(ids, spare)) {
      EXPECT_EQ(pool_.free(), free) << "what does not fit takes nothing";
      if (at->empty()) away_.erase(at);
      return;
    }
    EXPECT_TRUE(ids.empty() || pool_.free() >= spare);
    truth_.merge(*at);
    away_.erase(at);
  }

  void append(Truth::iterator branch, int tokens, bool undo) {
    const BranchTable::Append one{.branch = branch->first, .tokens = tokens};
    const int needed = table_.pages_to_append({&one, 1});
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

  std::vector<int>& at(PageId page) { return memory_.at(page); }

  PagePool pool_;
  BranchTable table_;
  PageMemory memory_;
  ParkedBranches parked_;
  std::mt19937 random_;
  Truth truth_;
  std::vector<Truth> away_;  // parked together
  int max_branches_ = 0;
  int next_ = 0;
};

TEST(BranchTable, HoldsWhatBranchesWereFed) {
  for (unsigned seed = 0; seed < 20; ++seed) Model(60, 9, seed).run(400);
}

// For many branches at once: as many as appending to one after the other takes.
TEST(BranchTable, CountsThePagesOfAStep) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    PagePool pool(200);
    BranchTable table(pool, 12);
    std::vector<KvSlot> slots;
    std::vector<PageCopy> copies;
    std::vector<BranchId> all = {table.open()};
    while (all.size() < 12) {
      const BranchId parent = all[random() % all.size()];
      table.append(parent, static_cast<int>(random() % 70), slots, copies);
      all.push_back(table.fork(parent));
    }
    std::vector<BranchTable::Append> appends;
    for (const BranchId branch : all) {
      if (random() % 3 != 0) appends.push_back({.branch = branch, .tokens = static_cast<int>(random() % 3)});
    }
    const int expected = pool.used() + table.pages_to_append(appends);
    for (const auto& append : appends) table.append(append.branch, append.tokens, slots, copies);
    ASSERT_EQ(pool.used(), expected);
  }
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
  std::vector<BranchTable::Append> appends;
  for (const BranchId branch : all) appends.push_back({.branch = branch, .tokens = 1});
  EXPECT_EQ(table.pages_to_append(appends), 3);
  EXPECT_EQ(table.pages_to_append(std::span(appends).first(2)), 2) << "others still hold the page";
  for (const BranchId branch : all) table.append(branch, 1, slots, copies);
  EXPECT_EQ(copies.size(), 3U);
  EXPECT_EQ(pool.used(), 4);
}

// A tree of 48 branches that split anywhere, each 4,096 tokens long: what is shared is there once.
TEST(BranchTable, ALongTreeTakesFivePercentMoreThanItsDistinctTokens) {
  constexpr int kBranches = 48;
  constexpr int kTokens = 4096;
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    PagePool pool(kBranches * (kTokens / kPageTokens + 1));
    BranchTable table(pool, kBranches);
    std::vector<KvSlot> slots;
    std::vector<PageCopy> copies;
    struct Branch {
      BranchId id;
      int tokens;
    };
    std::vector<Branch> branches = {{.id = table.open(), .tokens = 0}};
    std::int64_t distinct = 0;
    const auto grow = [&](Branch& branch, int tokens) {
      table.append(branch.id, tokens, slots, copies);
      branch.tokens += tokens;
      distinct += tokens;
    };
    grow(branches[0], 300);
    while (branches.size() < kBranches) {
      const std::size_t parent = random() % branches.size();
      grow(branches[parent], static_cast<int>(random() % 50));
      branches.push_back({.id = table.fork(branches[parent].id), .tokens = branches[parent].tokens});
    }
    for (Branch& branch : branches) grow(branch, kTokens - branch.tokens);
    const auto held = static_cast<double>(pool.used()) * kPageTokens;
    EXPECT_GE(held, static_cast<double>(distinct));
    EXPECT_LE(held, 1.05 * static_cast<double>(distinct)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace dts::native
