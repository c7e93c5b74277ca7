#include "bench/gpu_runs.h"

#include <chrono>
#include <memory>
#include <vector>

#include "dts/error.h"
#include "dts/scheduler.h"

namespace dts::bench {
namespace {

std::shared_ptr<Search> make_search(const RunShape& shape, int question, int n_vocab) {
  std::vector<Token> prompt;
  for (int i = 0; i < shape.prompt_tokens; ++i) prompt.push_back((1000 + i * 31 + question * 7919) % n_vocab);
  SearchOptions options;
  MethodOptions method;
  method.branch.tau_v = 0;  // every token decides
  method.branch.tau_h = 1e9;
  method.branch.max_branches = shape.branches;
  options.method = make_method(shape.branches > 1 ? "dts-greedy" : "standard", method);
  options.max_tokens = shape.tokens;
  options.seed = static_cast<std::uint64_t>(question);
  const SearchText text{[](Token) { return false; }, [](std::span<const Token>) { return std::string(); }};
  return std::make_shared<Search>(std::move(prompt), options, text, n_vocab);
}

}  // namespace

RunTime measure_run(Engine& engine, const RunShape& shape) {
  std::vector<std::shared_ptr<Search>> searches;
  Scheduler scheduler(engine);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < shape.questions; ++i) {
    searches.push_back(make_search(shape, i, engine.info().n_vocab));
    scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
    if (!shape.together) scheduler.run();
  }
  scheduler.run();
  RunTime out;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& search : searches) {
    if (!search->outcome().error.empty()) throw Error("a run of the benchmark failed: " + search->outcome().error);
    out.tokens += search->outcome().account.unique_tokens;
  }
  return out;
}

}  // namespace dts::bench
