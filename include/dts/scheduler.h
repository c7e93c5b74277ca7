// Runs many searches on one engine, merging their plans into one step (continuous batching). The command line, the
// evaluation and the server are all clients of it.
//
// Fairness: every admitted search takes part in every step; prompts are prefilled a chunk at a time, one chunk between
// two steps, in turn; searches are admitted first come, first served, when the engine has room for all the branches
// they may ever have. That reservation is what keeps a search's tree independent of its neighbours.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/search.h"

namespace dts {

using JobId = std::uint64_t;

struct JobProgress {
  int prefilled = 0;  // prompt tokens in the engine
  int prompt = 0;
};

// Seconds; wall time as one search saw it.
struct JobTimes {
  double queued = 0;   // submitted -> admitted
  double prefill = 0;  // admitted -> first step
  double decode = 0;   // first step -> done
};

struct Job {
  std::shared_ptr<Search> search;
  double max_seconds = 0;  // from admission; 0: no limit
  std::function<void(const JobProgress&)> on_prefill;
  std::function<void(const JobTimes&)> on_done;  // the search is done() and its branches are free
};

// submit(), cancel() and idle() may be called from any thread; step() and run() from one thread at a time. Callbacks
// run on the stepping thread and may submit and cancel.
class Scheduler {
 public:
  explicit Scheduler(Engine& engine);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Throws a usage error when the search can never fit: more branches or a longer prompt than the engine can hold.
  JobId submit(Job job);

  // Takes effect before the next step: a search in a step finishes that step first. Unknown ids are ignored.
  void cancel(JobId id);

  // Admits, prefills at most one chunk, and makes one step of all searches that are decoding. Returns false when there
  // was nothing to do. An engine failure ends every search that was in the step with that error, and frees its
  // branches.
  bool step();
  void run();  // step() until idle

  bool idle() const;  // nothing queued, nothing running
  // Seconds this scheduler and its searches took beside the engine: planning, trees, votes.
  double bookkeeping_seconds() const { return bookkeeping_; }

 private:
  struct Running;

  void admit();
  void prefill_one();
  void step_all();
  void stop_late();
  void retire_done();
  void fail(Running& running, const std::string& error);

  Engine& engine_;
  mutable std::mutex mutex_;  // guards queue_, cancelled_, next_id_, running_count_
  std::deque<std::unique_ptr<Running>> queue_;
  std::vector<JobId> cancelled_;
  JobId next_id_ = 1;
  std::size_t running_count_ = 0;

  // Below: the stepping thread only.
  std::vector<std::unique_ptr<Running>> running_;
  std::size_t prefill_turn_ = 0;
  int reserved_ = 0;                     // branches the running searches may have
  std::vector<Feed> feeds_;              // [live branches of all searches]
  std::vector<Prediction> predictions_;  // same order
  double bookkeeping_ = 0;
};

}  // namespace dts
