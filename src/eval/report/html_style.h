// The look of the report's page.
#pragma once

#include <string_view>

namespace dts::eval::report {

extern const std::string_view kReportStyle;  // report.css, as it stands

}  // namespace dts::eval::report
