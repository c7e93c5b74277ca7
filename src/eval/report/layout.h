// From the figures to the report's sections.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/report/document.h"
#include "eval/report/results.h"

namespace dts::eval::report {

struct LayoutOptions {
  std::string title = "Decoding methods compared";
  std::vector<std::string> cases;     // question ids; empty: one that shows the difference
  std::optional<std::uint64_t> seed;  // of the cases; none: the first that shows the difference
  bool only_cases = false;
  std::string note = {};  // a paragraph for the beginning
};

// Everything: the paper's tables and figures, costs, cases and settings. Throws a usage error for a case that is not in
// the results.
Report lay_out(const Results& results, const LayoutOptions& options);

// Its parts, each in a file of its own.
Section accuracy_section(const Results& results);
Section radar_section(const Results& results);
Section compute_section(const Results& results);
Section repetition_section(const Results& results);
Section selection_section(const Results& results);
Section criterion_section(const Results& results);
Section length_section(const Results& results);
Section samples_section(const Results& results);
Section cases_section(const Results& results, const LayoutOptions& options);
Section settings_section(const Results& results);

}  // namespace dts::eval::report
