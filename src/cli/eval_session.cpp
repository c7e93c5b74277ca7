#include "cli/eval_session.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/interrupt.h"
#include "engine/llama/system.h"
#include "eval/fingerprint.h"
#include "eval/grade.h"
#include "eval/variants.h"

namespace dts::cli {
namespace {

// A model of fewer parameters is decoded by one thread: a second would wait for the first.
constexpr std::int64_t kOneThreadParameters = 8'000'000;
constexpr int kMostWorkers = 8;

int choose_workers(int asked, const ModelFlags& flags, const LlamaModel& model) {
  if (asked > 0) return asked;
  if (flags.threads > 0 || model.parameters() >= kOneThreadParameters) return 1;
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
  return grading;
}

}  // namespace

EvalSession::EvalSession(const ModelFlags& flags, int workers)
    : flags_(flags),
      file_(flags.path.empty() ? find_builtin_model() : ModelFile{flags.path}),
      model_({.path = file_.get().path, .gpu_layers = flags.gpu_layers}),
      fingerprint_(eval::file_fingerprint(file_.get().path)),
      workers_(choose_workers(workers, flags, model_)) {}

std::string EvalSession::settings(const eval::Dataset& dataset, const eval::Variant& variant,
                                  const std::string& sampling_source) const {
  nlohmann::json out = eval::settings_of(variant.options);
  out["sampling_source"] = sampling_source;
  out["model_hash"] = fingerprint_;
  out["model_parameters"] = model_.parameters();
  out["kv_type"] = flags_.kv_type == KvType::kF16 ? "f16" : "q8_0";
  out["questions"] = dataset.questions.size();
  out["questions_hash"] = eval::questions_fingerprint(dataset);
  return out.dump();
}

void EvalSession::prepare(const std::vector<eval::Variant*>& variants, int parallel) {
  int widest = 1;
  for (const eval::Variant* variant : variants) widest = std::max(widest, variant->options.method.max_live());
  // Enough for a few of the widest searches at once; a step over more branches costs less a branch.
  constexpr int kUsualBranches = 192;
  const int branches = parallel > 0 ? std::max(parallel, widest) : std::max(widest, kUsualBranches / widest * widest);
  for (int i = 0; i < workers_; ++i) {
    engines_.push_back(make_llama_engine(model_, flags_.engine(branches, flags_.context_size)));
  }
  for (eval::Variant* variant : variants) {
    variant->options.max_tokens = std::min(variant->options.max_tokens, engines_.front()->info().context_length);
  }
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
      inputs.vocabulary = &model_.vocabulary();
      inputs.model = model_.name();
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
