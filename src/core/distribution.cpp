#include "dts/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/distribution_sample.h"
#include "core/distribution_scan.h"
#include "core/parallel_for.h"

namespace dts {
namespace {

// Logits that are read in less time than it takes to wake a thread for them.
constexpr std::size_t kLogitsPerThread = 65536;

float finite_float(double value) {
  const double limit = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -limit, limit));
}

// What one thread needs for one row.
class RowPredictor {
 public:
  void predict(const LogitsRow& row) {
    const PredictionSpec& spec = *row.spec;
    const std::size_t n_vocab = row.logits.size();
    const auto top_k = std::min(n_vocab, static_cast<std::size_t>(std::max(0, spec.top_k)));
    const auto confidence_k = std::min(n_vocab, static_cast<std::size_t>(std::max(0, spec.confidence_k)));

    RowScan::Request request;
    request.stat_temperature = spec.stat_temperature;
    request.sample_temperature = Sampler::needs_weights(spec.sampling, n_vocab) ? spec.sampling.temperature : 0.0F;
    request.top = std::max({top_k, confidence_k, Sampler::needed_top(spec.sampling, n_vocab)});

    Prediction& out = *row.out;
    out.top.clear();
    if (!scan_.run(row.logits, request)) {
      out.status = Prediction::Status::kNotANumber;
      return;
    }
    out.status = Prediction::Status::kOk;
    out.entropy = finite_float(scan_.entropy());
    out.varentropy = finite_float(scan_.varentropy());
    fill_top(top_k, out);
    fill_confidence(confidence_k, out);
    out.sampled = sampler_.draw(scan_, spec.sampling, row.draw);
    out.sampled_logprob = finite_float(scan_.logprob(row.logits[static_cast<std::size_t>(out.sampled)]));
  }

 private:
  void fill_top(std::size_t top_k, Prediction& out) const {
    for (const RankedLogit& ranked : scan_.top().first(std::min(top_k, scan_.top().size()))) {
      out.top.push_back({.token = ranked.token, .logprob = finite_float(scan_.logprob(ranked.logit))});
    }
    // Masked tokens only make up the number; they rank by id.
    const float masked = -std::numeric_limits<float>::infinity();
    const auto logits = scan_.logits();
    for (std::size_t i = 0; i < logits.size() && out.top.size() < top_k; ++i) {
      if (logits[i] == masked) out.top.push_back({.token = static_cast<Token>(i), .logprob = masked});
    }
  }

  void fill_confidence(std::size_t confidence_k, Prediction& out) const {
    const std::size_t k = std::min(confidence_k, scan_.top().size());
    double sum = 0;
    for (const RankedLogit& ranked : scan_.top().first(k)) sum -= scan_.logprob(ranked.logit);
    out.confidence = k > 0 ? finite_float(sum / static_cast<double>(k)) : 0.0F;
  }

  RowScan scan_;
  Sampler sampler_;
};

}  // namespace

struct Predictor::Impl {
  explicit Impl(int threads) : pool(threads), rows(static_cast<std::size_t>(pool.threads())) {}

  ThreadPool pool;
  std::vector<RowPredictor> rows;  // one a thread
};

Predictor::Predictor(int threads) : impl_(std::make_unique<Impl>(std::max(1, threads))) {}
Predictor::~Predictor() = default;

void Predictor::predict(std::span<const LogitsRow> rows) {
  std::size_t logits = 0;
  for (const LogitsRow& row : rows) logits += row.logits.size();
  const auto useful = std::min<std::size_t>(logits / kLogitsPerThread, static_cast<std::size_t>(impl_->pool.threads()));
  impl_->pool.parallel_for(rows.size(), std::max(1, static_cast<int>(useful)), [&](std::size_t index, int worker) {
    impl_->rows[static_cast<std::size_t>(worker)].predict(rows[index]);
  });
}

}  // namespace dts
