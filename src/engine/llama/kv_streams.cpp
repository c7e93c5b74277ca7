#include "engine/llama/kv_streams.h"

#include <algorithm>

namespace dts {

BranchId KvStreams::take_id() {
  const auto free = std::find_if(branches_.begin(), branches_.end(), [](const Branch& branch) { return !branch.open; });
  const auto id = static_cast<BranchId>(free - branches_.begin());
  if (free == branches_.end()) branches_.emplace_back();
  return id;
}

BranchId KvStreams::open() {
  const BranchId id = take_id();
  branches_[static_cast<std::size_t>(id)] = {.open = true};
  ++live_;
  settled_ = false;
  return id;
}

BranchId KvStreams::fork(BranchId parent) {
  const BranchId id = take_id();
  branches_[static_cast<std::size_t>(id)] = at(parent);
  ++live_;
  settled_ = false;
  return id;
}

void KvStreams::release(BranchId branch) {
  branches_[static_cast<std::size_t>(branch)] = {};
  --live_;
  settled_ = false;
}

bool KvStreams::is_open(BranchId branch) const {
  return branch >= 0 && static_cast<std::size_t>(branch) < branches_.size() && at(branch).open;
}

int KvStreams::longest() const {
  int longest = 0;
  for (const Branch& branch : branches_) longest = std::max(longest, branch.length);
  return longest;
}

void KvStreams::append(BranchId branch, int tokens) { branches_[static_cast<std::size_t>(branch)].length += tokens; }

int KvStreams::tokens_in(int stream) const {
  for (const Branch& branch : branches_) {
    if (branch.open && branch.stream == stream) return branch.length;
  }
  return 0;
}

const std::vector<KvStreams::Move>& KvStreams::settle() {
  moves_.clear();
  abandoned_.clear();
  const auto n = static_cast<std::size_t>(live_);
  if (settled_) {
    for (const Branch& branch : branches_) {
      if (branch.open) moves_.push_back({.from = branch.length > 0 ? branch.stream : kNone, .to = branch.stream});
    }
    return moves_;
  }

  // Of the branches whose tokens are in one stream, the first keeps it, if it is among the first n.
  std::vector<bool> kept(std::max(used_.size(), n));
  std::vector<Branch*> homeless;
  for (Branch& branch : branches_) {
    if (!branch.open) continue;
    const auto stream = static_cast<std::size_t>(branch.stream);
    if (branch.stream != kNone && stream < n && !kept[stream]) {
      kept[stream] = true;
      moves_.push_back({.from = branch.length > 0 ? branch.stream : kNone, .to = branch.stream});
    } else {
      homeless.push_back(&branch);
    }
  }
  int next = 0;
  for (Branch* branch : homeless) {
    while (kept[static_cast<std::size_t>(next)]) ++next;
    moves_.push_back({.from = branch->length > 0 ? branch->stream : kNone, .to = next});
    branch->stream = next++;
  }

  for (std::size_t stream = 0; stream < used_.size(); ++stream) {
    if (used_[stream] && stream >= n) abandoned_.push_back(static_cast<int>(stream));
  }
  // A branch without tokens may have got a stream that still holds a dead branch's.
  for (const Move& move : moves_) {
    const auto stream = static_cast<std::size_t>(move.to);
    if (move.from == kNone && stream < used_.size() && used_[stream]) abandoned_.push_back(move.to);
  }
  used_.assign(n, true);
  settled_ = true;
  return moves_;
}

}  // namespace dts
