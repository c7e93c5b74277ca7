#include "engine/remote/remote_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"
#include "dts/error.h"
#include "engine/remote/truncated_statistics.h"

namespace dts::remote {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSlice = 0.05;  // seconds until the interruption is looked at again

// What is taken of an interval, and how far its ends are from it, rounded away.
void set_bounds(const Bounds& interval, double taken, float& value, float& margin) {
  value = static_cast<float>(taken);
  if (std::isinf(interval.high)) {
    margin = std::numeric_limits<float>::infinity();
    return;
  }
  // Whoever adds the two rounds again.
  const double off = std::max(interval.high - static_cast<double>(value), static_cast<double>(value) - interval.low) +
                     static_cast<double>(std::abs(value)) * std::numeric_limits<float>::epsilon();
  margin = interval.high > interval.low
               ? std::nextafter(static_cast<float>(off), std::numeric_limits<float>::infinity())
               : 0.0F;
}

}  // namespace

RemoteEngine::RemoteEngine(RemoteEngineOptions options, const Protocol& protocol, PieceSink& pieces,
                           std::unique_ptr<Transport> transport, std::unique_ptr<Clock> clock)
    : options_(std::move(options)),
      transport_(std::move(transport)),
      clock_(std::move(clock)),
      fleet_(options_.urls, *clock_, options_.fleet),
      context_{protocol, *transport_, *clock_, fleet_, pieces, options_.stream, {}, {}} {
  const bool whole = options_.n_vocab > 0 && options_.candidates >= options_.n_vocab;
  info_.name = options_.model_name;
  info_.kind = protocol.kind();
  info_.n_vocab = options_.n_vocab;
  info_.context_length = options_.context_length;
  info_.max_branches = options_.max_branches;
  info_.prefill_chunk = std::numeric_limits<int>::max();  // a prompt is sent when the first token is asked for
  info_.capabilities = {.honours_draws = false,
                        .exact_statistics = whole,
                        .batch_invariant = false,
                        .mixes_prompts = true,
                        .steps_apart = true,
                        .max_top_k = options_.candidates};
}

RemoteEngine::~RemoteEngine() = default;

RemoteEngine::Branch& RemoteEngine::find(BranchId branch) {
  const auto found = branches_.find(branch);
  check(found != branches_.end(), "a branch is open while it is used");
  return found->second;
}

BranchId RemoteEngine::add(Branch branch) {
  if (static_cast<int>(branches_.size()) >= info_.max_branches) {
    throw Error(fmt::format("more than {} branches", info_.max_branches));
  }
  branches_.emplace(next_, std::move(branch));
  return next_++;
}

BranchId RemoteEngine::open() {
  Branch branch;
  branch.question = std::make_shared<SharedPrompt>();
  return add(std::move(branch));
}

BranchId RemoteEngine::fork(BranchId parent) {
  Branch& from = find(parent);
  from.question->children += from.split ? 1 : 2;  // the first fork makes two of one
  from.split = true;
  Branch child = from;
  child.split = false;
  return add(std::move(child));
}

void RemoteEngine::release(BranchId branch) {
  find(branch);
  branches_.erase(branch);
}

bool RemoteEngine::goes_on(const Branch& branch, const Feed& feed) const {
  const TokenStream* stream = branch.stream.get();
  if (stream == nullptr || feed.tokens.size() != 1) return false;
  if (stream->claimed(step_)) return false;  // a sibling's
  const std::size_t here = branch.tokens.size();
  // Opened for this very feed by a step that left it out.
  if (stream->first() == here + 1) return stream->last_of_prefix() == feed.tokens.front();
  return stream->has(here) && stream->at(here).token == feed.tokens.front();
}

StreamSpec RemoteEngine::stream_spec(const Feed& feed, std::size_t prefix) const {
  const PredictionSpec& spec = *feed.spec;
  const int longest = spec.most_tokens > 0 ? std::min(spec.most_tokens, info_.context_length) : info_.context_length;
  StreamSpec stream;
  stream.sampling = spec.sampling;
  stream.most_tokens = std::max(1, longest - static_cast<int>(prefix));
  stream.seed = static_cast<std::uint32_t>(feed.draw);
  if (!spec.statistics) return stream;
  stream.top_n = options_.candidates;
  if (spec.decides != nullptr && context_.protocol.tells_decisions()) {
    stream.watch = {.rule = *spec.decides, .stat_temperature = static_cast<double>(spec.stat_temperature)};
    stream.top_n = std::min(spec.top_k, options_.candidates);  // children, and nothing to bound
  }
  return stream;
}

