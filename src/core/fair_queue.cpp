#include "core/fair_queue.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace dts {

void FairQueue::push(std::uint64_t id, const Claim& claim) {
  waiting_.push_back({id, claim});
  owners_.try_emplace(claim.owner);
}

bool FairQueue::erase(std::uint64_t id) {
  return std::erase_if(waiting_, [id](const Waiting& waiting) { return waiting.id == id; }) > 0;
}

void FairQueue::give_back(const Claim& claim) {
  (small(claim) ? small_branches_ : wide_branches_) -= claim.branches;
  tokens_ -= claim.tokens;
  --running_;
  owners_.at(claim.owner).held -= claim.branches;
  // Who was served when is remembered, but not for owners without number.
  constexpr std::size_t kRemembered = 4096;
  if (owners_.size() <= kRemembered) return;
  std::set<std::uint64_t> present;
  for (const Waiting& waiting : waiting_) present.insert(waiting.claim.owner);
  std::erase_if(owners_, [&](const auto& owner) { return owner.second.held == 0 && !present.contains(owner.first); });
}

std::int64_t FairQueue::overtaken_by(std::uint64_t id) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [id](const Waiting& w) { return w.id == id; });
  return found == waiting_.end() ? 0 : found->overtaken;
}

bool FairQueue::overdue(const Waiting& waiting) const {
  return waiting.overtaken >= std::int64_t{kPatience} * room_.branches;
}

// A job alone in the engine is always welcome: it may never need all the tokens that it could.
bool FairQueue::fits(const Claim& claim) const {
  if (running_ == 0) return true;
  if (small_branches_ + wide_branches_ + claim.branches > room_.branches) return false;
  const std::int64_t lane_tokens = small(claim) ? 0 : room_.tokens / room_.branches * room_.lane;
  if (room_.tokens > 0 && tokens_ + claim.tokens > room_.tokens - lane_tokens) return false;
  return small(claim) || wide_branches_ + claim.branches <= room_.branches - room_.lane;
}

bool FairQueue::fits_lane(const Claim& claim) const {
  return small(claim) && small_branches_ + claim.branches <= room_.lane && fits(claim);
}

std::vector<FairQueue::Place> FairQueue::in_turn() {
  std::vector<Place> places;
  for (auto place = waiting_.begin(); place != waiting_.end(); ++place) places.push_back(place);
  const auto turn = [this](const Place& place) {
    const Owner& owner = owners_.at(place->claim.owner);
    return std::tuple(owner.held, owner.served);
  };
  std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) { return turn(a) < turn(b); });
  return places;
}

std::optional<std::uint64_t> FairQueue::next() {
  if (waiting_.empty()) return std::nullopt;
  const auto late = std::find_if(waiting_.begin(), waiting_.end(), [this](const Waiting& w) { return overdue(w); });
  const bool blocked = late != waiting_.end() && !fits(late->claim);
  if (late != waiting_.end() && !blocked) {
    const std::uint64_t id = late->id;
    start(late);
    return id;
  }
  // One that wants the lane as well has to have it empty.
  const bool lane_open = !blocked || late->claim.branches <= room_.branches - room_.lane;
  for (const Place place : in_turn()) {
    const bool may = blocked ? lane_open && !small(late->claim) && fits_lane(place->claim) : fits(place->claim);
    if (!may) continue;
    const std::uint64_t id = place->id;
    start(place);
    return id;
  }
  return std::nullopt;
}

void FairQueue::start(Place place) {
  const Claim claim = place->claim;
  const bool in_lane = fits_lane(claim);
  // Only the first of an owner's jobs is overtaken: those behind it wait for it in any case.
  std::set<std::uint64_t> seen;
  for (auto before = waiting_.begin(); before != place; ++before) {
    const bool first = seen.insert(before->claim.owner).second;
    if (first && (!in_lane || small(before->claim))) before->overtaken += claim.branches;
  }
  waiting_.erase(place);
  (small(claim) ? small_branches_ : wide_branches_) += claim.branches;
  tokens_ += claim.tokens;
  ++running_;
  Owner& owner = owners_.at(claim.owner);
  owner.held += claim.branches;
  owner.served = ++turn_;
}

}  // namespace dts
