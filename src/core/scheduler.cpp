#include "dts/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <exception>
#include <utility>

#include "dts/error.h"

namespace dts {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double busy_seconds(const Engine& engine) {
  const EngineTimes times = engine.times();
  return times.prefill + times.model + times.statistics + times.forks;
}

}  // namespace

struct Scheduler::Running {
  JobId id = 0;
  Job job;
  std::vector<BranchId> branches;  // the search's slot -> the engine's branch; kClosed where none is open
  std::size_t prefilled = 0;       // prompt tokens in the engine
  bool decoding = false;
  std::size_t first_feed = 0;  // where its feeds start in the step being made
  Clock::time_point submitted, admitted, started;

  static constexpr BranchId kClosed = -1;

  Search& search() const { return *job.search; }
  std::size_t to_prefill() const { return search().prompt().size() - 1; }  // the first step feeds the last token
};

Scheduler::Scheduler(Engine& engine) : engine_(engine) {}

Scheduler::~Scheduler() {
  for (const auto& running : running_) {
    for (const BranchId branch : running->branches) {
      if (branch != Running::kClosed) engine_.release(branch);
    }
  }
}

JobId Scheduler::submit(Job job) {
  assert(job.search != nullptr && !job.search->done());
  const EngineInfo& info = engine_.info();
  const Search& search = *job.search;
  if (search.max_live() > info.max_branches) {
    throw usage_error(fmt::format("the method may have {} branches ({}) but the engine holds {}", search.max_live(),
                                  option_name("max_branches"), info.max_branches));
  }
  const std::size_t tokens = search.prompt().size() + static_cast<std::size_t>(search.options().max_tokens);
  if (tokens > static_cast<std::size_t>(info.context_length)) {
    throw usage_error(
        fmt::format("the prompt has {} tokens and each trajectory may add {} ({}), but the context holds {} ({})",
                    search.prompt().size(), search.options().max_tokens, option_name("max_tokens"), info.context_length,
                    option_name("context_length")));
  }
  auto running = std::make_unique<Running>();
  running->job = std::move(job);
  running->submitted = Clock::now();
  const std::scoped_lock lock(mutex_);
  running->id = next_id_++;
  const JobId id = running->id;
  queue_.push_back(std::move(running));
  return id;
}

void Scheduler::cancel(JobId id) {
  const std::scoped_lock lock(mutex_);
  cancelled_.push_back(id);
}

bool Scheduler::idle() const {
  const std::scoped_lock lock(mutex_);
  return queue_.empty() && running_count_ == 0;
}

bool Scheduler::step() {
  if (idle()) return false;
  const Clock::time_point start = Clock::now();
  const double busy = busy_seconds(engine_);
  admit();
  prefill_one();
  step_all();
  stop_late();
  retire_done();
  bookkeeping_ += seconds_between(start, Clock::now()) - (busy_seconds(engine_) - busy);
  return true;
}

void Scheduler::run() {
  while (step()) {
  }
}

// Applies cancellations, then moves searches from the queue into the engine while there is room for all the branches
// they may ever have. Strictly first come, first served: a wide search at the head is not overtaken, so it cannot
// starve.
void Scheduler::admit() {
  std::vector<JobId> cancelled;
  std::vector<std::unique_ptr<Running>> never_ran;
  {
    const std::scoped_lock lock(mutex_);
    cancelled.swap(cancelled_);
    for (const JobId id : cancelled) {
      const auto queued = std::find_if(queue_.begin(), queue_.end(), [&](const auto& r) { return r->id == id; });
      if (queued == queue_.end()) continue;
      never_ran.push_back(std::move(*queued));
      queue_.erase(queued);
    }
    running_count_ = running_.size() + never_ran.size();
  }
  // Stopping runs callbacks, which may call back into the scheduler: never under the lock.
  for (const auto& running : never_ran) {
    running->search().stop(StopReason::kCancelled);
    if (running->job.on_done) {
      running->job.on_done({.queued = seconds_between(running->submitted, Clock::now()), .prefill = 0, .decode = 0});
    }
  }
  for (const auto& running : running_) {
    if (std::find(cancelled.begin(), cancelled.end(), running->id) != cancelled.end()) {
      running->search().stop(StopReason::kCancelled);
    }
  }
  retire_done();

  const std::scoped_lock lock(mutex_);
  while (!queue_.empty() && reserved_ + queue_.front()->search().max_live() <= engine_.info().max_branches) {
    reserved_ += queue_.front()->search().max_live();
    running_.push_back(std::move(queue_.front()));
    queue_.pop_front();
    running_.back()->admitted = Clock::now();
  }
  running_count_ = running_.size();
}

