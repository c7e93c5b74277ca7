#include "eval/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "dts/error.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"

namespace dts::eval {
namespace {

struct Task {
  const Variant* variant = nullptr;
  const Question* question = nullptr;
  std::uint64_t seed = 0;
  RowKey key;
};

class Runner {
 public:
  Runner(const RunnerInputs& inputs, Store& store) : inputs_(inputs), store_(store), scheduler_(*inputs.engine) {
    for (const std::uint64_t seed : inputs.seeds) {
      for (const Variant& variant : inputs.variants) {
        for (const Question& question : inputs.dataset->questions) {
          RowKey key{std::string(inputs.dataset->info.name), variant.label, seed, question.id};
          if (store.has(key)) {
            ++progress_.before;
          } else {
            tasks_.push_back({&variant, &question, seed, std::move(key)});
          }
        }
      }
    }
    progress_.total = tasks_.size();
  }

  bool run() {
    while (true) {
      if (inputs_.stopping && inputs_.stopping()) return abandon_all();
      submit_what_fits();
      if (!scheduler_.step()) break;
      if (!error_.empty()) {
        abandon_all();
        throw Error(error_);
      }
    }
    return true;
  }

 private:
  // Never queues in the scheduler: what is queued there would be claimed without being worked on.
  void submit_what_fits() {
    while (next_ < tasks_.size()) {
      const Task& task = tasks_[next_];
      const int branches = task.variant->options.method.max_live();
      if (reserved_ + branches > inputs_.engine->info().max_branches && reserved_ > 0) return;
      ++next_;
      if (!store_.claim(task.key)) {
        ++progress_.before;
        --progress_.total;
        continue;
      }
      submit(task);
      reserved_ += branches;
    }
  }

  void submit(const Task& task) {
    const Vocabulary& vocabulary = *inputs_.vocabulary;
    const std::array messages = {ChatMessage{"user", user_prompt(inputs_.dataset->info.prompt, *task.question)}};
    auto prompt = std::make_shared<ChatPrompt>(vocabulary.chat(messages));
    SearchOptions options = task.variant->options;
    options.seed = task.seed;
    const int room = inputs_.engine->info().context_length - static_cast<int>(prompt->tokens.size());
    if (room < 1) {
      throw usage_error(fmt::format("question {} has {} prompt tokens, but the context holds {} (--ctx-size)",
                                    task.question->id, prompt->tokens.size(), inputs_.engine->info().context_length));
    }
    options.max_tokens = std::min(options.max_tokens, room);
    auto search = make_text_search(vocabulary, *prompt, options, [this, &task, prompt](std::string_view text) {
      return inputs_.grading.vote(*task.question, text, prompt->opens_thinking);
    });
    Job job;
    job.search = search;
    job.on_done = [this, &task, prompt, search](const JobTimes& times) { done(task, *prompt, *search, times); };
    running_[&task] = scheduler_.submit(std::move(job));
  }

  void done(const Task& task, const ChatPrompt& prompt, const Search& search, const JobTimes& times) {
    running_.erase(&task);
    reserved_ -= task.variant->options.method.max_live();
    const StopReason reason = search.outcome().reason;
    if (reason == StopReason::kCancelled) return store_.abandon(task.key);
    if (reason == StopReason::kFailed) {
      error_ = search.outcome().error;
      return store_.abandon(task.key);
    }
    TreeDocument document = document_of(search, *inputs_.vocabulary, prompt, inputs_.engine->info(), times);
    document.model = inputs_.model;
    document.question = task.question->text;
    const Row row = make_row(task, document);
    store_.save(row);
    ++progress_.done;
    progress_.row = &row;
    if (inputs_.on_row) inputs_.on_row(progress_);
    progress_.row = nullptr;
  }

  Row make_row(const Task& task, const TreeDocument& document) const {
    const Outcome& outcome = document.outcome;
    const Account& account = outcome.account;
    Row row;
    row.key = task.key;
    row.task = task.question->task;
    row.difficulty = task.question->difficulty;
    row.gold = task.question->answer;
    row.finished = outcome.winner.has_value();
    if (outcome.winner) {
      const FinishedTrace& winner = outcome.finished[*outcome.winner];
      const Grade graded =
          inputs_.grading.grade(*task.question, trajectory_text(document, winner.leaf), document.opens_thinking);
      row.score = graded.score;
      row.extracted = graded.extracted;
      row.answer = graded.answer;
      row.chosen_tokens = winner.length;
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
  Progress progress_;
  std::string error_;
};

}  // namespace

bool run_evaluation(const RunnerInputs& inputs, Store& store) { return Runner(inputs, store).run(); }

}  // namespace dts::eval
