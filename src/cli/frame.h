// One frame of the live view: a pure function from what is known to lines, so that it can be looked at and tested
// without a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/snapshot.h"
#include "cli/terminal.h"
#include "draw/answer_colours.h"
#include "text/glyphs.h"
#include "text/style.h"

namespace dts::cli {

// What does not change during a run. Texts are printable and one line.
struct FrameTitle {
  std::string model;
  std::string method;
  std::string settings;  // "splits 3 ways · up to 48 branches · 8 votes"
  std::string sampling;  // "temp 0.6 · top-p 0.95"
  std::string question;
  int max_live = 1;
  int wanted = 1;  // trajectories that are to finish
};

struct FrameState {
  int prefilled = 0;  // prompt tokens in the engine
  int prompt = 0;
  bool decoding = false;  // `snapshot` holds something
  double elapsed = 0;     // seconds since the start
  double rate = 0;        // unique tokens a second, lately
  bool stopping = false;
  Snapshot snapshot;
};

// A bar of `width` cells, `value` of `total` of it full.
std::string bar(double value, double total, int width, const text::Glyphs& glyphs);

// At most size.rows lines of at most size.columns cells.
std::vector<text::StyledLine> compose_frame(const FrameTitle& title, const FrameState& state, TerminalSize size,
                                            const text::Glyphs& glyphs);

// The votes as bars of all that finished, one line an answer, the leading one first; at most `max_rows`, the last of
// which says how many more there are. `colours` are those of the answers.
std::vector<text::StyledLine> vote_lines(const std::vector<AnswerCount>& votes, int without_answer, int width,
                                         int max_rows, const text::Glyphs& glyphs, draw::AnswerColours colours);

}  // namespace dts::cli
