#include "eval/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "dts/error.h"
#include "dts/options.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"

namespace dts::eval {
namespace {

struct Task {
  const Variant* variant = nullptr;
  ShownQuestion shown;  // as this seed is asked it
  std::uint64_t seed = 0;
  RowKey key;
};

// Seed by seed, so that a run that is stopped early has looked at every method.
template <typename Visit>
void for_each_row(const RunnerInputs& inputs, Visit visit) {
  std::set<std::uint64_t> seeds;
  for (const Variant& variant : inputs.variants) seeds.insert(variant.seeds.begin(), variant.seeds.end());
  for (const std::uint64_t seed : seeds) {
    for (const Variant& variant : inputs.variants) {
      if (std::find(variant.seeds.begin(), variant.seeds.end(), seed) == variant.seeds.end()) continue;
      for (const Question& question : inputs.dataset->questions) {
        visit(variant, seed, question,
              RowKey{inputs.model, std::string(inputs.dataset->info.name), variant.label, seed, question.id});
      }
    }
  }
}

class Runner {
 public:
  Runner(const RunnerInputs& inputs, Store& store) : inputs_(inputs), store_(store), scheduler_(*inputs.engine) {
    for_each_row(inputs, [&](const Variant& variant, std::uint64_t seed, const Question& question, RowKey key) {
      if (!store.has(key)) {
        tasks_.push_back({&variant, shown_to(*inputs.dataset, question, seed), seed, std::move(key)});
      }
    });
  }

  bool run() {
    while (true) {
      if (inputs_.stopping && inputs_.stopping()) return abandon_all();
      submit_what_fits();
      if (!scheduler_.step()) {
        if (!skipped_any_that_are_free()) return true;
        next_ = 0;
      }
      if (failure_) {
        abandon_all();
        std::rethrow_exception(failure_);
      }
    }
  }

 private:
  // Never queues in the scheduler: what is queued there would be claimed without being worked on.
  void submit_what_fits() {
    while (next_ < tasks_.size()) {
      const Task& task = tasks_[next_];
      const int branches = task.variant->options.method.max_live();
      if (reserved_ > 0 && inputs_.one_at_a_time) return;
      if (reserved_ + branches > inputs_.engine->info().max_branches && reserved_ > 0) return;
      ++next_;
      if (!store_.claim(task.key)) continue;
      submit(task);
      reserved_ += branches;
    }
  }

  // Whoever had claimed a row may have died, or given it up, since it was passed over.
  bool skipped_any_that_are_free() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [this](const Task& task) { return store_.is_free(task.key); });
  }

  void submit(const Task& task) {
    const Vocabulary& vocabulary = *inputs_.vocabulary;
    auto prompt = std::make_shared<ChatPrompt>(chat_prompt(vocabulary, *inputs_.dataset, task.shown.question));
    SearchOptions options = task.variant->options;
    options.seed = task.seed;
    const int room = inputs_.engine->info().context_length - static_cast<int>(prompt->tokens.size());
    if (room < 1) {
      throw usage_error(fmt::format("question {} has {} prompt tokens, but the context holds {} ({})",
                                    task.shown.question.id, prompt->tokens.size(),
                                    inputs_.engine->info().context_length, option_name("context_length")));
    }
    limit_tokens(options, room);
    TextSearchOptions reading;
    reading.read_answer = [this, &task, prompt](std::string_view text) {
      return inputs_.grading.vote(task.shown.question, text, prompt->opens_thinking);
    };
    reading.same_answer = inputs_.grading.same ? inputs_.grading.same : SameAnswer(std::equal_to<std::string>());
    auto search = make_text_search(vocabulary, *prompt, options, std::move(reading));
    Job job;
    job.search = search;
    job.on_done = [this, &task, prompt, search](const JobTimes& times) {
      try {
        done(task, *prompt, *search, times);
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
      }
    };
    running_[&task] = scheduler_.submit(std::move(job));
  }

  void done(const Task& task, const ChatPrompt& prompt, const Search& search, const JobTimes& times) {
    running_.erase(&task);
    reserved_ -= task.variant->options.method.max_live();
    const StopReason reason = search.outcome().reason;
    if (reason == StopReason::kCancelled) return store_.abandon(task.key);
    if (reason == StopReason::kFailed) {
      store_.abandon(task.key);
      throw Error(search.outcome().error);
    }
    TreeDocument document = document_of(search, *inputs_.vocabulary, prompt, inputs_.engine->info(), times);
    document.model = inputs_.model;
    document.question = task.shown.question.text;
    const Row row = make_row(task, document);
    store_.save(row);
    if (inputs_.on_row) inputs_.on_row(row);
  }

  Row make_row(const Task& task, const TreeDocument& document) const {
    const Outcome& outcome = document.outcome;
    const Account& account = outcome.account;
    Row row;
    row.key = task.key;
    const Question& question = task.shown.question;
    row.task = question.task;
    row.difficulty = question.difficulty;
    row.gold = question.answer;
    row.release = question.release;
    row.options = task.shown.order;
    row.finished = !outcome.finished.empty();
    for (std::size_t i = 0; i < outcome.finished.size(); ++i) {
      const FinishedTrace& trace = outcome.finished[i];
      const Grade graded =
          inputs_.grading.grade(question, trajectory_text(document, trace.leaf), document.opens_thinking);
      if (outcome.winner == i) {
        row.score = graded.score;
        row.extracted = graded.extracted;
        row.answer = trace.answer;
        row.chosen_tokens = trace.length;
      }
      const bool voted = !trace.answer.empty() && trace.may_vote(outcome.confidence_bar);
      row.voted += voted ? 1 : 0;
      row.traces.push_back({trace.length, graded.score, trace.answer, trace.mean_logprob, voted});
    }
    row.reason = to_string(outcome.reason);
    row.votes = static_cast<int>(outcome.finished.size());
    row.exhausted = account.exhausted;
    row.branch_events = static_cast<int>(account.branch_events);
    row.steps = account.steps;
    row.prompt_tokens = account.prompt_tokens;
    row.unique_tokens = account.unique_tokens;
    row.branch_tokens = account.branch_tokens;
    row.fed_tokens = account.fed_tokens;
    row.seconds = document.times.prefill + document.times.decode;
    row.flops = document.flops;
    row.document = to_json_text(document);
    return row;
  }

  bool abandon_all() {
    for (const auto& [task, id] : running_) scheduler_.cancel(id);
    scheduler_.run();
    return false;
  }

  const RunnerInputs& inputs_;
  Store& store_;
  Scheduler scheduler_;
  std::vector<Task> tasks_;  // addresses are stable: filled once
  std::size_t next_ = 0;
  int reserved_ = 0;  // branches that running searches may have
  std::map<const Task*, JobId> running_;
  std::exception_ptr failure_;  // the first
};

}  // namespace

ChatPrompt chat_prompt(const Vocabulary& vocabulary, const Dataset& dataset, const Question& question) {
  const std::array messages = {ChatMessage{"user", user_prompt(dataset.info.prompt, question)}};
  return vocabulary.chat(messages);
}

std::vector<RowKey> keys_of(const RunnerInputs& inputs) {
  std::vector<RowKey> keys;
  for_each_row(inputs,
               [&](const Variant&, std::uint64_t, const Question&, RowKey key) { keys.push_back(std::move(key)); });
  return keys;
}

bool run_evaluation(const RunnerInputs& inputs, Store& store) { return Runner(inputs, store).run(); }

}  // namespace dts::eval
