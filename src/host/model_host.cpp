#include "host/model_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dts/error.h"
#include "dts/text_search.h"

namespace dts::host {

ModelHost::ModelHost(std::shared_ptr<const Model> model, const HostOptions& options)
    : model_(std::move(model)), options_(options), process_(getpid()) {
  if (options.parallel_branches < 1) {
    throw out_of_range("parallel_branches", std::to_string(options.parallel_branches), "at least 1");
  }
  if (options.context_length < 0) {
    throw out_of_range("context_length", std::to_string(options.context_length), "at least 0");
  }
}

ModelHost::~ModelHost() {
  close();
  if (!thread_.joinable()) return;
  if (getpid() == process_) {
    thread_.join();
  } else {
    thread_.detach();  // it is the parent's
  }
}

void ModelHost::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

std::shared_ptr<HostedRun> ModelHost::ask(HostQuestion question) {
  if (getpid() != process_) {
    throw usage_error("the model was loaded by another process, of which this one is a copy: load it here, too");
  }
  ChatPrompt prompt = prompt_of(question, model_->vocabulary());
  SearchOptions options = options_of(question, *model_);
  if (prompt.tokens.empty()) throw usage_error("the prompt has no tokens: it must have at least one");
  const int trained = model_->info().training_context;
  const int room = options_.context_length > 0 ? options_.context_length : trained;
  if (room > 0 && prompt.tokens.size() >= static_cast<std::size_t>(room)) {
    throw usage_error(fmt::format("the prompt has {} tokens, but the context ({}) holds {}: shorten the prompt",
                                  prompt.tokens.size(), option_name("context_length"), room));
  }
  auto run = std::make_shared<HostedRun>(std::move(question), std::move(prompt), std::move(options));
  const std::lock_guard lock(mutex_);
  if (closing_) throw usage_error("the model was closed: it takes no more questions");
  asked_.push_back(run);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
  return run;
}

void ModelHost::work() {
  Runs waiting;
  for (;;) {
    bool closing = false;
    {
      std::unique_lock lock(mutex_);
      const bool busy = !running_.empty() || !waiting.empty();
      if (!busy) changed_.wait(lock, [this] { return closing_ || !asked_.empty(); });
      closing = closing_;
      waiting.insert(waiting.end(), asked_.begin(), asked_.end());
      asked_.clear();
    }
    if (closing) {
      for (const auto& run : waiting) fail(*run, usage_error("the model was closed"));
      waiting.clear();
      if (running_.empty()) break;
      for (const auto& run : running_) run->cancel();
    }
    admit(waiting);
    if (scheduler_) scheduler_->step();
    std::erase_if(running_, [](const auto& run) { return run->done(); });
  }
  scheduler_.reset();
  engine_.reset();
}

ModelHost::Need ModelHost::need_of(const Runs& waiting) const {
  Need need;
  std::int64_t wanted = 0;
  bool all_of_it = false;
  const auto count = [&](const HostedRun& run) {
    const int live = run.options().method.max_live();
    wanted += live;
    need.branches = std::max(need.branches, live);
    const std::optional<int> budget = run.question().decoding.max_tokens;
    all_of_it = all_of_it || !budget;
    const auto tokens = static_cast<std::int64_t>(run.prompt().tokens.size()) + budget.value_or(0);
    need.context = std::max(need.context, static_cast<int>(std::min<std::int64_t>(tokens, INT32_MAX)));
  };
  for (const auto& run : waiting) count(*run);
  for (const auto& run : running_) count(*run);
  need.branches = std::max(need.branches, static_cast<int>(std::min<std::int64_t>(wanted, options_.parallel_branches)));
  const int trained = model_->info().training_context;
  if (options_.context_length > 0) {
    need.context = options_.context_length;
  } else if (all_of_it || (trained > 0 && need.context >= trained)) {
    need.context = 0;
  }
  return need;
}

bool ModelHost::enough(const Need& need) const {
  if (!engine_ || need.branches > made_for_.branches) return false;
  return made_for_.context == 0 || (need.context > 0 && need.context <= made_for_.context);
}

void ModelHost::make_engine(const Need& need) {
  scheduler_.reset();
  engine_.reset();  // first: its memory is wanted
  engine_ = model_->make_engine({.max_branches = need.branches, .context_length = need.context});
  scheduler_ = std::make_unique<Scheduler>(*engine_);
  made_for_ = need;
}

bool ModelHost::admit(Runs& waiting) {
  if (waiting.empty()) return true;
  const Need need = need_of(waiting);
  if (!enough(need)) {
    if (!running_.empty()) return false;
    try {
      make_engine(need);
    } catch (const std::exception&) {
      // Perhaps they are too many together: the first alone says what is wrong.
      const std::shared_ptr<HostedRun> first = waiting.front();
      waiting.pop_front();
      try {
        make_engine(need_of({first}));
        submit(first);
      } catch (const std::exception& alone) {
        fail(*first, alone);
      }
      return waiting.empty();
    }
  }
  for (const auto& run : waiting) {
    try {
      submit(run);
    } catch (const std::exception& error) {
      fail(*run, error);
    }
  }
  waiting.clear();
  return true;
}

void ModelHost::submit(const std::shared_ptr<HostedRun>& run) {
  SearchOptions options = run->options();
  const auto prompt_tokens = static_cast<int>(run->prompt().tokens.size());
  const int room = engine_->info().context_length - prompt_tokens;
  if (room < 1) {
    throw usage_error(fmt::format("the prompt has {} tokens, but the context ({}) holds {}: shorten the prompt",
                                  prompt_tokens, option_name("context_length"), engine_->info().context_length));
  }
  limit_tokens(options, room);
  const Vocabulary& vocabulary = model_->vocabulary();
  const auto search = make_text_search(vocabulary, run->prompt(), options, reading_of(run->question(), run->prompt()));

  Job job;
  job.search = search;
  job.max_seconds = run->question().decoding.max_seconds;
  HostedRun* told = run.get();  // the host keeps it until it is done
  if (run->question().events) {
    const auto events = std::make_shared<HostEvents>(*search, vocabulary);
    search->on_event = [told, events](const SearchEvent& event) { told->tell(events->event_of(event)); };
    job.on_prefill = [told](const JobProgress& progress) {
      HostEvent event;
      event.type = "prefill";
      event.tokens = progress.prefilled;
      told->tell(std::move(event));
    };
  }
  const Engine& engine = *engine_;
  job.on_done = [this, told, kept = std::weak_ptr<Search>(search), &engine](const JobTimes& times) {
    const auto done = kept.lock();
    auto document =
        std::make_shared<TreeDocument>(document_of(*done, model_->vocabulary(), told->prompt(), engine.info(), times));
    document->model = model_->info().name;
    document->question = told->question().text();
    document->stop = told->question().stop;
    std::optional<Error> error;
    if (document->outcome.reason == StopReason::kFailed) error = done->failure();
    told->end(std::move(document), std::move(error));
  };
  bool cancelled = false;
  {
    const std::lock_guard lock(run->mutex_);
    run->job_ = scheduler_->submit(std::move(job));
    run->scheduler_ = scheduler_.get();
    cancelled = run->cancelled_;
    running_.push_back(run);
  }
  if (cancelled) scheduler_->cancel(run->job_);
}

void ModelHost::fail(HostedRun& run, const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  run.end(nullptr, known != nullptr ? *known : Error(error.what()));
}

}  // namespace dts::host
