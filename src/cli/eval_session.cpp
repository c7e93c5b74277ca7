#include "cli/eval_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/machine.h"
#include "cli/interrupt.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/options.h"
#include "eval/grade/grade.h"
#include "eval/run/fingerprint.h"
#include "eval/run/variants.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

// A model of fewer parameters is decoded by one thread: a second would wait for the first.
constexpr std::int64_t kOneThreadParameters = 8'000'000;
constexpr int kMostWorkers = 8;

int choose_workers(int asked, const ModelFlags& flags, const Model& model) {
  if (asked > 0) return asked;
  if (flags.is_remote() || flags.threads > 0 || model.info().parameters >= kOneThreadParameters) return 1;
  return std::clamp(usable_cores(), 1, kMostWorkers);
}

eval::Grading grading_of(const eval::DatasetInfo& info) {
  eval::Grading grading;
  grading.vote = [info](const eval::Question& question, std::string_view text, bool opens) {
    return eval::answer_for_vote(info, question, text, opens);
  };
  grading.grade = [info](const eval::Question& question, std::string_view text, bool opens) {
    return eval::grade(info, question, text, opens);
  };
  grading.same = eval::same_answers(info);
  return grading;
}

// Tokens of the longest prompt that a seed of some method makes of the question.
std::size_t longest_prompt(const Model& model, const EvalWork& work, const eval::Question& question) {
  std::set<std::uint64_t> seeds = {0};
  for (const eval::Variant& variant : *work.variants) {
    if (work.dataset->shuffle) seeds.insert(variant.seeds.begin(), variant.seeds.end());
  }
  std::size_t longest = 0;
  for (const std::uint64_t seed : seeds) {
    const eval::ShownQuestion shown = eval::shown_to(*work.dataset, question, seed);
    longest = std::max(longest, eval::chat_prompt(model.vocabulary(), *work.dataset, shown.question).tokens.size());
  }
  return longest;
}

}  // namespace

EvalSession::EvalSession(const ModelFlags& flags, int workers, bool timing)
    : flags_(flags),
      loaded_(load_model(flags, {})),
      name_(loaded_->id()),
      fingerprint_(loaded_->path().empty() ? "served:" + model().info().name : eval::file_fingerprint(loaded_->path())),
      timing_(timing),
      workers_chosen_(workers == 0),
      workers_(timing ? 1 : choose_workers(workers, flags, model())) {}

void EvalSession::choose_name(const eval::Store& store) {
  const std::vector<eval::StoredSettings> known = store.settings();
  const auto has = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(), [&](const eval::StoredSettings& one) { return one.model == name; });
  };
  if (!has(loaded_->id()) && has(model().info().name)) name_ = model().info().name;
}

std::string EvalSession::settings(const eval::Dataset& dataset, const eval::Variant& variant,
                                  const std::string& sampling_source) const {
  nlohmann::json out = eval::settings_of(variant.options);
  out["sampling_source"] = sampling_source;
  out["model_hash"] = fingerprint_;
  out["model_parameters"] = model().info().parameters;
  // How it is computed decides the last bits of logits, and so tokens.
  for (const auto& [name, value] : engine_settings_) {
    const bool truth = value == "true" || value == "false";
    out[name] = truth ? nlohmann::json(value == "true") : nlohmann::json(value);
  }
  if (truncated_) out["context_length"] = context_;
  if (timing_) out["timing"] = true;
  out["grader"] = eval::kGraderVersion;
  out["prompts"] = eval::kPromptVersion;
  if (dataset.info.answers == eval::AnswerKind::kLetter) {
    out["options"] = dataset.shuffle ? fmt::format("an order for each seed, from {}", *dataset.shuffle) : "one order";
  }
  out["questions"] = dataset.questions.size();
  out["questions_hash"] = eval::questions_fingerprint(dataset);
  return out.dump();
}

void EvalSession::prepare(const std::vector<EvalWork>& all, int parallel, LongPrompts long_prompts) {
  int widest = 1;
  std::int64_t needed = 1;  // tokens of the longest prompt and its budget
  for (const EvalWork& work : all) {
    int budget = 0;
    for (const eval::Variant& variant : *work.variants) {
      widest = std::max(widest, variant.options.method.max_live());
      budget = std::max(budget, variant.options.max_tokens);
    }
    for (const eval::Question& question : work.dataset->questions) {
      const std::size_t prompt = longest_prompt(model(), work, question);
      needed = std::max(needed, static_cast<std::int64_t>(prompt) + budget);
    }
  }
  const int trained = model().info().training_context;
  const int most = flags_.context_size > 0 ? flags_.context_size
                   : trained > 0           ? trained
                                           : model().plan_engine({.max_branches = 1}).context_length;
  context_ = static_cast<int>(std::min<std::int64_t>(needed, most));
  truncated_ = needed > most;
  settle_long_prompts(all, long_prompts);
  choose_branches(widest, parallel);
  for (int i = 0; i < workers_; ++i)
    engines_.push_back(model().make_engine({branches_, context_, /*throughput=*/!timing_}));
  for (const EvalWork& work : all) {
    for (eval::Variant& variant : *work.variants) {
      limit_tokens(variant.options, context_);
    }
  }
}

