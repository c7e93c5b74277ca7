// The bookkeeping of KV streams against streams that really hold tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "engine/llama/kv_streams.h"

namespace dts {
namespace {

using Tokens = std::vector<int>;

// What a KV cache does with the moves, and what every branch should hold.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  BranchId open() {
    const BranchId branch = streams_.open();
    expected_[branch] = {};
    return branch;
  }

  BranchId fork(BranchId parent) {
    const BranchId child = streams_.fork(parent);
    EXPECT_FALSE(expected_.contains(child)) << "an id in use was given out again";
    expected_[child] = expected_.at(parent);
    return child;
  }

  void release(BranchId branch) {
    streams_.release(branch);
    expected_.erase(branch);
  }

  int settle() {
    const std::vector<KvStreams::Move> moves = streams_.settle();
    std::set<int> sources;
    std::set<int> destinations;
    int copies = 0;
    for (const KvStreams::Move& move : moves) {
      EXPECT_TRUE(destinations.insert(move.to).second) << "two branches in one stream";
      if (move.from != KvStreams::kNone) sources.insert(move.from);
    }
    for (const KvStreams::Move& move : moves) {
      if (move.from == KvStreams::kNone || move.from == move.to) continue;
      EXPECT_FALSE(sources.contains(move.to)) << "a copy overwrites tokens that are still needed";
      cache_[move.to] = cache_.at(move.from);
      ++copies;
    }
    for (const int stream : streams_.abandoned()) cache_.erase(stream);
    return copies;
  }

  void append(BranchId branch, int count) {
    for (int i = 0; i < count; ++i) {
      const int token = static_cast<int>(random_() % 1000);
      cache_[streams_.stream(branch)].push_back(token);
      expected_.at(branch).push_back(token);
    }
    streams_.append(branch, count);
  }

  void check() const {
    EXPECT_EQ(streams_.live(), static_cast<int>(expected_.size()));
    std::set<int> used;
    std::size_t longest = 0;
    for (const auto& [branch, tokens] : expected_) {
      ASSERT_TRUE(streams_.is_open(branch));
      const int stream = streams_.stream(branch);
      EXPECT_TRUE(stream >= 0 && stream < streams_.live()) << "not dense: " << stream;
      EXPECT_TRUE(used.insert(stream).second);
      const auto held = cache_.find(stream);
      EXPECT_EQ(held == cache_.end() ? Tokens() : held->second, tokens);
      EXPECT_EQ(streams_.length(branch), static_cast<int>(tokens.size()));
      EXPECT_EQ(streams_.tokens_in(stream), static_cast<int>(tokens.size()));
      longest = std::max(longest, tokens.size());
    }
    EXPECT_EQ(streams_.longest(), static_cast<int>(longest));
    // Nothing is left behind: a stream beyond the branches must be free for padding and for new branches.
    for (const auto& [stream, tokens] : cache_) EXPECT_TRUE(tokens.empty() || used.contains(stream));
  }

  BranchId any() {
    auto at = expected_.begin();
    std::advance(at, static_cast<long>(random_() % expected_.size()));
    return at->first;
  }

  std::size_t live() const { return expected_.size(); }
  unsigned roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  const KvStreams& streams() const { return streams_; }

 private:
  std::mt19937 random_;
  KvStreams streams_;
  std::map<int, Tokens> cache_;          // what the streams hold
  std::map<BranchId, Tokens> expected_;  // what the branches should
};

TEST(KvStreams, RandomOperationsKeepEveryBranchsTokens) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Simulation simulation(seed);
    for (int round = 0; round < 40; ++round) {
      for (unsigned operation = simulation.roll(6); operation > 0; --operation) {
        const unsigned kind = simulation.roll(8);
        if (simulation.live() == 0 || kind == 0) {
          simulation.open();
        } else if (kind < 4 && simulation.live() < 12) {
          simulation.fork(simulation.any());
        } else if (kind < 7) {
          simulation.release(simulation.any());
        }
      }
      simulation.settle();
      simulation.check();
      for (int i = 0; i < 3 && simulation.live() > 0; ++i) {
        simulation.append(simulation.any(), static_cast<int>(simulation.roll(4)));
      }
      simulation.check();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", round " << round;
    }
  }
}

TEST(KvStreams, AForkTakesTheHoleOfADeadBranchAndNothingElseMoves) {
  Simulation simulation(1);
  const BranchId a = simulation.open();
  simulation.settle();
  simulation.append(a, 3);
  const BranchId b = simulation.fork(a);
  const BranchId c = simulation.fork(a);
  EXPECT_EQ(simulation.settle(), 2);
  simulation.release(b);
  const BranchId d = simulation.fork(c);
  EXPECT_EQ(simulation.settle(), 1) << "one of c and d, which are the same so far, goes where b was";
  EXPECT_EQ(simulation.streams().stream(a), 0);
  EXPECT_EQ(simulation.streams().stream(c) + simulation.streams().stream(d), 3);
  simulation.check();
}

TEST(KvStreams, AForkThatOutlivesItsParentTakesItsStreamWithoutACopy) {
  Simulation simulation(1);
  const BranchId parent = simulation.open();
  simulation.settle();
  simulation.append(parent, 5);
  const BranchId child = simulation.fork(parent);
  const BranchId grandchild = simulation.fork(child);
  simulation.release(parent);
  simulation.release(child);
  EXPECT_EQ(simulation.settle(), 0);
  EXPECT_EQ(simulation.streams().stream(grandchild), 0);
  simulation.check();
}

TEST(KvStreams, ForksThatDieBeforeTheyAreNeededCostNothing) {
  Simulation simulation(1);
  const BranchId parent = simulation.open();
  simulation.settle();
  simulation.append(parent, 5);
  simulation.release(simulation.fork(parent));
  simulation.release(simulation.fork(parent));
  EXPECT_EQ(simulation.settle(), 0);
  simulation.check();
}

TEST(KvStreams, TheLastBranchMovesIntoAHole) {
  Simulation simulation(1);
  const BranchId a = simulation.open();
  simulation.settle();
  simulation.append(a, 2);
  const BranchId b = simulation.fork(a);
  const BranchId c = simulation.fork(a);
  simulation.settle();
  simulation.append(c, 1);
  simulation.release(a);
  EXPECT_EQ(simulation.settle(), 1);
  EXPECT_EQ(simulation.streams().stream(c), 0);
  EXPECT_EQ(simulation.streams().stream(b), 1);
  simulation.check();
}

}  // namespace
}  // namespace dts
