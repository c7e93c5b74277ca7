// The report in the forms in which people and programs read it.
#pragma once

#include <string>

#include "eval/report/document.h"

namespace dts::eval::report {

std::string to_html(const Report& report);  // one page that needs nothing else: charts are inline SVG
// Every chart's numbers are in a table. The accuracy comes first, the rest is folded. `figures`: where the files of
// stand_alone.h are, as seen from the report; the first two are shown at its beginning. Empty: nowhere.
std::string to_markdown(const Report& report, const std::string& figures = {});
std::string to_tex(const Report& report);  // tables for a paper: needs booktabs and graphicx
// A line for each number: section, table, row, metric, unit, value, low, high. RFC 4180.
std::string to_csv(const Report& report);
std::string to_json(const Report& report);  // tables as lists of objects; intervals as mean, low, high

}  // namespace dts::eval::report
