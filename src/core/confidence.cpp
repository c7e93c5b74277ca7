#include "dts/confidence.h"

#include <algorithm>
#include <cmath>

namespace dts {

double lowest_window_confidence(std::span<const float> confidences, int window) {
  ConfidenceWindow measure(window);
  for (const float confidence : confidences) measure.add(confidence);
  return measure.lowest();
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

ConfidenceWindow::ConfidenceWindow(int window) : window_(static_cast<std::size_t>(std::max(1, window))) {}

void ConfidenceWindow::add(float confidence) {
  if (ring_.size() < window_) {
    ring_.push_back(confidence);
  } else {
    float& oldest = ring_[count_ % window_];
    window_sum_ -= static_cast<double>(oldest);
    oldest = confidence;
  }
  window_sum_ += static_cast<double>(confidence);
  sum_ += static_cast<double>(confidence);
  ++count_;
  if (count_ == window_) {
    lowest_ = current();
  } else if (full()) {
    lowest_ = std::min(lowest_, current());
  }
}

double ConfidenceWindow::current() const {
  const std::size_t n = std::min(count_, ring_.size());
  return n == 0 ? 0.0 : window_sum_ / static_cast<double>(n);
}

double ConfidenceWindow::lowest() const { return full() ? lowest_ : current(); }

double ConfidenceWindow::mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }

}  // namespace dts
