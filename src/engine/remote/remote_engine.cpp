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
constexpr double kSlice = 0.05;  // seconds until the interruption is looked at again

// What is taken of an interval, and how far its ends are from it, rounded away.
void set_bounds(const Bounds& interval, double taken, float& value, float& margin) {
  value = static_cast<float>(taken);
  if (std::isinf(interval.high)) {
    margin = std::numeric_limits<float>::infinity();
    return;
  }
  const double off = std::max(interval.high - static_cast<double>(value), static_cast<double>(value) - interval.low);
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
      context_{protocol, *transport_, *clock_, fleet_, pieces, options_.stream, {}} {
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

BranchId RemoteEngine::fork(BranchId parent) { return add(Branch(find(parent))); }

void RemoteEngine::release(BranchId branch) {
  find(branch);
  branches_.erase(branch);
  drop_streams();
}

void RemoteEngine::drop_streams() {
  std::erase_if(streams_, [](const auto& stream) { return stream.use_count() == 1; });
}

bool RemoteEngine::goes_on(const Branch& branch, const Feed& feed) const {
  const TokenStream* stream = branch.stream.get();
  if (stream == nullptr || feed.tokens.size() != 1) return false;
  if (std::find(claimed_.begin(), claimed_.end(), stream) != claimed_.end()) return false;  // a sibling's
  const std::size_t here = branch.tokens.size();
  // Opened for this very feed by a step that was interrupted.
  if (stream->first() == here + 1) return stream->last_of_prefix() == feed.tokens.front();
  return stream->has(here) && stream->at(here).token == feed.tokens.front();
}

void RemoteEngine::assign_stream(Branch& branch, const Feed& feed) {
  if (!goes_on(branch, feed)) {
    std::vector<Token> prefix = branch.tokens;
    prefix.insert(prefix.end(), feed.tokens.begin(), feed.tokens.end());
    const int longest =
        feed.spec->most_tokens > 0 ? std::min(feed.spec->most_tokens, info_.context_length) : info_.context_length;
    const int room = longest - static_cast<int>(prefix.size());
    branch.stream = std::make_shared<TokenStream>(context_, branch.question, std::move(prefix), feed.spec->sampling,
                                                  feed.spec->statistics ? options_.candidates : 0, std::max(1, room),
                                                  static_cast<std::uint32_t>(feed.draw));
    streams_.push_back(branch.stream);
  }
  claimed_.push_back(branch.stream.get());
}

void RemoteEngine::step(std::span<const Feed> feeds, std::span<Prediction> out) {
  const double start = clock_->now();
  rows_.assign(feeds.size(), {});
  claimed_.clear();
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const Feed& feed = feeds[i];
    Row& row = rows_[i];
    row.branch = &find(feed.branch);
    row.position = row.branch->tokens.size() + feed.tokens.size();
    row.waits = feed.spec != nullptr;
  }
  // First those that go on, so that a sibling's new stream does not take a place that is not needed.
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (rows_[i].waits && goes_on(*rows_[i].branch, feeds[i])) {
      assign_stream(*rows_[i].branch, feeds[i]);
      rows_[i].waits = false;
    }
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (rows_[i].waits) assign_stream(*rows_[i].branch, feeds[i]);
    rows_[i].waits = feeds[i].spec != nullptr;
  }
  drop_streams();
  wait();
  const double waited = clock_->now();
  times_.model += waited - start;

  for (std::size_t i = 0; i < feeds.size(); ++i) {
    std::vector<Token>& tokens = rows_[i].branch->tokens;
    tokens.insert(tokens.end(), feeds[i].tokens.begin(), feeds[i].tokens.end());
    if (feeds[i].spec != nullptr) predict(feeds[i], rows_[i], out[i]);
  }
  times_.statistics += clock_->now() - waited;
}

void RemoteEngine::wait() {
  const double start = clock_->now();
  const auto ready = [](const Row& row) {
    return !row.waits || row.branch->stream->has(row.position) || row.branch->stream->over();
  };
  while (true) {
    double wake = std::numeric_limits<double>::infinity();
    for (const auto& stream : streams_) wake = std::min(wake, stream->pump());
    if (std::all_of(rows_.begin(), rows_.end(), ready)) return;
    if (interruption().due()) throw Interrupted();
    const double now = clock_->now();
    if (options_.patience > 0) {
      const double until = start + options_.patience;
      if (now >= until) return;
      wake = std::min(wake, until);
    }
    transport_->poll(std::clamp(wake - now, 0.0, kSlice));
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
  out.sampled_logprob = drawn.logprob;
  out.entropy = out.varentropy = out.confidence = kUnknown;
  out.entropy_margin = out.varentropy_margin = 0;
  if (drawn.top.empty()) return;

  logprobs_.clear();
  for (const Candidate& candidate : drawn.top) logprobs_.push_back(static_cast<double>(candidate.logprob));
  const TruncatedDistribution known{.logprobs = logprobs_, .ranked = logprobs_.size(), .n_vocab = info_.n_vocab};
  const StatisticsBounds bounds = bound_statistics(known, static_cast<double>(spec.stat_temperature));
  const Statistics taken = estimate_statistics(known, bounds, static_cast<double>(spec.stat_temperature));
  set_bounds(bounds.entropy, taken.entropy, out.entropy, out.entropy_margin);
  set_bounds(bounds.varentropy, taken.varentropy, out.varentropy, out.varentropy_margin);
  const std::size_t of_confidence =
      std::min(drawn.top.size(), static_cast<std::size_t>(std::max(1, spec.confidence_k)));
  double sum = 0;
  for (std::size_t i = 0; i < of_confidence; ++i) sum += logprobs_[i];
  out.confidence = static_cast<float>(-sum / static_cast<double>(of_confidence));
  const std::size_t top = std::min(drawn.top.size(), static_cast<std::size_t>(std::max(0, spec.top_k)));
  out.top.assign(drawn.top.begin(), drawn.top.begin() + static_cast<std::ptrdiff_t>(top));
}

}  // namespace dts::remote
