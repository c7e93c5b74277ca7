// The paper's experiments as a list of methods to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts::eval {

// Rows under this label are samples of `standard` for the figures that need many a problem.
inline constexpr std::string_view kSamplesLabel = "samples";

struct PlannedVariant {
  std::string label;
  std::string spec;     // for parse_variant()
  std::string purpose;  // which of the paper's tables and figures it is for
  std::vector<std::uint64_t> seeds;
};

// How many samples a problem show the length-accuracy anti-correlation: the paper's 100, fewer for the built-in
// model's short benchmark, which should end while one waits.
int paper_samples(std::string_view dataset);

// Every method with the paper's numbers (the defaults of MethodOptions): its comparison, its ablations, the controls
// that an informed reader asks for, and `samples` independent samples a problem.
std::vector<PlannedVariant> paper_protocol(const std::vector<std::uint64_t>& seeds, int samples);

// Where the seeds of the samples begin: beyond those of a comparison, whose rows of `standard` would be the same ones.
inline constexpr std::uint64_t kFirstSampleSeed = 1000;

// The samples alone.
PlannedVariant sampling_study(int samples);

}  // namespace dts::eval
