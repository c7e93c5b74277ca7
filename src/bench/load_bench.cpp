#include "bench/load_bench.h"

#include <memory>

#include "base/machine.h"
#include "bench/samples.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "dts/native.h"
#include "dts/scheduler.h"

namespace dts::bench {
namespace {

struct LoadSamples {
  std::vector<double> model, first_token, last_token;
  LoadTimes medians() const { return {median(model), median(first_token), median(last_token)}; }
};

void measure(const std::function<std::unique_ptr<Model>()>& load, int tokens, LoadSamples& samples) {
  constexpr int kPromptTokens = 16;
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<Model> model = load();
  samples.model.push_back(seconds_since(start));
  const auto engine = model->make_engine({.max_branches = 1, .context_length = kPromptTokens + tokens + 1});
  const auto search = endless_search(1, kPromptTokens - 1, tokens, engine->info().n_vocab);
  Scheduler scheduler(*engine);
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  while (!search->done()) {
    scheduler.step();
    if (search->step() == 1 && samples.first_token.size() < samples.model.size()) {
      samples.first_token.push_back(seconds_since(start));
    }
  }
  if (!search->outcome().error.empty()) throw Error("the engine failed: " + search->outcome().error);
  samples.last_token.push_back(seconds_since(start));
}

}  // namespace

LoadBenchResult run_load_bench(const LoadBenchOptions& options, const std::function<void()>& after_load) {
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  const auto llama = [&]() -> std::unique_ptr<Model> {
    LlamaModelOptions wanted;
    wanted.path = options.path;
    wanted.gpu_layers = 0;
    wanted.engine.threads = threads;
    return std::make_unique<LlamaModel>(wanted);
  };
  const auto ours = [&]() -> std::unique_ptr<Model> {
    return std::make_unique<NativeModel>(
        NativeModelOptions{.path = options.path, .device = NativeDevice::kCpu, .threads = threads});
  };
  LoadSamples of_llama;
  LoadSamples of_ours;
  for (int round = 0; round < options.rounds; ++round) {
    measure(llama, options.tokens, of_llama);
    after_load();
    measure(ours, options.tokens, of_ours);
    after_load();
  }
  return {.llama = of_llama.medians(), .ours = of_ours.medians()};
}

}  // namespace dts::bench
