#include "cli/snapshot.h"

#include <algorithm>
#include <cmath>

#include "text/display.h"
#include "text/utf8.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr std::size_t kDecisionsKept = 12;
constexpr std::size_t kContextTokens = 12;  // shown before a decision
constexpr std::size_t kTailTokens = 240;    // shown of the leading branch: a few lines

// The last `count` tokens of the trajectory that ends with `leaf`. Cost: those tokens, not the trajectory.
std::vector<Token> last_tokens(const Tree& tree, SegmentId leaf, std::size_t count) {
  std::vector<Token> tokens;
  for (SegmentId id = leaf; id != kNoSegment && tokens.size() < count; id = tree.segment(id).parent) {
    const std::vector<TokenRecord>& records = tree.segment(id).tokens;
    for (auto it = records.rbegin(); it != records.rend() && tokens.size() < count; ++it) tokens.push_back(it->token);
  }
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

// A token alone: its spaces are the neighbours' business, unless it is nothing else.
std::string token_text(const std::string& piece) {
  std::string text = one_line(piece);
  if (!text.empty()) return text;
  if (piece.find('\n') != std::string::npos) return "\\n";
  return piece.empty() ? "(empty)" : "(space)";
}

DecisionLine decision_at(const Tree& tree, const Vocabulary& vocabulary, SegmentId split) {
  const Segment& segment = tree.segment(split);
  DecisionLine line;
  line.position = segment.end();
  line.before = one_line(complete_utf8(vocabulary.detokenize(last_tokens(tree, split, kContextTokens), true)));
  for (const SegmentId id : segment.children) {
    const TokenRecord& first = tree.segment(id).tokens.front();
    line.entropy = static_cast<double>(first.entropy);
    line.varentropy = static_cast<double>(first.varentropy);
    line.children.push_back(
        {token_text(vocabulary.piece(first.token, true)), std::exp(static_cast<double>(first.logprob))});
  }
  return line;
}

}  // namespace

Outline outline_of(const Tree& tree, std::span<const FinishedTrace> finished) {
  Outline outline;
  outline.segments.reserve(tree.segments().size());
  for (const Segment& s : tree.segments()) outline.segments.push_back({s.parent, s.start, s.end(), s.state, -1});
  for (const FinishedTrace& trace : finished) {
    outline.segments[static_cast<std::size_t>(trace.leaf)].label = static_cast<std::int32_t>(outline.labels.size());
    outline.labels.push_back(one_line(trace.answer));
  }
  return outline;
}

Snapshotter::Snapshotter(const Search& search, const Vocabulary& vocabulary)
    : search_(search), vocabulary_(vocabulary) {}

void Snapshotter::on_event(const SearchEvent& event) {
  if (event.type != SearchEvent::Type::kBranch) return;
  if (splits_.size() == kDecisionsKept) splits_.erase(splits_.begin());
  splits_.push_back(event.segment);
}

Snapshot Snapshotter::take() const {
  const Tree& tree = search_.tree();
  Snapshot snapshot;
  snapshot.step = search_.step();
  snapshot.live = search_.live();
  snapshot.account = search_.account();
  snapshot.finished = static_cast<int>(search_.finished().size());
  snapshot.outline = outline_of(tree, search_.finished());
  if (snapshot.finished > 0) {
    const Outcome outcome = search_.outcome();
    snapshot.votes = outcome.votes;
    for (AnswerCount& count : snapshot.votes) count.answer = one_line(count.answer);
    for (const FinishedTrace& trace : outcome.finished) snapshot.without_answer += trace.answer.empty() ? 1 : 0;
    snapshot.outline.best = outcome.best_leaf;
  }
  for (auto it = splits_.rbegin(); it != splits_.rend(); ++it) {
    snapshot.decisions.push_back(decision_at(tree, vocabulary_, *it));
  }
  // The oldest branch: it changes least often, so its text can be read as it grows.
  const std::vector<SegmentId> live = search_.live_leaves();
  if (!live.empty()) {
    snapshot.leader_length = tree.segment(live.front()).end();
    const std::string text = vocabulary_.detokenize(last_tokens(tree, live.front(), kTailTokens), true);
    snapshot.leader_tail = printable(complete_utf8(text));
  }
  return snapshot;
}

}  // namespace dts::cli
