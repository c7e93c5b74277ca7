// Who of those that wait is let into the engine next. Bookkeeping only: no searches, no engine.
//
// The next place goes to the owner that holds the fewest branches, then to the one that was served longest ago; among
// its own jobs, to the one that came first. What does not fit yet is overtaken by what does, but not for ever: once
// jobs with `kPatience` times the room's branches have overtaken the first of an owner's jobs, nothing more starts
// before it. A lane is kept for small jobs: wide ones never take it, so a small one need not wait for a wide one's end.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

namespace dts {

// What a job may take at most, for as long as it runs.
struct Claim {
  std::uint64_t owner = 0;
  int branches = 1;
  std::int64_t tokens = 0;
};

struct Room {
  int branches = 1;
  std::int64_t tokens = 0;  // 0: no limit
  int lane = 0;             // branches for jobs that want at most as many; below `branches`
};

class FairQueue {
 public:
  static constexpr int kPatience = 2;

  explicit FairQueue(const Room& room) : room_(room) {}

  void push(std::uint64_t id, const Claim& claim);
  // Out of the queue without having run. False when it is not in it.
  bool erase(std::uint64_t id);
  // The next one that may start, which from now on holds its claim; none when all must wait.
  std::optional<std::uint64_t> next();
  void give_back(const Claim& claim);

  bool empty() const { return waiting_.empty(); }
  // Branches of the jobs that started before the job although it was there first, other than in the lane.
  std::int64_t overtaken_by(std::uint64_t id) const;

 private:
  struct Waiting {
    std::uint64_t id = 0;
    Claim claim;
    std::int64_t overtaken = 0;
  };
  struct Owner {
    int held = 0;              // branches
    std::uint64_t served = 0;  // turn in which a job of it last started; 0: never
  };
  using Place = std::list<Waiting>::iterator;

  bool small(const Claim& claim) const { return claim.branches <= room_.lane; }
  bool overdue(const Waiting& waiting) const;
  bool fits(const Claim& claim) const;
  // It takes nothing that a wide job could have.
  bool fits_lane(const Claim& claim) const;
  std::vector<Place> in_turn();
  void start(Place place);

  Room room_;
  std::list<Waiting> waiting_;  // as they came
  std::map<std::uint64_t, Owner> owners_;
  std::uint64_t turn_ = 0;
  int running_ = 0;
  int small_branches_ = 0, wide_branches_ = 0;  // held
  std::int64_t tokens_ = 0;                     // held
};

}  // namespace dts