void EvalSession::settle_long_prompts(const std::vector<EvalWork>& all, LongPrompts long_prompts) {
  std::string first;
  for (const EvalWork& work : all) {
    const auto is_long = [&](const eval::Question& question) {
      const std::size_t tokens = longest_prompt(model(), work, question);
      if (tokens < static_cast<std::size_t>(context_)) return false;
      if (first.empty()) first = fmt::format("{} of {} with {} tokens", question.id, work.dataset->info.name, tokens);
      return true;
    };
    skipped_ += std::erase_if(work.dataset->questions, is_long);
    if (work.dataset->questions.empty()) {
      throw usage_error(fmt::format("no question of {} fits the context of {} tokens (--ctx-size)",
                                    work.dataset->info.name, context_));
    }
  }
  if (skipped_ == 0 || long_prompts == LongPrompts::kSkip) return;
  throw usage_error(fmt::format("{} not fit the context of {} tokens (--ctx-size), as {}; --skip-long leaves such out",
                                skipped_ == 1 ? "1 prompt does" : fmt::format("{} prompts do", skipped_), context_,
                                first));
}

void EvalSession::choose_branches(int widest, int parallel) {
  const auto plan = [this](int branches) { return model().plan_engine({branches, context_, /*throughput=*/!timing_}); };
  const auto fits = [&](int branches) {
    try {
      const EnginePlan made = plan(branches);
      return made.needed_bytes * workers_ <= made.available_bytes / 10 * 9;  // others want some, too
    } catch (const Error&) {
      return false;
    }
  };
  const int most = model().info().most_branches;
  if (most > 0 && parallel > most)
    throw out_of_range("parallel", fmt::format("{}", parallel), fmt::format("at most {}", most));
  if (parallel > 0 || timing_) {
    branches_ = std::max(parallel, widest);
  } else {
    // Enough for a few of the widest searches at once; a step over more branches costs less a branch.
    constexpr int kUsualBranches = 192;
    // Servers say what they bear.
    const int served = flags_.is_remote() ? plan(widest).parallel : 0;
    branches_ = std::max(widest, (served > 0 ? served : kUsualBranches) / widest * widest);
    while (branches_ > widest && !fits(branches_)) branches_ -= widest;
  }
  while (workers_chosen_ && workers_ > 1 && !fits(branches_)) --workers_;
  try {
    engine_settings_ = plan(branches_).settings;
  } catch (const Error& error) {
    if (branches_ == widest || error.kind() == Error::Kind::kUsage) throw;
    throw Error(fmt::format("--parallel is {}: {}; without --parallel as many are in flight as fit", parallel,
                            error.spelled(flag_of)));
  }
}

std::string EvalSession::prepared() const {
  const std::string left_out = skipped_ == 0 ? ""
                                             : fmt::format("{} left out: the prompt does not fit\n",
                                                           counted(static_cast<std::int64_t>(skipped_), "question"));
  return left_out + fmt::format("{} tokens a branch, prompt included{}; {} branches in flight{}\n", grouped(context_),
                                truncated_ ? (flags_.context_size > 0 ? " (--ctx-size cuts longer trajectories)"
                                                                      : " (the model was trained for no more)")
                                           : "",
                                branches_, workers_ > 1 ? fmt::format(" on each of {} engines", workers_) : "");
}

bool EvalSession::run(const eval::Dataset& dataset, const std::vector<eval::Variant>& variants,
                      const std::string& results, const std::function<void(const eval::Row&)>& on_row) {
  std::atomic<bool> failed = false;
  std::atomic<bool> finished = true;
  std::exception_ptr failure;
  std::mutex mutex;  // guards failure
  const auto work = [&](Engine& engine) {
    try {
      eval::RunnerInputs inputs;
      inputs.engine = &engine;
      inputs.vocabulary = &model().vocabulary();
      inputs.model = name_;
      inputs.one_at_a_time = timing_;
      inputs.dataset = &dataset;
      inputs.variants = variants;
      inputs.grading = grading_of(dataset.info);
      inputs.on_row = on_row;
      inputs.stopping = [&failed] { return failed || Interrupt::requested(); };
      eval::Store store(results);
      if (!eval::run_evaluation(inputs, store)) finished = false;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < engines_.size(); ++i) threads.emplace_back(work, std::ref(*engines_[i]));
  work(*engines_.front());
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return finished;
}

}  // namespace dts::cli
