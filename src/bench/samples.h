// What the benchmarks of this machine's engines measure with, and on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dts/search.h"

namespace dts::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// `width` trajectories that never end: every step has the same batch.
inline std::shared_ptr<Search> endless_search(int width, int private_tokens, int max_tokens, int n_vocab) {
  std::vector<Token> prompt;
  for (int i = 0; i <= private_tokens; ++i) prompt.push_back((1000 + i * 31) % n_vocab);
  SearchOptions options;
  options.method.name = "endless";
  options.method.width = width;
  options.max_tokens = max_tokens;
  const SearchText text{[](Token) { return false; }, [](std::span<const Token>) { return std::string(); }};
  return std::make_shared<Search>(std::move(prompt), options, text, n_vocab);
}

}  // namespace dts::bench
