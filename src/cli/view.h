// What a person sees while a search runs: a live picture on a terminal, lines elsewhere, or nothing.
#pragma once

#include <memory>

#include "cli/frame.h"
#include "cli/snapshot.h"
#include "cli/terminal.h"

namespace dts::cli {

// Called from the thread that decodes, in this order; each call returns at once.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  virtual ~View() = default;

  virtual void prefilling(int done, int total) = 0;
  // After every step. A view that wants to show it takes a snapshot, most do not.
  virtual void stepped(const Snapshotter& search) = 0;
  virtual void stopping() = 0;  // asked to stop; the step under way is still being finished
  // Gives the terminal back; no call comes after it. Must be called before anything else is written.
  virtual void close() = 0;
};

std::unique_ptr<View> make_silent_view();
// To standard error.
std::unique_ptr<View> make_line_view(const FrameTitle& title);
// `terminal` must be interactive.
std::unique_ptr<View> make_live_view(const FrameTitle& title, const Terminal& terminal);

}  // namespace dts::cli
