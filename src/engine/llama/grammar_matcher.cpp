#include "engine/llama/grammar_matcher.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "dts/error.h"

namespace dts {
namespace {

using Kind = GrammarRules::Kind;
using Top = StackSets::Top;

constexpr std::size_t kMostMasks = 64;             // that are kept for when their state comes again
constexpr std::size_t kMostTops = 250'000;         // held by all trajectories of a request: 16 MiB or so
constexpr std::int64_t kNodesBetweenBills = 4096;  // of a walk

}  // namespace

// Whatever a call made and nobody holds goes when the call ends, however it ends.
class GrammarMatcher::Sweeper {
 public:
  explicit Sweeper(GrammarMatcher& matcher) : matcher_(matcher) {}
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;
  ~Sweeper() {
    matcher_.sets_.sweep();
    matcher_.rows_.clear();
    matcher_.row_at_.clear();
    matcher_.next_.clear();
  }

 private:
  GrammarMatcher& matcher_;
};

std::size_t GrammarMatcher::KeyHash::operator()(const State& state) const {
  return (std::size_t{state.set} << 32U ^ std::size_t{state.begun} << 2U ^ static_cast<std::size_t>(state.missing)) *
         0x9E3779B97F4A7C15U;
}

GrammarMatcher::GrammarMatcher(const TokenTrie& trie, const std::vector<Token>& ends, GrammarRules rules)
    : trie_(trie),
      ends_(ends),
      rules_(std::move(rules)),
      budget_(static_cast<std::int64_t>(trie.size())),
      sets_(budget_) {
  for (const CharacterSet& set : rules_.sets) {
    for (const CharacterSet::Range& range : set.ranges) {
      cuts_.push_back(range.low);
      if (range.high + 1 != 0) cuts_.push_back(range.high + 1);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  for (std::uint32_t c = 0; c < ascii_class_.size(); ++c) ascii_class_[c] = static_cast<std::uint32_t>(class_of(c));
}

std::size_t GrammarMatcher::class_of(std::uint32_t character) const {
  return static_cast<std::size_t>(std::upper_bound(cuts_.begin(), cuts_.end(), character) - cuts_.begin());
}

// Goes from each place in `todo` to the characters that may be read next; `ends`: all may be done here.
void GrammarMatcher::follow(std::vector<Top>& todo, std::vector<Top>& tops, bool& ends) {
  std::unordered_set<std::uint64_t> seen;
  while (!todo.empty()) {
    const Top at = todo.back();
    todo.pop_back();
    budget_.spend(GrammarBudget::kTopCost);
    if (!seen.insert(std::uint64_t{at.place} << 32U | at.below).second) continue;
    const GrammarRules::Place& place = rules_.places[at.place];
    if (place.kind == Kind::kSet) {
      tops.push_back(at);
    } else if (place.kind == Kind::kEnd) {
      ends = ends || sets_.ends(at.below);
      const auto below = sets_.tops(at.below);
      todo.insert(todo.end(), below.begin(), below.end());
    } else {
      // Where nothing follows a rule there is nothing to come back to.
      const bool last = rules_.places[at.place + 1].kind == Kind::kEnd;
      const StackSets::Id below = last ? at.below : sets_.make_one(at.place + 1, at.below);
      for (const std::uint32_t start : rules_.rules[place.value]) todo.push_back({start, below});
    }
  }
}

StackSets::Id GrammarMatcher::after_character(StackSets::Id set, std::uint32_t character) {
  std::vector<Top> todo, tops;
  bool ends = false;
  for (const Top& top : sets_.tops(set)) {
    const CharacterSet& allowed = rules_.sets[rules_.places[top.place].value];
    budget_.spend(2 + static_cast<std::int64_t>(allowed.ranges.size()));
    if (allowed.contains(character)) todo.push_back({top.place + 1, top.below});
  }
  follow(todo, tops, ends);
  return sets_.make(std::move(tops), ends);
}

bool GrammarMatcher::may_begin(StackSets::Id set, std::uint32_t begun, int missing) {
  const auto tops = sets_.tops(set);
  return std::any_of(tops.begin(), tops.end(), [&](const Top& top) {
    const CharacterSet& allowed = rules_.sets[rules_.places[top.place].value];
    budget_.spend(2 + static_cast<std::int64_t>(allowed.ranges.size()));
    return allowed.may_contain(begun, missing);
  });
}

int GrammarMatcher::row_of(StackSets::Id set) {
  const auto [at, is_new] = row_at_.try_emplace(set, static_cast<int>(rows_.size()));
  if (!is_new) return at->second;
  budget_.spend(static_cast<std::int64_t>(cuts_.size()) + GrammarBudget::kTopCost);
  rows_.push_back(set);
  next_.resize(next_.size() + cuts_.size() + 1, kUnknown);
  return at->second;
}

int GrammarMatcher::row_after(int row, std::uint32_t character) {
  const std::size_t group = character < ascii_class_.size() ? ascii_class_[character] : class_of(character);
  const std::size_t cell = static_cast<std::size_t>(row) * (cuts_.size() + 1) + group;
  if (next_[cell] == kUnknown) {
    const StackSets::Id set = after_character(rows_[static_cast<std::size_t>(row)], character);
    const int next = set == StackSets::kNone ? kNowhere : row_of(set);
    next_[cell] = next;
  }
  return next_[cell];
}

// One byte more. False: the grammar forbids it, or it is no UTF-8. What comes after a first byte is not looked at
// unless it is in another token, as in llama.cpp.
bool GrammarMatcher::read(Reading& reading, unsigned char byte) {
  if (reading.missing > 0) {
    if (reading.carried && byte >> 6U != 2) return false;
    reading.begun = reading.begun << 6U | (byte & 0x3FU);
    if (--reading.missing > 0) return true;
    reading.carried = false;
  } else if (byte < 0x80) {
    reading.begun = byte;
  } else if (byte < 0xC0) {
    return false;
  } else {
    reading.missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    reading.begun = byte & ((1U << (7U - static_cast<unsigned>(reading.missing))) - 1);
    return true;
  }
  if (reading.begun == 0) return false;
  reading.row = row_after(reading.row, reading.begun);
  return reading.row != kNowhere;
}

TokenMask GrammarMatcher::make_mask(const State& state) {
  TokenMask mask((trie_.vocabulary_size() + 63) / 64);
  const auto allow = [&](Token token) {
    const auto i = static_cast<std::size_t>(token);
    mask[i / 64] |= std::uint64_t{1} << (i % 64);
  };
  if (sets_.ends(state.set)) std::for_each(ends_.begin(), ends_.end(), allow);
  std::vector<Reading> at_depth(trie_.deepest() + 1);
  at_depth[0] = {row_of(state.set), state.begun, state.missing, state.missing > 0};
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < trie_.size();) {
    if (++visited % kNodesBetweenBills == 0) budget_.spend(kNodesBetweenBills);
    const TokenTrie::Node& node = trie_.node(i);
    Reading& reading = at_depth[node.depth];
    reading = at_depth[node.depth - 1];
    if (!read(reading, node.byte)) {
      i = node.next;
      continue;
    }
    const auto tokens = trie_.tokens(i);
    if (!tokens.empty() && (reading.missing == 0 ||
                            may_begin(rows_[static_cast<std::size_t>(reading.row)], reading.begun, reading.missing))) {
      std::for_each(tokens.begin(), tokens.end(), allow);
    }
    ++i;
  }
  return mask;
}

std::shared_ptr<const TokenMask> GrammarMatcher::mask_of(const State& state) {
  if (const auto known = mask_at_.find(state); known != mask_at_.end()) {
    masks_.splice(masks_.begin(), masks_, known->second);
    return masks_.front().mask;
  }
  auto mask = std::make_shared<const TokenMask>(make_mask(state));
  if (std::all_of(mask->begin(), mask->end(), [](std::uint64_t bits) { return bits == 0; })) {
    throw usage_error("the grammar leaves nothing that the model's tokens can spell");
  }
  masks_.push_front({state, mask});
  mask_at_.emplace(state, masks_.begin());
  sets_.hold(state.set);
  return mask;
}

GrammarMatcher::Position GrammarMatcher::start() {
  const std::scoped_lock lock(mutex_);
  const Sweeper sweeper(*this);
  std::vector<Top> todo, tops;
  bool ends = false;
  for (const std::uint32_t start : rules_.rules[rules_.root]) todo.push_back({start, StackSets::kDone});
  follow(todo, tops, ends);
  const State state{.set = sets_.make(std::move(tops), ends)};
  Position position{state, mask_of(state)};
  sets_.hold(state.set);
  return position;
}

GrammarMatcher::Position GrammarMatcher::after(const Position& position, Token token) {
  const std::scoped_lock lock(mutex_);
  Position next;
  {
    const Sweeper sweeper(*this);
    budget_.refill();
    const State& state = position.state;
    Reading reading{row_of(state.set), state.begun, state.missing, state.missing > 0};
    const std::string_view piece = trie_.piece(token);
    const bool allowed = !piece.empty() && std::all_of(piece.begin(), piece.end(), [&](char byte) {
      return read(reading, static_cast<unsigned char>(byte));
    });
    if (!allowed) throw usage_error("the grammar forbids a token that was said");
    next.state = {rows_[static_cast<std::size_t>(reading.row)], reading.missing > 0 ? reading.begun : 0,
                  reading.missing};
    if (reading.missing > 0 && sets_.ends(next.state.set)) {
      // A character has begun: it cannot end before.
      const auto tops = sets_.tops(next.state.set);
      next.state.set = sets_.make({tops.begin(), tops.end()}, false);
      if (next.state.set == StackSets::kNone) throw usage_error("the grammar forbids a token that was said");
    }
    next.mask = mask_of(next.state);
    if (sets_.size() > kMostTops) GrammarBudget::throw_too_ambiguous();
    sets_.hold(next.state.set);
  }
  if (masks_.size() > kMostMasks) {
    const Kept last = masks_.back();
    mask_at_.erase(last.state);
    masks_.pop_back();
    sets_.drop(last.state.set);
  }
  return next;
}

void GrammarMatcher::hold(const Position& position) {
  const std::scoped_lock lock(mutex_);
  sets_.hold(position.state.set);
}

void GrammarMatcher::drop(const Position& position) {
  const std::scoped_lock lock(mutex_);
  sets_.drop(position.state.set);
}

std::int64_t GrammarMatcher::budget_left() const {
  const std::scoped_lock lock(mutex_);
  return budget_.left();
}

std::size_t GrammarMatcher::kept() const {
  const std::scoped_lock lock(mutex_);
  return sets_.size();
}

}  // namespace dts
