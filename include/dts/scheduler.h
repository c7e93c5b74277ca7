// Runs many searches on one engine, merging their plans into one step (continuous batching). The command line, the
// evaluation and the server are all clients of it.
//
// Fairness: every admitted search takes part in every step, but where the engine leaves it out because its predictions
// are not there yet (EngineCapabilities::steps_apart); prompts are prefilled a chunk at a time, one chunk a step, in
// turn. A search is admitted when the engine has room for all the branches it may ever have and for the tokens these
// may hold: that reservation is what keeps its tree independent of its neighbours. Who is next depends on who owns it,
// what it wants and how long it has waited (core/fair_queue.h); nobody waits for ever.
//
// Where an engine reserves less than the most that a search may take (Engine::kv_tokens_of), memory can run out in the
// middle. Then kept prompts go first; then the search that was admitted last is suspended until there is room again,
// and none is admitted meanwhile. It goes on where it was: nothing is computed twice and no tree changes. Only a search
// that does not fit by itself fails, alone, with the engine's words.
//
// Prompts: what was prefilled is kept (prefix_cache.h), and a prompt that begins with it is prefilled from there on.
// One that begins like a prompt being prefilled waits for that. No tree changes by it.
//
// Failures: what a search's own row, fork or callback breaks ends that search. Only a step that fails as a whole ends
// all that were in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/search.h"

namespace dts {

class FairQueue;
class PrefixCache;

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

// What a callback throws fails its search. on_done comes last: what it throws is dropped.
struct Job {
  std::shared_ptr<Search> search;
  double max_seconds = 0;        // from admission; 0: no limit
  double max_queue_seconds = 0;  // until admission, else it ends by its time budget; 0: no limit
  std::uint64_t owner = 0;       // whose it is: owners share the engine evenly
  std::function<void(const JobProgress&)> on_prefill;
  std::function<void(const JobTimes&)> on_done;  // the search is done() and its branches are free
};

struct SchedulerOptions {
  // Of memory, for prompts that were prefilled; 0 keeps none. Only an engine that keeps branches can.
  std::int64_t kept_prompt_bytes = std::int64_t{256} << 20U;
  // Branches kept for searches that have no more than so many: wide ones leave them free.
  int small_lane = 0;
};

// submit(), cancel() and idle() may be called from any thread; step() and run() from one thread at a time. Callbacks
// run on the stepping thread and may submit and cancel.
class Scheduler {
 public:
  explicit Scheduler(Engine& engine, const SchedulerOptions& options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Throws a usage error when the search can never fit, having more branches or a longer prompt than the engine can
  // hold, and when its method needs what the engine cannot do.
  JobId submit(Job job);

  // Takes effect between two steps; a long step is interrupted for it, and made again for the others. Unknown ids are
  // ignored.
  void cancel(JobId id);

  // Admits, prefills at most one chunk, and makes one step of all searches that are decoding. Returns false when there
  // was nothing to do.
  bool step();
  void run();  // step() until idle

  bool idle() const;                                         // nothing queued, nothing running
  std::int64_t suspensions() const { return suspensions_; }  // so far
  // Seconds this scheduler and its searches took beside the engine: planning, trees, votes.
  double bookkeeping_seconds() const { return bookkeeping_; }

 private:
  struct Running;
  enum class Evaluation { kDone, kInterrupted, kFailed };

  void admit();
  // Out of the queue, ended for that reason.
  void end_queued(std::span<const std::unique_ptr<Running>> never_ran);
  // The search whose prompt is next in turn; null when all are decoding.
  Running* next_to_prefill();
  // Begins like a prompt that is being prefilled: better to wait for it.
  bool waits_for_another(const Running& running) const;
  void open_prompt(Running& running);
  void plan_prefill(Running& running);
  void prefilled(Running& running);
  void plan_step(Running& running);
  void absorb(Running& running);
  void step_all();
  // Suspends until what `feeds_` append has room, and takes those suspended out of `members_`.
  void make_room();
  void suspend(Running& running);
  void resume_suspended();
  // Feeds `feeds_`, on behalf of `members`.
  Evaluation evaluate(std::span<Running* const> members);
  void stop_late();
  void retire_done();
  void release_all(Running& running);

  Engine& engine_;
  mutable std::mutex mutex_;  // guards queue_, order_, cancelled_, in_step_, next_id_, running_count_
  std::map<JobId, std::unique_ptr<Running>> queue_;
  std::unique_ptr<FairQueue> order_;  // of queue_, and what the running ones hold
  std::vector<JobId> cancelled_;
  std::vector<JobId> in_step_;  // jobs that may interrupt the step being made
  JobId next_id_ = 1;
  std::size_t running_count_ = 0;

  // Below: the stepping thread only.
  std::vector<std::unique_ptr<Running>> running_;
  std::unique_ptr<PrefixCache> prefixes_;  // null: none are kept
  std::size_t prefill_turn_ = 0;
  bool interrupted_ = false;             // the last evaluation was: the next one is not, so that everyone gets on
  std::vector<Feed> feeds_;              // [live branches of all searches]
  std::vector<Prediction> predictions_;  // same order
  std::vector<Running*> members_;        // searches in the step being made
  double bookkeeping_ = 0;
  std::int64_t suspensions_ = 0;
};

}  // namespace dts