// One chunk of one prompt, in turn, so that neither a long prompt nor many prompts hold up the searches that decode.
void Scheduler::prefill_one() {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& running = *running_[(prefill_turn_ + i) % running_.size()];
    if (running.decoding || running.search().done()) continue;
    prefill_turn_ = (prefill_turn_ + i + 1) % running_.size();
    const std::size_t total = running.to_prefill();
    try {
      if (running.branches.empty()) running.branches.push_back(engine_.open());
      // Chunks are cut at multiples of the same size, whatever else runs: prompts must prefill the same every time.
      const std::size_t n = std::min(total - running.prefilled, static_cast<std::size_t>(engine_.info().prefill_chunk));
      if (n > 0) engine_.prefill(running.branches.front(), running.search().prompt().subspan(running.prefilled, n));
      running.prefilled += n;
    } catch (const std::exception& e) {
      fail(running, e.what());
      return;
    }
    if (running.job.on_prefill) {
      running.job.on_prefill({static_cast<int>(running.prefilled), static_cast<int>(running.search().prompt().size())});
    }
    if (running.prefilled == total) {
      running.decoding = true;
      running.started = Clock::now();
      if (!running.search().done()) running.search().begin();
    }
    return;
  }
}

void Scheduler::step_all() {
  feeds_.clear();
  try {
    for (const auto& running : running_) {
      if (!running->decoding || running->search().done()) continue;
      const Plan& plan = running->search().plan();
      std::vector<BranchId>& branches = running->branches;
      const auto at = [&branches](int slot) -> BranchId& {
        if (static_cast<std::size_t>(slot) >= branches.size()) {
          branches.resize(static_cast<std::size_t>(slot) + 1, Running::kClosed);
        }
        return branches[static_cast<std::size_t>(slot)];
      };
      // Releases first: the engine can then fork into the places they leave.
      for (const int slot : plan.releases) engine_.release(std::exchange(at(slot), Running::kClosed));
      for (const Plan::Fork& fork : plan.forks) {
        const BranchId parent = at(fork.parent);
        at(fork.child) = engine_.fork(parent);
      }
      running->first_feed = feeds_.size();
      for (const Plan::SlotFeed& feed : plan.feeds) {
        feeds_.push_back({at(feed.slot), feed.token, feed.draw, &running->search().spec()});
      }
    }
    if (feeds_.empty()) return;
    if (predictions_.size() < feeds_.size()) predictions_.resize(feeds_.size());
    engine_.step(feeds_, std::span(predictions_).first(feeds_.size()));
  } catch (const std::exception& e) {
    for (const auto& running : running_) {
      if (running->decoding && !running->search().done()) fail(*running, e.what());
    }
    return;
  }
  for (const auto& running : running_) {
    if (!running->decoding || running->search().done()) continue;
    Search& search = running->search();
    search.absorb(std::span(predictions_).subspan(running->first_feed, search.plan().feeds.size()));
  }
}

// A long prompt spends the time budget, too.
void Scheduler::stop_late() {
  for (const auto& running : running_) {
    const double limit = running->job.max_seconds;
    if (running->search().done() || limit <= 0) continue;
    if (seconds_between(running->admitted, Clock::now()) >= limit) running->search().stop(StopReason::kTimeBudget);
  }
}

void Scheduler::fail(Running& running, const std::string& error) { running.search().stop(StopReason::kFailed, error); }

// Frees what done searches hold and reports them. Callbacks come last: they may submit and cancel.
void Scheduler::retire_done() {
  std::vector<std::unique_ptr<Running>> done;
  for (auto& running : running_) {
    if (!running->search().done()) continue;
    for (const BranchId branch : running->branches) {
      if (branch != Running::kClosed) engine_.release(branch);
    }
    reserved_ -= running->search().max_live();
    done.push_back(std::move(running));
  }
  if (!done.empty()) {
    std::erase(running_, nullptr);
    prefill_turn_ = 0;
  }
  for (const auto& running : done) {
    if (!running->job.on_done) continue;
    const Clock::time_point now = Clock::now();
    JobTimes times;
    times.queued = seconds_between(running->submitted, running->admitted);
    times.prefill = seconds_between(running->admitted, running->decoding ? running->started : now);
    times.decode = running->decoding ? seconds_between(running->started, now) : 0.0;
    running->job.on_done(times);
  }
  const std::scoped_lock lock(mutex_);
  running_count_ = running_.size();
}

}  // namespace dts
