// DeepConf's measures of a trajectory, from its tokens' confidences (Fu et al. 2025, arXiv:2508.15260).
#pragma once

#include <span>
#include <vector>

namespace dts {

// The lowest mean over any `window` tokens in a row; the mean of all when there are fewer. 0 for none.
double lowest_window_confidence(std::span<const float> confidences, int window);

// The q-quantile, 0 <= q <= 1, with linear interpolation between the two nearest values (NumPy's default). `values`
// must not be empty.
double quantile(std::vector<double> values, double q);

// The same as lowest_window_confidence, one token at a time. Copied when a branch splits.
class ConfidenceWindow {
 public:
  explicit ConfidenceWindow(int window = 1);

  void add(float confidence);
  bool full() const { return count_ >= window_; }
  double current() const;  // mean of the last `window` tokens, or of all there are
  double lowest() const;   // lowest_window_confidence so far
  double mean() const;     // over the whole trajectory

 private:
  std::size_t window_;       // tokens
  std::vector<float> ring_;  // [min(window, tokens seen)]: a window is not paid for before it is filled
  std::size_t count_ = 0;    // tokens seen
  double window_sum_ = 0;
  double sum_ = 0;
  double lowest_ = 0;  // over full windows
};

}  // namespace dts
