// The committed prefix against its definition, step by step, over random trees of every method: what has been shown is
// a prefix of every possible outcome, and nothing is held back that is certain.
#include "core/committed_prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "support/scripted_engine.h"

namespace dts::serve {
namespace {

constexpr int kVocab = 16;
constexpr Token kEnd = 0;

// Few answers, so that votes meet, and some trajectories without one.
std::string answer_of(std::span<const Token> tokens) {
  const Token last = tokens.size() > 1 ? tokens[tokens.size() - 2] : 0;
  return last % 4 == 0 ? std::string() : std::to_string(last % 4);
}

// Whether finished trajectory `wanted` can still win a majority of equal votes, or, when it is -1, one that has not
// finished: every way in which up to `to_come` more votes can fall is tried.
bool can_win(std::vector<Ballot>& ballots, int wanted, int to_come, std::size_t known) {
  const std::vector<AnswerCount> counts = count_votes(ballots);
  const int winner = counts.empty() ? 0 : counts.front().shortest;
  const bool is_new = winner >= static_cast<int>(known);
  if (wanted < 0 ? is_new : winner == wanted) return true;
  if (to_come == 0) return false;
  std::set<std::string> answers = {"another"};
  for (const Ballot& ballot : ballots) answers.insert(ballot.answer);
  for (const std::string& answer : answers) {
    ballots.push_back({answer, 1000, 1.0});  // whoever finishes later is longer
    const bool can = can_win(ballots, wanted, to_come - 1, known);
    ballots.pop_back();
    if (can) return true;
  }
  return false;
}

// Votes beyond those that any outcome needs change nothing.
int votes_that_matter(const Search& search) {
  const Method& method = search.options().method;
  std::map<std::string, int> votes;
  int most = 0;
  for (const FinishedTrace& trace : search.finished()) {
    if (!trace.answer.empty()) most = std::max(most, ++votes[trace.answer]);
  }
  int to_come = search.live();
  if (method.branch.enabled) {
    const int more = method.stop.finished == StopRule::kAll ? 1000 : method.stop.finished - 1;
    to_come = more - static_cast<int>(search.finished().size()) + method.branch.max_branches;
  }
  return std::min(to_come, most + 1);
}

// The trajectories that can still win, by trying.
std::vector<SegmentId> slow_contenders(const Search& search) {
  const Method& method = search.options().method;
  const std::span<const FinishedTrace> finished = search.finished();
  std::vector<SegmentId> leaves = search.live_leaves();
  if (search.done()) return {search.outcome().best_leaf};
  if (finished.empty()) {
    leaves.clear();
    for (std::size_t id = 0; id < search.tree().segments().size(); ++id) {
      if (search.tree().segments()[id].children.empty()) leaves.push_back(static_cast<SegmentId>(id));
    }
    return leaves;
  }
  if (method.select == SelectRule::kFirst) return {finished.front().leaf};
  if (method.select == SelectRule::kMajority && !method.retire.enabled) {
    std::vector<Ballot> ballots;
    for (const FinishedTrace& trace : finished) ballots.push_back({trace.answer, trace.length, 1.0});
    const int to_come = votes_that_matter(search);
    if (!can_win(ballots, -1, to_come, finished.size())) leaves.clear();
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (can_win(ballots, static_cast<int>(i), to_come, finished.size())) leaves.push_back(finished[i].leaf);
    }
    return leaves;
  }
  if (method.select == SelectRule::kWeightedMajority) {
    for (const FinishedTrace& trace : finished) leaves.push_back(trace.leaf);
    return leaves;
  }
  leaves.push_back(search.outcome().best_leaf);
  return leaves;
}

std::vector<Token> common_prefix(const Search& search, const std::vector<SegmentId>& leaves) {
  std::vector<Token> common = search.tree().tokens_of(leaves.front());
  for (const SegmentId leaf : leaves) {
    const std::vector<Token> tokens = search.tree().tokens_of(leaf);
    const auto differ = std::mismatch(common.begin(), common.end(), tokens.begin(), tokens.end());
    common.erase(differ.first, common.end());
  }
  return common;
}

struct Watched {
  std::shared_ptr<Search> search;
  CommittedPrefix prefix;
  std::vector<Token> shown;
  bool ended = false;
  int early = 0;  // steps in which all that will be shown was shown before the search was over
};

void watch(const std::shared_ptr<Watched>& watched) {
  watched->search->on_event = [watched](const SearchEvent& event) {
    const Search& search = *watched->search;
    using Type = SearchEvent::Type;
    if (event.type == Type::kFinish || event.type == Type::kExhaust || event.type == Type::kRetire)
      watched->ended = true;
    if (event.type != Type::kStep && event.type != Type::kDone) return;
    std::vector<TokenPlace> places;
    if (watched->ended || search.done() || !watched->prefix.blocked()) watched->prefix.advance(search, places);
    watched->ended = false;
    for (const TokenPlace& place : places) {
      watched->shown.push_back(search.tree().segment(place.segment).tokens[place.index].token);
    }
    const Method& method = search.options().method;
    const bool waiting = method.retire.enabled && !search.done() &&
                         search.tree().roots().size() < static_cast<std::size_t>(method.width);
    const std::vector<SegmentId> leaves = slow_contenders(search);
    if (waiting || leaves.front() == kNoSegment) {
      ASSERT_TRUE(watched->shown.empty());
      return;
    }
    ASSERT_EQ(watched->shown, common_prefix(search, leaves)) << method.name << " at step " << search.step();
    if (!search.done() && leaves.size() == 1) ++watched->early;
  };
}

TEST(CommittedPrefix, IsTheLongestThatEveryContenderBeginsWith) {
  std::mt19937_64 random(11);
  int decided_early = 0;
  int shown_before_the_end = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t seed = random();
    ScriptedEngineOptions sized;
    sized.n_vocab = kVocab;
    sized.max_branches = 64;
    ScriptedEngine engine(sized, RandomScript{seed % 7, kVocab, kEnd, 2.0});
    MethodOptions numbers;
    numbers.votes = 1 + static_cast<int>(seed % 6);
    numbers.samples = numbers.votes + 3;
    numbers.branch.k = 2 + static_cast<int>(seed % 2);
    numbers.branch.max_branches = 1 + static_cast<int>((seed >> 8U) % 9);
    numbers.branch.tau_v = (seed >> 16U) % 3 == 0 ? 0.2 : 1.0;
    numbers.branch.tau_h = 3;
    numbers.adaptive = round % 7 == 0 ? 0.9 : 0.0;
    const auto& info = methods()[static_cast<std::size_t>(round) % methods().size()];
    SearchOptions options;
    options.method = make_method(info.name, numbers);
    options.seed = seed;
    options.sampling.temperature = (seed >> 20U) % 2 == 0 ? 0.3F : 1.0F;
    options.max_tokens = 3 + static_cast<int>((seed >> 24U) % 30);
    options.max_total_tokens = round % 5 == 0 ? 20 : 0;
    SearchText text{[](Token token) { return token == kEnd; }, answer_of};
    auto watched = std::make_shared<Watched>();
    watched->search = std::make_shared<Search>(std::vector<Token>{2, 3}, options, text, kVocab);
    watch(watched);
    Scheduler scheduler(engine);
    Job job;
    job.search = watched->search;
    const JobId id = scheduler.submit(job);
    const int cancel_at = round % 11 == 0 ? 4 : -1;
    for (int step = 0; scheduler.step(); ++step) {
      if (step == cancel_at) scheduler.cancel(id);
      if (watched->search->done()) break;
      if (!watched->shown.empty()) ++shown_before_the_end;
      if (HasFatalFailure()) return;
    }
    const SegmentId best = watched->search->outcome().best_leaf;
    if (best != kNoSegment) {
      ASSERT_EQ(watched->shown, watched->search->tree().tokens_of(best)) << "round " << round;
    }
    decided_early += watched->early > 0 ? 1 : 0;
    watched->search->on_event = nullptr;
  }
  // The cases that matter did come up.
  EXPECT_GT(decided_early, 20);
  EXPECT_GT(shown_before_the_end, 1000);
}

}  // namespace
}  // namespace dts::serve
