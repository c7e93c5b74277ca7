// The tree's skeleton in characters: one row a trajectory, tokens from left to right.
//
//   ────┬──────────┬────────›
//       │          └────● 42
//       ├───────────╢
//       └──────›
#pragma once

#include <vector>

#include "cli/snapshot.h"
#include "cli/terminal.h"
#include "draw/answer_colours.h"
#include "text/glyphs.h"
#include "text/style.h"

namespace dts::cli {

struct Skeleton {
  std::vector<text::StyledLine> lines;
  int hidden = 0;  // trajectories that found no room
};

// At most `max_rows` rows of at most `width` cells. When there are more trajectories than rows, the finished and the
// living share them, the winner and the oldest first; what ended without an answer comes last.
//
// `colours`: those that answers have already, in pictures beside this one.
Skeleton draw_skeleton(const Outline& outline, int width, int max_rows, const text::Glyphs& glyphs,
                       draw::AnswerColours colours = {});

}  // namespace dts::cli
