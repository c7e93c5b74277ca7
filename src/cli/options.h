// The option groups that commands share, each with the library's struct it becomes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/search.h"

namespace dts::cli {

// What is not given is the model's own recommendation.
struct SamplingFlags {
  std::optional<float> temperature;
  std::optional<int> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;

  SamplingOptions over(SamplingOptions recommended) const;
  // Where the values come from, for a record: "Qwen3 family", or "--temp, else Qwen3 family".
  std::string source(const std::string& recommended) const;
};
void add_sampling_options(CLI::App& app, SamplingFlags& flags);

// The method, its numbers, and where a search ends.
struct SearchFlags {
  std::string method = "dts-stable";
  MethodOptions numbers;
  float stat_temperature = 0.6F;
  std::uint64_t seed = 0;
  std::optional<int> predict;  // tokens a trajectory; none: what the context holds, at most 32768
  std::int64_t max_total_tokens = 0;
  double max_seconds = 0;

  // Throws a usage error for whatever is wrong with it without knowing the model.
  SearchOptions options() const;
};
void add_search_options(CLI::App& app, SearchFlags& flags);

}  // namespace dts::cli
