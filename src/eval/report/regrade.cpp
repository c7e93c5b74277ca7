#include "eval/report/regrade.h"

#include <algorithm>
#include <utility>

#include "dts/vote.h"
#include "eval/grade/grade.h"

namespace dts::eval::report {
namespace {

const DatasetInfo* dataset_of(const std::string& name) {
  const auto all = datasets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DatasetInfo& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Question question_of(const Row& row) {
  Question question;
  question.id = row.key.question;
  question.answer = row.gold;
  question.task = row.task;
  question.release = row.release;
  question.choices.resize(row.options.size());
  return question;
}

}  // namespace

bool regrade(Row& row, const TreeDocument& document) {
  const DatasetInfo* info = dataset_of(row.key.dataset);
  const Outcome& outcome = document.outcome;
  if (info == nullptr || row.traces.size() != outcome.finished.size()) return false;
  const Method& method = document.options.method;
  const Question question = question_of(row);
  AnswerClasses classes(same_answers(*info));
  std::vector<Ballot> ballots;
  std::vector<bool> extracted;
  for (std::size_t i = 0; i < outcome.finished.size(); ++i) {
    const FinishedTrace& trace = outcome.finished[i];
    const Grade graded = grade(*info, question, trajectory_text(document, trace.leaf), document.opens_thinking);
    extracted.push_back(graded.extracted);
    row.traces[i].score = graded.score;
    row.traces[i].answer = classes.class_of(graded.answer);
    row.traces[i].voted = !graded.answer.empty() && trace.may_vote(outcome.confidence_bar);
    const double weight = method.select == SelectRule::kWeightedMajority ? trace.lowest_confidence : 1.0;
    ballots.push_back({row.traces[i].answer, trace.length, row.traces[i].voted ? weight : 0.0});
  }
  // One past the end: none.
  std::size_t winner = outcome.winner.value_or(row.traces.size());
  if (method.select == SelectRule::kMajority || method.select == SelectRule::kWeightedMajority) {
    const std::vector<AnswerCount> votes = count_votes(ballots);
    if (!votes.empty()) winner = static_cast<std::size_t>(votes.front().shortest);
    if (votes.empty() && method.select == SelectRule::kWeightedMajority) winner = row.traces.size();
  }
  const double before = row.score;
  row.voted = static_cast<int>(
      std::count_if(row.traces.begin(), row.traces.end(), [](const TraceResult& trace) { return trace.voted; }));
  const bool won = winner < row.traces.size();
  const TraceResult chosen = won ? row.traces[winner] : TraceResult{};
  row.score = chosen.score;
  row.answer = chosen.answer;
  row.extracted = won && extracted[winner];
  row.chosen_tokens = chosen.length;
  return row.score != before;
}

}  // namespace dts::eval::report
