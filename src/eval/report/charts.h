// Charts as SVG for the page: no numbers that the tables beside them do not have. Colours are classes of the page's
// style (html_style.h), so that one picture serves light and dark.
#pragma once

#include <string>

#include "eval/report/document.h"

namespace dts::eval::report {

std::string draw(const DotChart& chart);
std::string draw(const ScatterChart& chart);
std::string draw(const LineChart& chart);
std::string draw(const RadarChart& chart);

}  // namespace dts::eval::report
