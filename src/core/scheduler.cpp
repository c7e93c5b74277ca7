#include "dts/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "core/fair_queue.h"
#include "core/prefix_cache.h"
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

// For the last that is done on behalf of a search: there is nothing left of it that could fail.
template <typename Action>
void regardless(Action action) {
  try {
    action();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace

struct Scheduler::Running {
  JobId id = 0;
  Job job;
  std::vector<BranchId> branches;  // the search's slot -> the engine's branch; kClosed where none is open
  std::size_t prefilled = 0;       // prompt tokens in the engine
  Claim claim;                     // reserved while it runs
  bool decoding = false;
  bool suspended = false;
  bool placed = false;         // the plan's releases and forks are done: an interrupted step only feeds again
  std::size_t first_feed = 0;  // where its feeds start in the step being made
  std::size_t n_feeds = 0;     // how many they are
  StopReason unadmitted = StopReason::kRunning;  // why it left the queue without having run
  Clock::time_point submitted, admitted, started;

  static constexpr BranchId kClosed = -1;

  Search& search() const { return *job.search; }
  std::vector<BranchId> open_branches() const {
    std::vector<BranchId> open;
    std::copy_if(branches.begin(), branches.end(), std::back_inserter(open),
                 [](BranchId branch) { return branch != kClosed; });
    return open;
  }
  bool done() const { return search().done(); }
  // The first step feeds the last token.
  std::span<const Token> to_prefill() const { return search().prompt().first(search().prompt().size() - 1); }
  bool limited() const { return job.max_seconds > 0; }
  Clock::time_point deadline() const {
    return admitted + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(job.max_seconds));
  }
  bool late(Clock::time_point now) const {
    return job.max_queue_seconds > 0 && seconds_between(submitted, now) >= job.max_queue_seconds;
  }
  Footprint footprint() const {
    return {.branches = search().max_live(),
            .prompt_tokens = static_cast<int>(search().prompt().size()),
            .max_tokens = search().options().max_tokens};
  }
};

Scheduler::Scheduler(Engine& engine, const SchedulerOptions& options)
    : engine_(engine),
      order_(std::make_unique<FairQueue>(Room{.branches = engine.info().max_branches,
                                              .tokens = engine.info().kv_tokens,
                                              .lane = std::min(options.small_lane, engine.info().max_branches - 1)})) {
  if (options.kept_prompt_bytes <= 0 || !engine.info().capabilities.keeps_branches) return;
  const int grain = engine.info().prompt_grain > 0 ? engine.info().prompt_grain : engine.info().prefill_chunk;
  prefixes_ = std::make_unique<PrefixCache>(grain, options.kept_prompt_bytes);
}

Scheduler::~Scheduler() {
  for (const auto& running : running_) release_all(*running);
}

JobId Scheduler::submit(Job job) {
  check(job.search != nullptr && !job.search->done(), "a search is submitted before it is done");
  const EngineInfo& info = engine_.info();
  const Search& search = *job.search;
  validate(search.options(), info);
  if (search.filters_logits() && !info.capabilities.filters_logits) {
    throw usage_error(fmt::format("{} cannot constrain what is generated", info.kind));
  }
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
  running->claim = {.owner = running->job.owner,
                    .branches = running->search().max_live(),
                    .tokens = engine_.kv_tokens_of(running->footprint())};
  running->submitted = Clock::now();
  const std::scoped_lock lock(mutex_);
  running->id = next_id_++;
  const JobId id = running->id;
  order_->push(id, running->claim);
  queue_.emplace(id, std::move(running));
  return id;
}

void Scheduler::cancel(JobId id) {
  const std::scoped_lock lock(mutex_);
  cancelled_.push_back(id);
  if (std::find(in_step_.begin(), in_step_.end(), id) != in_step_.end()) engine_.interruption().now();
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

// Stopping runs callbacks, which may call back into the scheduler: never under the lock.
void Scheduler::end_queued(std::span<const std::unique_ptr<Running>> never_ran) {
  for (const auto& running : never_ran) {
    running->search().stop(running->unadmitted);
    JobTimes times;
    times.queued = seconds_between(running->submitted, Clock::now());
    if (running->job.on_done) regardless([&] { running->job.on_done(times); });
  }
}

// Applies cancellations and the time limits of those that wait, then moves searches from the queue into the engine
// while there is room for all they may ever have.
void Scheduler::admit() {
  std::vector<JobId> cancelled;
  std::vector<std::unique_ptr<Running>> never_ran;
  {
    const std::scoped_lock lock(mutex_);
    cancelled.swap(cancelled_);
    for (const JobId id : cancelled) {
      if (const auto queued = queue_.find(id); queued != queue_.end())
        queued->second->unadmitted = StopReason::kCancelled;
    }
    const Clock::time_point now = Clock::now();
    for (auto queued = queue_.begin(); queued != queue_.end();) {
      Running& running = *queued->second;
      if (running.unadmitted == StopReason::kRunning && running.late(now)) running.unadmitted = StopReason::kTimeBudget;
      if (running.unadmitted == StopReason::kRunning) {
        ++queued;
        continue;
      }
      order_->erase(queued->first);
      never_ran.push_back(std::move(queued->second));
      queued = queue_.erase(queued);
    }
    running_count_ = running_.size() + never_ran.size();
  }
  end_queued(never_ran);
  for (const auto& running : running_) {
    if (std::find(cancelled.begin(), cancelled.end(), running->id) != cancelled.end()) {
      running->search().stop(StopReason::kCancelled);
    }
  }
  retire_done();

  if (std::any_of(running_.begin(), running_.end(), [](const auto& running) { return running->suspended; })) return;
  const std::scoped_lock lock(mutex_);
  running_.reserve(running_.size() + queue_.size());
  while (const auto id = order_->next()) {
    const auto queued = queue_.find(*id);
    running_.push_back(std::move(queued->second));
    queue_.erase(queued);
    running_.back()->admitted = Clock::now();
  }
  running_count_ = running_.size();
}

// One chunk of one prompt, in turn, so that neither a long prompt nor many prompts hold up the searches that decode.
Scheduler::Running* Scheduler::next_to_prefill() {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& running = *running_[(prefill_turn_ + i) % running_.size()];
    if (running.decoding || running.suspended || running.done() || waits_for_another(running)) continue;
    prefill_turn_ = (prefill_turn_ + i + 1) % running_.size();
    return &running;
  }
  return nullptr;
}

// Whoever has begun never waits, so somebody always gets on.
bool Scheduler::waits_for_another(const Running& running) const {
  if (!prefixes_ || !running.branches.empty()) return false;
  const std::span<const Token> prompt = running.to_prefill();
  std::size_t most = 0;
  for (const auto& other : running_) {
    if (other->branches.empty() || other->decoding || other->done()) continue;
    most = std::max(most, prefixes_->shared(other->to_prefill(), prompt));
  }
  return most > prefixes_->longest(prompt);
}

void Scheduler::open_prompt(Running& running) {
  if (const auto found = prefixes_ ? prefixes_->find(running.to_prefill()) : std::nullopt) {
    try {
      running.branches.push_back(engine_.reopen(*found->branch, static_cast<int>(found->tokens)));
      running.prefilled = found->tokens;
      running.search().reuse(static_cast<int>(found->tokens));
      return;
    } catch (const std::exception&) {
      prefixes_->clear();  // for want of memory, then: it can still be done without
    }
  }
  running.branches.push_back(engine_.open());
}

void Scheduler::plan_prefill(Running& running) {
  if (running.branches.empty()) open_prompt(running);
  // Chunks are cut at the same places, whatever else runs: prompts must prefill the same every time.
  const std::size_t n =
      std::min(running.to_prefill().size() - running.prefilled, static_cast<std::size_t>(engine_.info().prefill_chunk));
  running.first_feed = feeds_.size();
  running.n_feeds = n == 0 ? 0 : 1;
  if (n == 0) return;
  feeds_.push_back(
      {.branch = running.branches.front(), .tokens = running.search().prompt().subspan(running.prefilled, n)});
}

void Scheduler::prefilled(Running& running) {
  if (running.n_feeds > 0) running.prefilled += feeds_[running.first_feed].tokens.size();
  try {
    if (running.job.on_prefill) {
      running.job.on_prefill({static_cast<int>(running.prefilled), static_cast<int>(running.search().prompt().size())});
    }
    if (running.prefilled < running.to_prefill().size()) return;
    if (prefixes_) prefixes_->keep(engine_, running.branches.front(), running.to_prefill());
    running.decoding = true;
    running.started = Clock::now();
    if (!running.done()) running.search().begin();
  } catch (const std::exception& error) {
    running.search().abandon(unspelled(error));
  }
}

void Scheduler::plan_step(Running& running) {
  const Plan& plan = running.search().plan();
  std::vector<BranchId>& branches = running.branches;
  const auto at = [&branches](int slot) -> BranchId& {
    if (static_cast<std::size_t>(slot) >= branches.size()) {
      branches.resize(static_cast<std::size_t>(slot) + 1, Running::kClosed);
    }
    return branches[static_cast<std::size_t>(slot)];
  };
  if (!running.placed) {
    // Releases first: the engine can then fork into the places they leave.
    for (const int slot : plan.releases) engine_.release(std::exchange(at(slot), Running::kClosed));
    for (const Plan::Fork& fork : plan.forks) {
      const BranchId parent = at(fork.parent);
      at(fork.child) = engine_.fork(parent);
    }
    running.placed = true;
  }
  running.first_feed = feeds_.size();
  running.n_feeds = plan.feeds.size();
  for (const Plan::SlotFeed& feed : plan.feeds) {
    feeds_.push_back({at(feed.slot), {&feed.token, 1}, feed.draw, &running.search().spec(), feed.filter});
  }
}

void Scheduler::absorb(Running& running) {
  Search& search = running.search();
  const auto predictions = std::span(predictions_).subspan(running.first_feed, search.plan().feeds.size());
  if (!predictions.empty() && predictions.front().status == Prediction::Status::kPending)
    return;  // the same feeds come again
  running.placed = false;
  try {
    search.absorb(predictions);
  } catch (const std::exception& error) {
    search.abandon(unspelled(error));
  }
}

void Scheduler::step_all() {
  feeds_.clear();
  members_.clear();
  // What fails while one search's branches are put in place is its own failure.
  const auto join = [this](Running& running, auto plan) {
    const std::size_t feeds = feeds_.size();
    try {
      (this->*plan)(running);
      members_.push_back(&running);
    } catch (const std::exception& error) {
      feeds_.resize(feeds);
      running.search().stop(StopReason::kFailed, unspelled(error));
    }
  };
  resume_suspended();
  const EngineCapabilities& capabilities = engine_.info().capabilities;
  while (Running* prompt = next_to_prefill()) {
    join(*prompt, &Scheduler::plan_prefill);
    if (capabilities.mixes_prompts && !capabilities.steps_apart) break;
    if (members_.empty()) continue;
    make_room();
    const Evaluation made = evaluate(members_);
    if (made == Evaluation::kDone && !members_.empty()) prefilled(*prompt);
    if (made == Evaluation::kInterrupted) return;
    feeds_.clear();
    members_.clear();
    if (!capabilities.steps_apart) break;  // one chunk a step
  }
  Running* mixed = members_.empty() ? nullptr : members_.front();
  for (const auto& running : running_) {
    if (running->decoding && !running->suspended && !running->done()) join(*running, &Scheduler::plan_step);
  }
  make_room();
  if (members_.empty() || evaluate(members_) != Evaluation::kDone) return;
  for (Running* running : members_) running == mixed ? prefilled(*running) : absorb(*running);
}

// What is done of a plan stays done: only its feeds wait.
void Scheduler::suspend(Running& running) {
  if (const auto member = std::find(members_.begin(), members_.end(), &running); member != members_.end()) {
    members_.erase(member);
    const auto first = feeds_.begin() + static_cast<std::ptrdiff_t>(running.first_feed);
    feeds_.erase(first, first + static_cast<std::ptrdiff_t>(running.n_feeds));
    for (Running* other : members_) {
      if (other->first_feed > running.first_feed) other->first_feed -= running.n_feeds;
    }
  }
  try {
    engine_.suspend(running.open_branches());
    running.suspended = true;
    ++suspensions_;
  } catch (const std::exception& error) {
    running.search().stop(StopReason::kFailed, unspelled(error));
    release_all(running);
  }
}

void Scheduler::make_room() {
  while (!feeds_.empty() && !engine_.has_room(feeds_)) {
    if (prefixes_ && prefixes_->forget_oldest()) continue;
    const auto holds = [](const auto& running) {
      return !running->suspended && !running->done() && !running->branches.empty();
    };
    // The last admitted. One that is alone steps regardless: the engine says what is too much.
    if (!engine_.info().capabilities.suspends_branches || std::count_if(running_.begin(), running_.end(), holds) < 2) {
      return;
    }
    suspend(**std::find_if(running_.rbegin(), running_.rend(), holds));
  }
}

// In the order in which they were admitted: the first is not overtaken, lest it wait for ever.
void Scheduler::resume_suspended() {
  for (const auto& running : running_) {
    if (!running->suspended || running->done()) continue;
    const std::vector<BranchId> open = running->open_branches();
    try {
      bool resumed = engine_.resume(open);
      const bool alone = std::none_of(running_.begin(), running_.end(), [](const auto& other) {
        return !other->suspended && !other->done() && !other->branches.empty();
      });
      while (!resumed && alone && prefixes_ && prefixes_->forget_oldest()) resumed = engine_.resume(open);
      if (!resumed) return;
      running->suspended = false;
    } catch (const std::exception& error) {
      running->search().stop(StopReason::kFailed, unspelled(error));
    }
  }
}

Scheduler::Evaluation Scheduler::evaluate(std::span<Running* const> members) {
  if (feeds_.empty()) return Evaluation::kDone;
  if (predictions_.size() < feeds_.size()) predictions_.resize(feeds_.size());
  Interruption& interruption = engine_.interruption();
  {
    // A step that was interrupted is made again in full: those who did not ask for it must get on.
    const std::scoped_lock lock(mutex_);
    interruption.clear();
    in_step_.clear();
    if (!interrupted_) {
      Clock::time_point earliest = Clock::time_point::max();
      for (const Running* running : members) {
        in_step_.push_back(running->id);
        if (running->limited()) earliest = std::min(earliest, running->deadline());
      }
      if (earliest < Clock::time_point::max()) interruption.at(earliest);
      for (const JobId id : cancelled_) {
        if (std::find(in_step_.begin(), in_step_.end(), id) != in_step_.end()) interruption.now();
      }
    }
  }
  Evaluation made = Evaluation::kDone;
  try {
    engine_.step(feeds_, std::span(predictions_).first(feeds_.size()));
  } catch (const Interrupted&) {
    made = Evaluation::kInterrupted;
  } catch (const std::exception& error) {
    made = Evaluation::kFailed;
    for (Running* running : members) running->search().stop(StopReason::kFailed, unspelled(error));
  }
  interrupted_ = made == Evaluation::kInterrupted;
  const std::scoped_lock lock(mutex_);
  in_step_.clear();
  return made;
}

// A long prompt spends the time budget, too.
void Scheduler::stop_late() {
  const Clock::time_point now = Clock::now();
  for (const auto& running : running_) {
    if (!running->done() && running->limited() && now >= running->deadline()) {
      running->search().stop(StopReason::kTimeBudget);
    }
  }
}

// An engine that cannot let go of a branch is not asked twice; its other branches are still freed.
void Scheduler::release_all(Running& running) {
  for (BranchId& branch : running.branches) {
    if (branch == Running::kClosed) continue;
    const BranchId id = std::exchange(branch, Running::kClosed);
    regardless([&] { engine_.release(id); });
  }
}

// Frees what done searches hold and reports them. Callbacks come last: they may submit and cancel.
void Scheduler::retire_done() {
  std::vector<std::unique_ptr<Running>> done;
  for (auto& running : running_) {
    if (!running->done()) continue;
    release_all(*running);
    done.push_back(std::move(running));
  }
  if (!done.empty()) {
    std::erase(running_, nullptr);
    prefill_turn_ = 0;
    const std::scoped_lock lock(mutex_);
    for (const auto& running : done) order_->give_back(running->claim);
  }
  for (const auto& running : done) {
    const Clock::time_point now = Clock::now();
    JobTimes times;
    times.queued = seconds_between(running->submitted, running->admitted);
    times.prefill = seconds_between(running->admitted, running->decoding ? running->started : now);
    times.decode = running->decoding ? seconds_between(running->started, now) : 0.0;
    if (running->job.on_done) regardless([&] { running->job.on_done(times); });
  }
  const std::scoped_lock lock(mutex_);
  running_count_ = running_.size();
}

}  // namespace dts
