#include "bench/step_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <random>

#include "base/machine.h"
#include "bench/bare_loop.h"
#include "bench/samples.h"
#include "dts/distribution.h"
#include "dts/error.h"
#include "dts/rng.h"
#include "dts/scheduler.h"
#include "engine/llama/llama_model.h"
#include "oracle/distribution_oracle.h"

namespace dts::bench {
namespace {

constexpr int kRounds = 3;

// What a step is measured by.
enum class StepClock { kWall, kCpu };

// Seconds since some moment. kCpu: that all threads of this process were running.
double now(StepClock clock) {
  if (clock == StepClock::kWall) return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What was measured at one number of branches and one length, step by step. Seconds.
struct Samples {
  std::vector<double> bare, ours, ratios, model, statistics, bookkeeping, forks;
};

void measure(Engine& engine, BareLoop& bare, int branches, int private_tokens, int warm_up, int steps, StepClock clock,
             Samples& samples) {
  bare.fill(private_tokens);

  Scheduler scheduler(engine);
  auto search = endless_search(branches, private_tokens, steps + warm_up + 1, engine.info().n_vocab);
  Job asked;
  asked.search = search;
  const JobId job = scheduler.submit(std::move(asked));
  const double forks_before = engine.times().forks;
  // A step of ours; a search that cannot go on would be measured as infinitely fast.
  const auto step = [&] {
    scheduler.step();
    if (search->done()) throw Error("the engine failed: " + search->outcome().error);
  };
  while (search->step() < 1) step();
  if (branches > 1) samples.forks.push_back((engine.times().forks - forks_before) / (branches - 1));
  for (int i = 1; i < warm_up; ++i) {
    step();
    bare.step();
  }
  for (int i = 0; i < steps; ++i) {
    const double bare_start = now(clock);
    bare.step();
    samples.bare.push_back(now(clock) - bare_start);
    const EngineTimes before = engine.times();
    const double book_before = scheduler.bookkeeping_seconds();
    const double start = now(clock);
    step();
    samples.ours.push_back(now(clock) - start);
    const EngineTimes after = engine.times();
    samples.ratios.push_back(samples.ours.back() / samples.bare.back());
    samples.model.push_back(after.model - before.model);
    samples.statistics.push_back(after.statistics - before.statistics);
    samples.bookkeeping.push_back(scheduler.bookkeeping_seconds() - book_before);
  }
  scheduler.cancel(job);
  scheduler.run();
}

StepTimes summarise(int branches, int private_tokens, const Samples& samples) {
  StepTimes times;
  times.branches = branches;
  times.private_tokens = private_tokens;
  times.bare = median(samples.bare);
  times.ours = median(samples.ours);
  times.fastest = *std::min_element(samples.ours.begin(), samples.ours.end());
  times.ratio = median(samples.ratios);
  times.model = median(samples.model);
  times.statistics = median(samples.statistics);
  times.bookkeeping = median(samples.bookkeeping);
  if (!samples.forks.empty()) times.fork = median(samples.forks);
  return times;
}

StatisticsTimes measure_statistics(int rows, int n_vocab, int threads) {
  StatisticsTimes times;
  times.rows = rows;
  times.n_vocab = n_vocab;
  std::mt19937 rng(1);
  std::normal_distribution<float> normal(0.0F, 2.5F);
  std::vector<float> logits(static_cast<std::size_t>(rows) * static_cast<std::size_t>(n_vocab));
  for (float& z : logits) z = normal(rng);
  const PredictionSpec spec;
  std::vector<Prediction> out(static_cast<std::size_t>(rows));
  std::vector<LogitsRow> batch;
  for (std::size_t i = 0; i < out.size(); ++i) {
    batch.push_back(
        {std::span(logits).subspan(i * static_cast<std::size_t>(n_vocab), static_cast<std::size_t>(n_vocab)),
         draw_bits(1, i), &spec, &out[i]});
  }
  Predictor predictor(threads);
  std::vector<double> fast;
  for (int i = 0; i < 7; ++i) {
    const Clock::time_point start = Clock::now();
    predictor.predict(batch);
    fast.push_back(seconds_since(start));
  }
  times.fast = median(fast);
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < batch.size(); ++i) out[i] = predict_oracle(batch[i].logits, spec, batch[i].draw);
  times.oracle = seconds_since(start);
  return times;
}

LinearFit fit_line(int branches, const std::vector<StepTimes>& steps) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (const StepTimes& s : steps) {
    if (s.branches != branches) continue;
    const double x = static_cast<double>(s.private_tokens) * branches;
    n += 1;
    sx += x;
    sy += s.fastest;
    sxx += x * x;
    sxy += x * s.fastest;
    syy += s.fastest * s.fastest;
  }
  LinearFit fit;
  fit.branches = branches;
  const double xx = n * sxx - sx * sx;
  const double xy = n * sxy - sx * sy;
  const double yy = n * syy - sy * sy;
  fit.slope = xy / xx;
  fit.base = (sy - fit.slope * sx) / n;
  fit.r_squared = yy > 0 ? xy * xy / (xx * yy) : 1.0;
  return fit;
}

}  // namespace

