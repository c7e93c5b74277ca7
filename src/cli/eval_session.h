// A model, engines for it, and the evaluation of datasets on them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_loader.h"
#include "cli/model_options.h"
#include "dts/model.h"
#include "eval/datasets/dataset.h"
#include "eval/run/runner.h"
#include "eval/store/store.h"

namespace dts::cli {

// A dataset with the methods that are put to it. Neither is owned.
struct EvalWork {
  eval::Dataset* dataset = nullptr;
  std::vector<eval::Variant>* variants = nullptr;
};

// Questions whose prompt leaves no room for an answer.
enum class LongPrompts {
  kRefuse,  // before anything is decoded
  kSkip,    // they are taken out of their dataset
};

class EvalSession {
 public:
  // `workers`: engines that work side by side, each with its own questions; 0: as many as there are cores for a model
  // so small that one thread serves it best, else one.
  // `timing`: one question at a time, so that its seconds are its own.
  EvalSession(const ModelFlags& flags, int workers, bool timing = false);

  const Model& model() const { return **loaded_; }
  // The model's name in the results: its file's, or, in a file that has rows under the name that the model gives
  // itself, that. Call it before settings() and run().
  void choose_name(const eval::Store& store);
  const std::string& name() const { return name_; }
  // What decides results beside the method and its seed: the model, the questions and how they are decoded.
  std::string settings(const eval::Dataset& dataset, const eval::Variant& variant,
                       const std::string& sampling_source) const;

  // Makes the engines, once, for all the work there is. A branch holds the longest prompt and the token budget, or what
  // the model was trained for where that is less, whatever memory is free: budgets must not depend on the moment.
  // Memory decides how many branches are in flight (`parallel`; 0: as many as are useful and fit). Throws when not even
  // those of the widest method fit.
  void prepare(const std::vector<EvalWork>& all, int parallel, LongPrompts long_prompts);
  std::string prepared() const;  // for people: the context, the branches in flight, questions left out; a line each

  // False when it was interrupted. `on_row` is called from several threads.
  bool run(const eval::Dataset& dataset, const std::vector<eval::Variant>& variants, const std::string& results,
           const std::function<void(const eval::Row&)>& on_row);

 private:
  // Refuses or takes out the questions whose prompts do not fit context_.
  void settle_long_prompts(const std::vector<EvalWork>& all, LongPrompts long_prompts);
  // Sets branches_, and lowers workers_ where memory demands it.
  void choose_branches(int widest, int parallel);

  ModelFlags flags_;
  std::unique_ptr<LoadedModel> loaded_;
  std::string name_;
  std::string fingerprint_;  // of the model's file
  bool timing_;
  bool workers_chosen_;  // by us, so that memory may lower them
  int workers_;
  int branches_ = 0;         // in flight, of each engine
  int context_ = 0;          // tokens a branch holds
  std::size_t skipped_ = 0;  // questions whose prompts do not fit
  bool truncated_ = false;   // some prompt and its budget do not fit the context
  std::vector<std::pair<std::string, std::string>> engine_settings_;
  std::vector<std::unique_ptr<Engine>> engines_;  // [workers_]
};

}  // namespace dts::cli
