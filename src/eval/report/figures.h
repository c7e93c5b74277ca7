// The numbers of the paper's tables and figures, from rows. Shares and scores are 0..1.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/report/interval.h"
#include "eval/report/results.h"

namespace dts::eval::report {

// Table 1, last columns: a model's mean over its datasets, each with the same weight.
struct Average {
  std::string model;
  std::string method;  // label
  std::string name;
  std::size_t datasets = 0;
  Interval accuracy;
  std::optional<Interval> difference;  // against `standard`
  Interval flops = {};                 // a question; the mean of the datasets' means, and of their intervals' ends
};
// For methods that were run on every dataset of their model, and models with several. `only`: of these datasets, for
// models that have all of them; empty: all they have.
std::vector<Average> averages(const Results& results, const std::vector<std::string>& only = {});

// The accuracy of the method `second` less that of `first`, paired by question and seed, each benchmark with the same
// weight. None unless every benchmark has both on a question and seed in common.
std::optional<Interval> paired_difference(const std::vector<const Benchmark*>& benchmarks, const std::string& first,
                                          const std::string& second);

// Two methods of one benchmark, paired by question and seed.
struct Versus {
  Interval first;
  Interval second;
  std::optional<Interval> difference;  // second less first; none when they share no question and seed
};
// None unless both are there.
std::optional<Versus> versus(const Benchmark& benchmark, const std::string& first, const std::string& second,
                             const std::function<double(const Row&)>& value, bool by_task);

// Table 2, last row: rates of a model's datasets, each with the same weight. None unless it has several with both.
std::optional<Versus> average_versus(const std::vector<const Benchmark*>& benchmarks, const std::string& first,
                                     const std::string& second, const std::function<double(const Row&)>& rate);

// Table 3, for those who doubt the penalty: max-logit with other exponents of length, chosen among the same
// trajectories.
struct AlphaRow {
  std::string rule;   // "alpha 0.6", "mean"
  bool used = false;  // by the method as it was run
  Interval accuracy;
};
// Empty when max-logit was not run, or its rows do not have the trajectories' probabilities.
std::vector<AlphaRow> alpha_sensitivity(const Benchmark& benchmark);

// Table 4: what makes a decision token.
struct CriterionRow {
  std::string criterion;
  std::string tau_v, tau_h;       // as set
  std::optional<Summary> greedy;  // none when it was not run
  std::optional<Summary> stable;
};
// One for each rule that was tried, in the paper's order; empty unless at least two were.
std::vector<CriterionRow> criteria(const Benchmark& benchmark);

// Figure 2: accuracy by length. A sample is one trajectory of `standard`; one that reached the token budget counts as
// wrong, at its length.
struct LengthBin {
  std::size_t samples = 0;
  int shortest = 0;  // tokens
  int longest = 0;
  double mean_length = 0;
  Interval accuracy;  // clustered by question
};
struct LengthStudy {
  std::size_t questions = 0;
  std::size_t samples = 0;  // in all
  std::vector<LengthBin>
      pooled;  // all samples of all problems, in order of length, cut into tenths: the paper's figure
  // Each problem's samples cut into tenths among themselves: what is left when long problems are not harder ones. Empty
  // when a problem has fewer than two.
  std::vector<LengthBin> within;
  std::optional<Interval> shortest_less_longest;  // of `within`: first less last, paired by question
};
// From the length study's samples, else from the rows of `standard`; none when there are none.
std::optional<LengthStudy> length_study(const Benchmark& benchmark);

// What k independent samples of `standard` are good for, by the n of them that each problem has.
struct SamplingCurve {
  struct Point {
    int k = 0;
    Interval majority;  // maj@k
    Interval pass;      // pass@k, unbiased
  };
  int n = 0;                  // the fewest samples that a problem has
  Interval average;           // avg@n
  std::vector<Point> points;  // k = 1, 2, 4, ... n
};
// None unless every problem has at least two samples.
std::optional<SamplingCurve> sampling_curve(const Benchmark& benchmark);

// Figure 1: accuracy of the methods along several axes.
struct Radar {
  struct Series {
    std::string method;  // which of `dts methods` it is
    std::string name;
    std::vector<double> accuracy;  // [axes]
  };
  std::string model;
  std::string by;  // what the axes are: "dataset", "task" or "difficulty"; never two of them
  std::vector<std::string> axes;
  std::vector<Series> series;
};
// A model with three datasets or more: those are the axes. Else, for each benchmark, one of its tasks and one of its
// difficulties, where there are at least three of them.
std::vector<Radar> radars(const Results& results);

}  // namespace dts::eval::report