StepBenchResult run_step_bench(const LlamaModel& model, const StepBenchOptions& options,
                               const std::function<void(const StepTimes&)>& on_row,
                               const std::function<void()>& on_measured) {
  StepBenchResult result;
  LlamaEngineOptions engine_options = options.engine;
  if (engine_options.threads == 0) engine_options.threads = usable_cores();
  result.threads = engine_options.threads;
  const bool on_gpu = impl_of(model).on_gpu;
  const StepClock clock = engine_options.threads == 1 && !on_gpu ? StepClock::kCpu : StepClock::kWall;
  // A GPU records its graphs in the first steps; the native engine packs its weights in the very first.
  int warm_up = options.ours != nullptr ? 18 : on_gpu ? 4 : 2;
  const int longest = *std::max_element(options.private_tokens.begin(), options.private_tokens.end());
  for (const int branches : options.branches) {
    engine_options.max_branches = branches;
    engine_options.context_length = longest + options.steps + 32;  // with what is decoded before that
    const MemoryPlan plan = plan_memory(model, engine_options);    // what "auto" came to
    const auto engine =
        options.ours != nullptr
            ? options.ours->make_engine({.max_branches = branches, .context_length = engine_options.context_length})
            : make_llama_engine(model, engine_options);
    BareLoopOptions bare_options;
    bare_options.branches = branches;
    bare_options.context = (engine_options.context_length + 255) / 256 * 256;
    bare_options.threads = engine_options.threads;
    bare_options.kv_type = plan.kv_type;
    bare_options.kv_layout = plan.layout;
    bare_options.flash_attention = plan.flash_attention;
    BareLoop bare(impl_of(model).model.get(), bare_options);
    // In several rounds over the lengths: a machine that is slow for a while is so for all of them.
    std::vector<Samples> samples(options.private_tokens.size());
    for (int round = 0; round < kRounds; ++round) {
      const int steps = options.steps / kRounds + (round < options.steps % kRounds ? 1 : 0);
      for (std::size_t i = 0; steps > 0 && i < samples.size(); ++i) {
        measure(*engine, bare, branches, options.private_tokens[i], warm_up, steps, clock, samples[i]);
        if (options.ours != nullptr) warm_up = 2;
        if (on_measured) on_measured();
      }
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.steps.push_back(summarise(branches, options.private_tokens[i], samples[i]));
      if (on_row) on_row(result.steps.back());
    }
    if (options.private_tokens.size() >= 3) result.fits.push_back(fit_line(branches, result.steps));
  }
  const int most = *std::max_element(options.branches.begin(), options.branches.end());
  result.statistics = measure_statistics(most, model.vocabulary().size(), engine_options.threads);
  return result;
}

}  // namespace dts::bench
