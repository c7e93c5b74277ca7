// From rows to the figures people compare: means with intervals that know that questions are few and seeds are not
// questions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "eval/store.h"

namespace dts::eval {

struct Interval {
  double mean = 0;
  double low = 0;  // 95%
  double high = 0;
};

// The mean over all values and its 95% percentile-bootstrap interval, resampling whole clusters (questions): seeds of
// one question are not independent trials. `clusters[i]` holds the values of question i. Reproducible: the resampling
// has a seed of its own.
Interval clustered_mean(std::span<const std::vector<double>> clusters, int resamples = 2000);

// The probability that at least one of k draws is right, estimated without bias from n draws of which c are right.
double pass_at_k(int n, int c, int k);

// One method on one dataset.
struct Summary {
  std::string dataset;
  std::string method;
  std::size_t questions = 0;
  std::size_t seeds = 0;
  std::size_t rows = 0;
  Interval accuracy;    // 0..1
  Interval difference;  // against `standard`, paired by question and seed; zeros where there is none
  bool paired = false;
  double tokens = 0;         // unique tokens over all branches, mean a question
  double branch_tokens = 0;  // as if nothing were shared
  double chosen_tokens = 0;  // of the winning trajectory
  double steps = 0;          // critical path
  double branch_events = 0;
  double seconds = 0;
  double flops = 0;
  double unfinished = 0;   // share of runs in which no trajectory ended: the paper's repetition
  double unextracted = 0;  // share of finished runs without an answer
};

// A summary for each (dataset, method), in order of first appearance. LiveBench's accuracy is the mean of its tasks'
// means.
std::vector<Summary> summarise(std::span<const Row> rows);

}  // namespace dts::eval
