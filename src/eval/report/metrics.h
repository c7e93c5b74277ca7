// From rows to the figures people compare. All of them are means over questions with intervals (interval.h); shares
// and scores are 0..1.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/vote.h"
#include "eval/report/interval.h"
#include "eval/store/store.h"

namespace dts::eval {

inline constexpr std::string_view kBaseline = "standard";

using Rows = std::vector<const Row*>;  // not owned

// The probability that at least one of k draws is right, estimated without bias from n draws of which c are right.
double pass_at_k(int n, int c, int k);

// What a row contributes as one sample of its method. A letter is that of the dataset's own order of the options, which
// seeds may have shown in others.
TraceResult as_sample(const Row& row);

// The score of the answer that most of the samples give, those that `same` says mean the same being one (vote.h); a tie
// goes to the answer that was given first, empty answers do not vote; 0 when there is none.
double majority_score(std::span<const TraceResult> samples, const SameAnswer& same = nullptr);

// The mean of majority_score() over the samples cut, in their order, into groups of k; what is left over is left out.
double maj_at_k(std::span<const TraceResult> samples, int k, const SameAnswer& same = nullptr);

// The relation of a dataset's grader, by the dataset's name; none for a name we do not know.
SameAnswer same_answers_of(std::string_view dataset);

// LiveBench is the mean of its tasks' means; other datasets are the mean over their questions.
bool averages_tasks(std::string_view dataset);

// One value for each row, or for each question with all its rows, in order of seed.
std::vector<Stratum> strata_of(const Rows& rows, const std::function<double(const Row&)>& value);
std::vector<Stratum> strata_by_question(const Rows& rows, const std::function<double(const Rows&)>& value);

// `value` of a row less that of the baseline's row with the same question and seed; rows without such a twin are left
// out.
std::vector<Stratum> paired_strata(const Rows& rows, const Rows& baseline,
                                   const std::function<double(const Row&)>& value);

// All rows together, whatever the dataset: for costs and rates.
Stratum one_stratum(const Rows& rows, const std::function<double(const Row&)>& value);

// The mean of a rate, 0 to 1, over them.
Interval rate_over_questions(const Rows& rows, const std::function<double(const Row&)>& rate);

// One method of one model on one dataset.
struct Summary {
  std::string model;
  std::string dataset;
  std::string method;
  std::size_t questions = 0;
  std::size_t seeds = 0;
  std::size_t rows = 0;
  Interval accuracy;                   // avg@n, n being the seeds
  std::optional<Interval> difference;  // in accuracy, against the baseline, paired by question and seed
  Interval majority;                   // maj@n: the seeds vote
  Interval pass;                       // pass@n: a seed is right
  Interval any_right;                  // a finished trajectory is right, chosen or not
  Interval flops;                      // a question
  Interval unfinished;                 // share of rows in which no trajectory ended: the paper's repetition
  double branch_tokens = 0;            // all below: mean a question. Over all branches, as if nothing were shared
  double unique_tokens = 0;            // over all branches, each once
  double steps = 0;                    // critical path
  double chosen_tokens = 0;            // of the winning trajectory, where there is one
  double voted = 0;                    // trajectories whose answer was counted
  double prompt_tokens = 0;
  double branch_events = 0;
  double seconds = 0;
  double truncated = 0;    // share of the trajectories that ran to an end that reached the token budget
  double unextracted = 0;  // share of finished rows without an answer
};

// `rows` are those of one method, `baseline` those of `standard` on the same questions; may be empty.
Summary summarise(const Rows& rows, const Rows& baseline);

// A summary for each (model, dataset, method), in order of first appearance.
std::vector<Summary> summarise(std::span<const Row> rows);

}  // namespace dts::eval
