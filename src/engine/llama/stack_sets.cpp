#include "engine/llama/stack_sets.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace dts {
namespace {

// Sets inside sets that a merge may have to go down: it recurses.
constexpr int kDeepestMerge = 1000;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 31U)) * 0x9E3779B97F4A7C15U;
  return value ^ (value >> 29U);
}

}  // namespace

std::size_t StackSets::Hash::operator()(const View& view) const {
  std::uint64_t hash = view.ends ? 1 : 0;
  for (const Top& top : view.tops) hash = mixed(hash + (std::uint64_t{top.place} << 32U | top.below));
  return hash;
}

bool StackSets::Equal::operator()(const View& view, Id id) const {
  const Node& node = (*nodes)[id];
  return node.ends == view.ends && std::equal(node.tops.begin(), node.tops.end(), view.tops.begin(), view.tops.end());
}

StackSets::StackSets(GrammarBudget& budget) : budget_(budget), known_(16, Hash{&nodes_}, Equal{&nodes_}) {
  const Id done = intern({}, true);
  check(done == kDone, "the set of the empty stack is the first");
  hold(kDone);
  fresh_.clear();
}

StackSets::Id StackSets::intern(std::vector<Top> tops, bool ends) {
  if (tops.empty() && !ends) return kNone;
  budget_.spend(GrammarBudget::kTopCost * static_cast<std::int64_t>(tops.size() + 1));
  if (const auto found = known_.find(View{tops, ends}); found != known_.end()) return *found;
  Id id = static_cast<Id>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  for (const Top& top : tops) hold(top.below);
  size_ += tops.size() + 1;
  nodes_[id] = {.tops = std::move(tops), .ends = ends, .live = true, .holds = 0};
  fresh_.push_back(id);
  known_.insert(id);
  return id;
}

StackSets::Id StackSets::make(std::vector<Top> tops, bool ends) {
  std::sort(tops.begin(), tops.end(),
            [](const Top& a, const Top& b) { return a.place != b.place ? a.place < b.place : a.below < b.below; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    if (kept > 0 && tops[kept - 1].place == tops[i].place) {
      tops[kept - 1].below = merge(tops[kept - 1].below, tops[i].below);
    } else {
      tops[kept++] = tops[i];
    }
  }
  tops.resize(kept);
  return intern(std::move(tops), ends);
}

StackSets::Id StackSets::merge(Id a, Id b) { return merge_deep(a, b, 0); }

StackSets::Id StackSets::merge_deep(Id a, Id b, int depth) {
  if (a == b) return a;
  if (depth > kDeepestMerge) GrammarBudget::throw_too_ambiguous();
  const std::uint64_t pair = std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
  if (const auto found = merged_.find(pair); found != merged_.end()) return found->second;
  std::vector<Top> tops;
  tops.reserve(nodes_[a].tops.size() + nodes_[b].tops.size());
  budget_.spend(GrammarBudget::kTopCost * static_cast<std::int64_t>(tops.capacity()));
  // By index: the vectors move when sets are made.
  for (std::size_t i = 0, j = 0; i < nodes_[a].tops.size() || j < nodes_[b].tops.size();) {
    if (j == nodes_[b].tops.size() ||
        (i < nodes_[a].tops.size() && nodes_[a].tops[i].place < nodes_[b].tops[j].place)) {
      tops.push_back(nodes_[a].tops[i++]);
    } else if (i == nodes_[a].tops.size() || nodes_[b].tops[j].place < nodes_[a].tops[i].place) {
      tops.push_back(nodes_[b].tops[j++]);
    } else {
      const Top one = nodes_[a].tops[i++], other = nodes_[b].tops[j++];
      tops.push_back({one.place, merge_deep(one.below, other.below, depth + 1)});
    }
  }
  const Id merged = intern(std::move(tops), nodes_[a].ends || nodes_[b].ends);
  merged_.emplace(pair, merged);
  return merged;
}

void StackSets::drop(Id id) {
  if (--nodes_[id].holds > 0) return;
  falling_.push_back(id);
  // No recursion: stacks may be as deep as texts are long.
  while (!falling_.empty()) {
    const Id next = falling_.back();
    falling_.pop_back();
    remove(next);
  }
}

void StackSets::remove(Id id) {
  known_.erase(id);
  Node& node = nodes_[id];
  for (const Top& top : node.tops) {
    if (--nodes_[top.below].holds == 0) falling_.push_back(top.below);
  }
  size_ -= node.tops.size() + 1;
  node = {.tops = {}, .ends = false, .live = false, .holds = 0};
  free_.push_back(id);
}

void StackSets::sweep() {
  merged_.clear();
  for (const Id id : fresh_) {
    if (!nodes_[id].live || nodes_[id].holds > 0) continue;
    ++nodes_[id].holds;
    drop(id);
  }
  fresh_.clear();
}

}  // namespace dts