void RemoteEngine::assign_stream(Branch& branch, const Feed& feed) {
  if (!goes_on(branch, feed)) {
    std::vector<Token> prefix = branch.tokens;
    prefix.insert(prefix.end(), feed.tokens.begin(), feed.tokens.end());
    StreamSpec spec = stream_spec(feed, prefix.size());
    if (spec.top_n > 0) spec.refusal = options_.no_logprobs;
    branch.stream = std::make_shared<TokenStream>(context_, branch.question, std::move(prefix), std::move(spec));
    ++branch.question->requests;
  }
  branch.stream->claim(step_);
  branch.split = false;
}

void RemoteEngine::assign_streams(std::span<const Feed> feeds) {
  // First those that go on, so that no sibling takes their stream.
  std::vector<bool> assigned(feeds.size());
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].spec == nullptr || !goes_on(*rows_[i].branch, feeds[i])) continue;
    assign_stream(*rows_[i].branch, feeds[i]);
    assigned[i] = true;
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].spec != nullptr && !assigned[i]) assign_stream(*rows_[i].branch, feeds[i]);
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].spec != nullptr && !feeds[i].spec->statistics) forgo_statistics(*rows_[i].branch);
  }
}

void RemoteEngine::forgo_statistics(Branch& branch) {
  if (!branch.stream->has_statistics()) return;
  SharedPrompt& question = *branch.question;
  const bool another = branch.stream->streams_statistics() && question.requests <= question.children;
  if (another) ++question.requests;
  branch.stream->forgo_statistics(/*at_once=*/another);
}

void RemoteEngine::collect_groups(std::span<const Feed> feeds) {
  groups_.clear();
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].spec == nullptr) continue;
    if (groups_.empty() || groups_.back().end != i || feeds[i - 1].spec != feeds[i].spec) groups_.push_back({i, i, i});
    groups_.back().end = i + 1;
  }
}

void RemoteEngine::step(std::span<const Feed> feeds, std::span<Prediction> out) {
  const double start = clock_->now();
  ++step_;
  rows_.assign(feeds.size(), {});
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    Row& row = rows_[i];
    row.branch = &find(feeds[i].branch);
    row.position = row.branch->tokens.size() + feeds[i].tokens.size();
    if (row.branch->waits_since < 0) row.branch->waits_since = start;
  }
  assign_streams(feeds);
  collect_groups(feeds);
  wait();
  const double waited = clock_->now();
  times_.model += waited - start;

  const auto feed = [&](std::size_t i) {
    Branch& branch = *rows_[i].branch;
    branch.tokens.insert(branch.tokens.end(), feeds[i].tokens.begin(), feeds[i].tokens.end());
    branch.waits_since = -1;
  };
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].spec == nullptr) feed(i);
  }
  for (Group& group : groups_) {
    const bool goes = all_ready(group, waited);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      if (!goes) {
        out[i].status = Prediction::Status::kPending;
        continue;
      }
      feed(i);
      predict(feeds[i], rows_[i], out[i]);
    }
  }
  times_.statistics += clock_->now() - waited;
}

bool RemoteEngine::ready(const Row& row, double now) const {
  const TokenStream& stream = *row.branch->stream;
  if (stream.has(row.position) || stream.over()) return true;
  return options_.patience > 0 && now >= row.branch->waits_since + options_.patience;
}

bool RemoteEngine::all_ready(Group& group, double now) const {
  while (group.ready < group.end && ready(rows_[group.ready], now)) ++group.ready;
  return group.ready == group.end;
}

double RemoteEngine::pump_streams() {
  const double now = clock_->now();
  attention_.swap(context_.attention);
  for (TokenStream* stream : attention_) {
    const double wake = stream->pump();
    if (std::isfinite(wake)) wakes_.push(wake, stream->weak_from_this());
  }
  attention_.clear();
  while (wakes_.next() <= now) {
    const std::shared_ptr<TokenStream> stream = wakes_.pop();
    const double wake = stream == nullptr ? kNever : stream->pump();
    if (std::isfinite(wake)) wakes_.push(std::max(wake, std::nextafter(now, kNever)), stream);
  }
  return wakes_.next();
}

