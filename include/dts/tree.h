// The sketched decoding tree: segments of tokens with their statistics. A segment ends where a decision token splits it
// into children, or where its trajectory ends. Memory grows with unique tokens: what siblings share is stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dts/prediction.h"

namespace dts {

using SegmentId = std::int32_t;
inline constexpr SegmentId kNoSegment = -1;

// One generated token with the statistics of the distribution it was taken from.
struct TokenRecord {
  Token token = 0;
  float logprob = 0.0F;     // log softmax(z)[token], temperature 1
  float entropy = 0.0F;     // H, nats, at T_stat
  float varentropy = 0.0F;  // VE, nats^2, at T_stat
  float confidence = 0.0F;  // DeepConf's token confidence

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

enum class SegmentState : std::uint8_t {
  kLive,       // a branch is still growing here
  kSplit,      // ended by a decision token; has children
  kFinished,   // its last token is an end token
  kExhausted,  // reached the token budget without one: what the paper counts as repetition
  kRetired,    // given up by the retire rule
  kCut,        // still growing when the search stopped
};

struct Segment {
  SegmentId parent = kNoSegment;
  int start = 0;        // position of tokens[0]; 0 is the first generated token
  int child_index = 0;  // which child of its parent's decision (0: most probable); for a root, its trajectory's index
  SegmentState state = SegmentState::kLive;
  std::vector<TokenRecord> tokens;  // a child's first token is the one the decision chose for it
  std::vector<SegmentId> children;  // in order of child_index; empty unless kSplit

  int end() const { return start + static_cast<int>(tokens.size()); }  // one past the last position
};

class Tree {
 public:
  // A new root: where a trajectory starts, right after the prompt.
  SegmentId add_root();

  void append(SegmentId live, const TokenRecord& record);

  // Ends a live segment at a decision token. The children start empty and live, in the order of `child_index`, and
  // their ids are consecutive: the first is returned.
  SegmentId split(SegmentId live, int n_children);

  // Ends a live segment as finished, exhausted, retired or cut.
  void close(SegmentId live, SegmentState state);

  const Segment& segment(SegmentId id) const { return segments_[static_cast<std::size_t>(id)]; }
  std::span<const Segment> segments() const { return segments_; }  // ids are indices; parents come before children
  std::span<const SegmentId> roots() const { return roots_; }

  std::size_t unique_tokens() const { return unique_tokens_; }
  std::size_t decisions() const { return decisions_; }  // branch events

  // The whole trajectory that ends with `leaf`, from its root on. Cost: its length.
  std::vector<Token> tokens_of(SegmentId leaf) const;
  // The segments of that trajectory, from its root on.
  std::vector<SegmentId> path_to(SegmentId leaf) const;

  // Rebuilds a tree from stored segments; throws dts::Error naming the first broken invariant. For untrusted files.
  static Tree from_segments(std::vector<Segment> segments);

 private:
  std::vector<Segment> segments_;
  std::vector<SegmentId> roots_;
  std::size_t unique_tokens_ = 0;
  std::size_t decisions_ = 0;
};

}  // namespace dts
