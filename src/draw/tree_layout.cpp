#include "draw/tree_layout.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace dts::draw {
namespace {

constexpr double kDecisionGap = 20;     // pixels before a decision: the size of its mark
constexpr double kEndGap = 6;           // pixels before the end of a trajectory
constexpr int kMaxTicks = 5000;         // that are tried
constexpr double kMaxStretched = 0.75;  // share of the width that crowded events may take

std::vector<std::pair<int, double>> gaps_of(const Tree& tree) {
  std::vector<std::pair<int, double>> gaps;
  for (const Segment& segment : tree.segments()) {
    gaps.emplace_back(segment.end(), segment.children.empty() ? kEndGap : kDecisionGap);
  }
  return gaps;
}

}  // namespace

Scale::Scale(std::vector<std::pair<int, double>> gaps, double width) {
  std::sort(gaps.begin(), gaps.end());
  positions_ = {0};
  std::vector<double> least = {0};  // [positions_] pixels since the event before
  for (const auto& [position, gap] : gaps) {
    if (position != positions_.back()) {
      positions_.push_back(position);
      least.push_back(gap);
    } else if (position > 0) {
      least.back() = std::max(least.back(), gap);
    }
  }
  if (positions_.size() == 1) {  // nothing was generated
    positions_.push_back(1);
    least.push_back(0);
  }
  double sum = 0;
  for (const double gap : least) sum += gap;
  const double shrink = std::min(1.0, kMaxStretched * width / std::max(sum, 1.0));
  for (double& gap : least) gap *= shrink;

  // The pixels a token gets, such that all intervals together, none under its least, take the width.
  const auto taken = [&](double per_token) {
    double total = 0;
    for (std::size_t i = 1; i < positions_.size(); ++i) {
      total += std::max(least[i], per_token * (positions_[i] - positions_[i - 1]));
    }
    return total;
  };
  double low = 0;
  double high = width / positions_.back();
  linear_ = taken(high) <= width * (1 + 1e-9);
  for (int i = 0; i < 60 && !linear_; ++i) {
    const double middle = (low + high) / 2;
    (taken(middle) > width ? high : low) = middle;
  }
  pixels_ = {0};
  for (std::size_t i = 1; i < positions_.size(); ++i) {
    pixels_.push_back(pixels_.back() + std::max(least[i], high * (positions_[i] - positions_[i - 1])));
  }
}

double Scale::at(int position) const {
  const auto after = std::upper_bound(positions_.begin(), positions_.end(), position);
  if (after == positions_.end()) return pixels_.back();
  const auto i = static_cast<std::size_t>(after - positions_.begin());
  const double share = static_cast<double>(position - positions_[i - 1]) / (positions_[i] - positions_[i - 1]);
  return pixels_[i - 1] + share * (pixels_[i] - pixels_[i - 1]);
}

std::vector<int> Scale::ticks(double distance) const {
  int unit = 1;
  while (unit <= positions_.back() / 10) unit *= 10;
  std::vector<int> steps;  // from coarse to fine, each round
  for (; unit >= 1; unit /= 10) steps.insert(steps.end(), {5 * unit, 2 * unit, unit});

  std::vector<int> placed = {0};
  for (const int step : steps) {
    // On a linear scale all ticks are multiples of one step. On a stretched one, whatever room is left between round
    // positions goes to less round ones.
    const bool fits_everywhere = at(step) >= distance;
    if (linear_ && !fits_everywhere) break;
    if (linear_) placed = {0};
    if (positions_.back() / step > kMaxTicks) break;
    for (int position = step; position <= positions_.back(); position += step) {
      const auto next = std::lower_bound(placed.begin(), placed.end(), position);
      const double x = at(position);
      const bool room_before = x - at(*(next - 1)) >= distance;
      const bool room_after = next == placed.end() || at(*next) - x >= distance;
      if (room_before && room_after) placed.insert(next, position);
    }
  }
  return placed;
}

Layout::Layout(const Tree& tree, double width) : row(tree.segments().size()), scale(gaps_of(tree), width) {
  // Rows to fill, the topmost last.
  std::vector<SegmentId> starts(tree.roots().rbegin(), tree.roots().rend());
  while (!starts.empty()) {
    SegmentId id = starts.back();
    starts.pop_back();
    for (;;) {
      row[static_cast<std::size_t>(id)] = rows;
      const std::vector<SegmentId>& children = tree.segment(id).children;
      if (children.empty()) break;
      starts.insert(starts.end(), children.rbegin(), children.rend() - 1);
      id = children.front();
    }
    ++rows;
  }
}

}  // namespace dts::draw
