// A model, engines for it, and the evaluation of datasets on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/builtin_model.h"
#include "cli/options.h"
#include "dts/llama.h"
#include "eval/dataset.h"
#include "eval/runner.h"

namespace dts::cli {

class EvalSession {
 public:
  // `workers`: engines that work side by side, each with its own questions; 0: as many as there are cores for a model
  // so small that one thread serves it best, else one.
  EvalSession(const ModelFlags& flags, int workers);

  const LlamaModel& model() const { return model_; }
  // What decides results beside the method and its seed: the model, the questions and how they are decoded.
  std::string settings(const eval::Dataset& dataset, const eval::Variant& variant,
                       const std::string& sampling_source) const;

  // Cuts the token budget to what the context holds. The variants of all datasets must be known before the first runs:
  // engines are made once, wide enough for every one of them.
  void prepare(const std::vector<eval::Variant*>& variants, int parallel);

  // False when it was interrupted. `on_row` is called from several threads.
  bool run(const eval::Dataset& dataset, const std::vector<eval::Variant>& variants, const std::string& results,
           const std::function<void(const eval::Row&)>& on_row);

 private:
  ModelFlags flags_;
  ModelFileGuard file_;
  LlamaModel model_;
  std::string fingerprint_;  // of the model's file
  int workers_;
  std::vector<std::unique_ptr<Engine>> engines_;  // [workers_]
};

}  // namespace dts::cli