void RemoteEngine::wait() {
  if (groups_.empty()) return;
  double patient_until = kNever;
  for (const Row& row : rows_) {
    if (options_.patience > 0) patient_until = std::min(patient_until, row.branch->waits_since + options_.patience);
  }
  std::size_t waiting = 0;  // the first group that could not go on when last looked at
  bool any = false;         // one can
  double gathered = kNever;
  while (true) {
    const double wake = pump_streams();
    const double now = clock_->now();
    while (waiting < groups_.size() && all_ready(groups_[waiting], now)) ++waiting;
    if (waiting == groups_.size()) return;
    any = any || waiting > 0;
    for (std::size_t i = waiting + 1; !any && i < groups_.size(); ++i) any = all_ready(groups_[i], now);
    if (any) gathered = std::min(gathered, now + options_.gather_seconds);
    if (now >= gathered) return;
    if (interruption().due()) {
      if (any) return;
      throw Interrupted();
    }
    const double until = std::min({wake, gathered, now >= patient_until ? kNever : patient_until, now + kSlice});
    transport_->poll(std::max(0.0, until - now));
  }
}

void RemoteEngine::predict(const Feed& feed, const Row& row, Prediction& out) {
  TokenStream& stream = *row.branch->stream;
  out.error.clear();
  out.top.clear();
  if (!stream.has(row.position)) {
    out.status = Prediction::Status::kFailed;
    if (!stream.error().empty()) {
      out.error = stream.error();
    } else if (stream.over()) {
      out.error = fmt::format("the server ended a branch at {} tokens without an end token", row.position);
    } else {
      ++context_.traffic.given_up;
      out.error = fmt::format("a branch was given up: no server had its next token in {} s", options_.patience);
    }
    return;
  }
  const DrawnToken& drawn = stream.take(row.position);
  const PredictionSpec& spec = *feed.spec;
  out.status = Prediction::Status::kOk;
  out.sampled = drawn.token;
  out.sampled_logprob = spec.statistics ? drawn.logprob : kUnknown;
  out.entropy = out.varentropy = out.confidence = kUnknown;
  out.entropy_margin = out.varentropy_margin = 0;
  out.decision = spec.statistics ? drawn.decision : Prediction::Decision::kByStatistics;
  // What was read ahead while somebody looked is left out, too: a tree does not depend on how far that was.
  if (drawn.top.empty() || !spec.statistics) return;

  logprobs_.clear();
  for (const Candidate& candidate : drawn.top) logprobs_.push_back(static_cast<double>(candidate.logprob));
  const TruncatedDistribution known{.logprobs = logprobs_,
                                    .ranked = logprobs_.size(),
                                    .n_vocab = info_.n_vocab,
                                    .rounding = printed_rounding(logprobs_)};
  // What a server took at temperature T has at T_stat / T what the logits have at T_stat.
  const double tempered = options_.logprobs_after_temperature && spec.sampling.temperature > 0
                              ? static_cast<double>(spec.sampling.temperature)
                              : 1.0;
  const double stat_temperature = static_cast<double>(spec.stat_temperature) / tempered;
  const StatisticsBounds bounds = bound_statistics(known, stat_temperature);
  const Statistics taken = estimate_statistics(known, bounds, stat_temperature);
  set_bounds(bounds.entropy, taken.entropy, out.entropy, out.entropy_margin);
  set_bounds(bounds.varentropy, taken.varentropy, out.varentropy, out.varentropy_margin);
  const std::size_t top = std::min(drawn.top.size(), static_cast<std::size_t>(std::max(0, spec.top_k)));
  out.top.assign(drawn.top.begin(), drawn.top.begin() + static_cast<std::ptrdiff_t>(top));
  if (tempered != 1.0) {
    const double all = estimate_log_sum(known, tempered);
    const auto at_one = [&](double logprob) { return std::min(0.0, tempered * logprob - all); };
    for (double& logprob : logprobs_) logprob = at_one(logprob);
    for (Candidate& candidate : out.top) candidate.logprob = static_cast<float>(at_one(candidate.logprob));
    out.sampled_logprob = static_cast<float>(at_one(out.sampled_logprob));
  }
  const std::size_t of_confidence =
      std::min(drawn.top.size(), static_cast<std::size_t>(std::max(1, spec.confidence_k)));
  double sum = 0;
  for (std::size_t i = 0; i < of_confidence; ++i) sum += logprobs_[i];
  out.confidence = static_cast<float>(-sum / static_cast<double>(of_confidence));
}

}  // namespace dts::remote
