// A calibration for people: in a terminal, as SVG and as a page.
#pragma once

#include <string>
#include <vector>

#include "cli/calibration.h"
#include "cli/terminal.h"

namespace dts::cli {

struct CalibrationReport {
  std::string model;
  int prompts = 0;
  int trajectories = 0;  // over all prompts
  double stat_temperature = 0.6;
  bool exact = true;  // H and VE of the whole distribution
  std::vector<TokenStatistics> tokens;
  Thresholds present;
  double wanted_rate = 0;  // per thousand tokens; 0: none was asked for
  ThresholdChoice choice = ThresholdChoice::kTauV;
  Thresholds chosen;  // for that rate

  // What the map marks.
  const Thresholds& shown() const { return wanted_rate > 0 ? chosen : present; }
};

// Rates that a table of thresholds shows, per thousand tokens.
inline constexpr std::array<double, 7> kShownRates = {1, 2, 5, 10, 20, 50, 100};

std::string calibration_text(const CalibrationReport& report, const Terminal& terminal);
std::string calibration_svg(const CalibrationReport& report);
std::string calibration_html(const CalibrationReport& report);
// What --profile reads: TOML with the thresholds, and in comments what they come from.
std::string calibration_profile(const CalibrationReport& report);

}  // namespace dts::cli
