// Who is let in next: nobody waits for ever, small jobs do not wait for wide ones, owners share evenly.
#include "core/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace dts {
namespace {

constexpr std::uint64_t kNone = 0;

TEST(FairQueue, OwnersTakeTurnsWhateverTheyHaveQueued) {
  FairQueue queue({.branches = 4});
  std::map<std::uint64_t, Claim> claims;
  for (std::uint64_t id = 1; id <= 10; ++id) claims[id] = {.owner = 1, .branches = 4};
  for (std::uint64_t id = 11; id <= 12; ++id) claims[id] = {.owner = 2, .branches = 4};
  for (const auto& [id, claim] : claims) queue.push(id, claim);
  std::vector<std::uint64_t> owners;
  while (!queue.empty()) {
    const std::uint64_t id = queue.next().value_or(kNone);
    ASSERT_NE(id, kNone);
    EXPECT_FALSE(queue.next()) << "there is room for one";
    owners.push_back(claims[id].owner);
    queue.give_back(claims[id]);
  }
  EXPECT_EQ(owners, (std::vector<std::uint64_t>{1, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(FairQueue, TheNextPlaceGoesToWhoHoldsLeast) {
  FairQueue queue({.branches = 8});
  queue.push(1, {.owner = 1, .branches = 4});
  EXPECT_EQ(queue.next(), 1U);
  queue.push(2, {.owner = 1, .branches = 4});
  queue.push(3, {.owner = 2, .branches = 4});
  EXPECT_EQ(queue.next(), 3U);
  EXPECT_FALSE(queue.next());
}

TEST(FairQueue, TokensAreRoomToo) {
  FairQueue queue({.branches = 8, .tokens = 100});
  queue.push(1, {.branches = 1, .tokens = 1000});
  EXPECT_EQ(queue.next(), 1U) << "alone it is welcome whatever it could need";
  queue.push(2, {.branches = 1, .tokens = 1});
  EXPECT_FALSE(queue.next());
  queue.give_back({.branches = 1, .tokens = 1000});
  EXPECT_EQ(queue.next(), 2U);
}

// Random jobs of random owners come and go. Whatever happens: room is never exceeded, the lane is free of wide jobs, a
// small job starts at once while the lane has room for it (unless another small one is overdue), nobody is overtaken by
// more than its patience allows, and everybody starts.
TEST(FairQueue, RandomTrafficStarvesNobody) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
    const Room room{.branches = 4 + up_to(20), .tokens = 0, .lane = up_to(4) - 1};
    const auto owners = static_cast<std::uint64_t>(up_to(3));
    FairQueue queue(room);
    struct Running {
      Claim claim;
      int left = 0;  // rounds
    };
    std::map<std::uint64_t, Claim> waiting;
    std::vector<Running> running;
    std::uint64_t last = kNone;
    // After a while wide jobs stop coming, and small ones never do: all that were there by then must still start.
    constexpr int kRounds = 200;
    constexpr int kMost = 3000;
    constexpr std::size_t kQueue = 24;
    std::uint64_t last_of_old = kNone;
    const auto old_wait = [&] { return !waiting.empty() && waiting.begin()->first <= last_of_old; };
    int round = 0;
    for (; (round < kRounds || old_wait()) && round < kMost; ++round) {
      if (waiting.size() < kQueue) {
        const bool wide = round < kRounds && up_to(4) == 1;
        waiting[++last] = {.owner = static_cast<std::uint64_t>(up_to(static_cast<int>(owners))),
                           .branches = up_to(wide ? room.branches - room.lane : 2)};
        queue.push(last, waiting[last]);
      }
      if (round < kRounds) last_of_old = last;
      std::erase_if(running, [&](Running& job) {
        if (--job.left > 0) return false;
        queue.give_back(job.claim);
        return true;
      });
      while (const auto id = queue.next()) {
        running.push_back({waiting.at(*id), up_to(12)});
        waiting.erase(*id);
      }
      int total = 0, wide = 0, small = 0;
      for (const Running& job : running) {
        total += job.claim.branches;
        (job.claim.branches <= room.lane ? small : wide) += job.claim.branches;
      }
      ASSERT_LE(total, room.branches);
      ASSERT_LE(wide, room.branches - room.lane);
      const bool small_overdue = std::any_of(waiting.begin(), waiting.end(), [&](const auto& job) {
        return job.second.branches <= room.lane &&
               queue.overtaken_by(job.first) >= std::int64_t{FairQueue::kPatience} * room.branches;
      });
      for (const auto& [id, claim] : waiting) {
        const bool lane = !small_overdue && claim.branches <= room.lane && small + claim.branches <= room.lane;
        ASSERT_FALSE(lane) << "job " << id << " waits although the lane is free, seed " << seed;
        // Once it is overdue, those that are overdue as well come first: one of each owner.
        const auto most =
            static_cast<std::int64_t>(FairQueue::kPatience + 1 + static_cast<int>(owners)) * room.branches;
        ASSERT_LE(queue.overtaken_by(id), most) << "seed " << seed;
      }
    }
    EXPECT_LT(round, kMost) << "seed " << seed << ": " << waiting.size() << " wait for ever";
  }
}

TEST(FairQueue, WhatLeavesTheQueueIsNotStarted) {
  FairQueue queue({.branches = 2});
  queue.push(1, {.branches = 2});
  queue.push(2, {.branches = 2});
  EXPECT_TRUE(queue.erase(1));
  EXPECT_FALSE(queue.erase(1));
  EXPECT_EQ(queue.next(), 2U);
}

}  // namespace
}  // namespace dts
