#include "hub/hub_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "dts/error.h"
#include "text/ascii.h"
#include "text/display.h"

namespace dts::hub {
namespace {

constexpr std::size_t kLongestName = 96;  // of a repository, by the hub's rules

bool is_name(std::string_view name) {
  if (name.empty() || name.find("--") != std::string_view::npos || name.find("..") != std::string_view::npos) {
    return false;
  }
  const auto edge = [](char c) { return c == '-' || c == '.'; };
  if (edge(name.front()) || edge(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return text::is_digit(c) || text::is_letter(c) || c == '-' || c == '.' || c == '_';
  });
}

}  // namespace

HubName parse_hub_name(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  HubName name{text.substr(0, colon), colon < text.size() ? text.substr(colon + 1) : ""};
  const std::size_t slash = name.repo.find('/');
  const bool repo = slash != std::string::npos && name.repo.size() <= kLongestName &&
                    is_name(std::string_view(name.repo).substr(0, slash)) &&
                    is_name(std::string_view(name.repo).substr(slash + 1));
  if (!repo || (colon < text.size() && !is_name(name.quant))) {
    throw usage_error(
        fmt::format("{} is '{}': it must be ORG/REPO or ORG/REPO:QUANT", option_name("hf_repo"), text::one_line(text)));
  }
  return name;
}

}  // namespace dts::hub
