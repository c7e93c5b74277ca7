// A question that was asked of a ModelHost: its events as they come, and what it ends with.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "dts/error.h"
#include "dts/scheduler.h"
#include "dts/tree_file.h"
#include "host/host_events.h"
#include "host/host_question.h"

namespace dts::host {

// Any thread may read and cancel it; the host's thread alone writes.
class HostedRun {
 public:
  using Clock = std::chrono::steady_clock;

  HostedRun(HostQuestion question, ChatPrompt prompt, SearchOptions options)
      : question_(std::move(question)), prompt_(std::move(prompt)), options_(std::move(options)) {}
  ~HostedRun();
  HostedRun(const HostedRun&) = delete;
  HostedRun& operator=(const HostedRun&) = delete;

  const HostQuestion& question() const { return question_; }
  const ChatPrompt& prompt() const { return prompt_; }
  const SearchOptions& options() const { return options_; }

  // Waits until there is an event or it is done; false: not by then.
  bool wait(Clock::time_point until);
  bool wait_done(Clock::time_point until);
  // The next event; none: none now.
  std::optional<HostEvent> next_event();
  bool done() const;
  // Once done. Null: it never came to search, see error().
  std::shared_ptr<const TreeDocument> document() const;
  std::optional<Error> error() const;

  // Ends soon with what it has. Does nothing when it is done.
  void cancel();

  // Descriptors for event loops, owned by this; -1: none to be had. One can be read while events wait and once it is
  // done, the other once it is done.
  int event_descriptor();
  int done_descriptor();

 private:
  friend class ModelHost;

  void tell(HostEvent event);
  void end(std::shared_ptr<const TreeDocument> document, std::optional<Error> error);
  // Under mutex_:
  void signal();
  static void make_readable(int descriptor);
  static int make_descriptor();

  const HostQuestion question_;
  const ChatPrompt prompt_;
  const SearchOptions options_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<HostEvent> events_;
  std::shared_ptr<const TreeDocument> document_;
  std::optional<Error> error_;
  bool done_ = false;
  bool cancelled_ = false;
  int event_descriptor_ = -1;
  int done_descriptor_ = -1;
  Scheduler* scheduler_ = nullptr;  // while it is submitted there
  JobId job_ = 0;
};

}  // namespace dts::host
