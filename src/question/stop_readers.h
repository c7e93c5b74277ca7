// Where trajectories meet their stop strings: one reader of text a live branch, taken over by its children.
#pragma once

#include <cstddef>
#include <map>

#include "dts/tree.h"
#include "dts/vocabulary.h"
#include "question/reply_text.h"

namespace dts {

class StopReaders {
 public:
  // `vocabulary` must outlive it.
  StopReaders(const Vocabulary& vocabulary, ReplyTextOptions options);

  // After a token of `leaf`: has its trajectory come to a stop string? Once for each token.
  bool stops_at(const Tree& tree, SegmentId leaf);

 private:
  void forget_the_ended(const Tree& tree);

  const Vocabulary& vocabulary_;
  ReplyTextOptions options_;
  std::map<SegmentId, ReplyText> readers_;
  std::size_t kept_ = 0;  // readers left when the ended were last forgotten
};

}  // namespace dts
