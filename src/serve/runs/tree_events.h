// A search as it grows, told as events: docs/server.md has each of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "dts/search.h"
#include "dts/tree_file.h"
#include "dts/vocabulary.h"
#include "serve/runs/event_log.h"

namespace dts::serve {

// What is known of a run before it starts.
struct RunTitle {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
  std::string question;
};

// Reads the search; writes the log. On the engine's thread. Tokens of several steps are told together: at the latest
// after kPatience, and always before anything else is told of their segments.
class TreeEvents {
 public:
  static constexpr std::chrono::milliseconds kPatience{40};

  // All must outlive it.
  TreeEvents(const Search& search, const Vocabulary& vocabulary, EventLog& log);

  void open(const RunTitle& title, bool opens_thinking);
  void prefilled(const JobProgress& progress);
  void on_event(const SearchEvent& event);
  void done(const TreeDocument& document);  // and closes the log

 private:
  // How much of a segment has been told.
  struct Told {
    std::size_t tokens = 0;
    std::string begun;  // bytes of a character that they begin
  };

  void watch(SegmentId segment, std::string begun);
  void tell_roots();
  void tell_growth();
  // The segment's part of a growth event; empty when there is nothing to tell.
  std::string growth_of(SegmentId id);
  void tell_split(SegmentId parent);
  void tell_end(SegmentId leaf);
  void tell_votes();

  const Search& search_;
  const Vocabulary& vocabulary_;
  EventLog& log_;
  std::vector<Told> told_;          // [segments that were told of]
  std::vector<SegmentId> watched_;  // those that may have more to tell
  std::size_t roots_told_ = 0;
  std::size_t finished_told_ = 0;
  std::chrono::steady_clock::time_point last_growth_;
  std::optional<std::chrono::steady_clock::time_point> begun_;  // when the first token was being made
};

}  // namespace dts::serve
