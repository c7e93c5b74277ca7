#include "cli/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/arguments.h"
#include "dts/error.h"

namespace dts::cli {

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, separator);) {
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62U;
  std::set<std::uint64_t> seeds;
  for (const std::string& item : split_list(text)) {
    const std::size_t dash = item.find('-');
    const std::int64_t first = parse_integer("--seeds", item.substr(0, dash), 0, kMost);
    const std::int64_t last =
        dash == std::string::npos ? first : parse_integer("--seeds", item.substr(dash + 1), 0, kMost);
    if (last < first || last - first > 9999) {
      throw usage_error(fmt::format("--seeds has '{}': a range must rise and hold at most 10000 seeds", item));
    }
    for (std::int64_t seed = first; seed <= last; ++seed) seeds.insert(static_cast<std::uint64_t>(seed));
  }
  if (seeds.empty()) throw usage_error(fmt::format("--seeds is '{}': it must be numbers or ranges, as 0-4", text));
  return {seeds.begin(), seeds.end()};
}

std::vector<std::string> parse_methods(const std::string& text) {
  std::vector<std::string> methods = split_list(text);
  if (methods.empty()) throw usage_error("--methods is '': it must be names, as dts methods lists them");
  for (std::size_t i = 1; i < methods.size(); ++i) {
    if (std::find(methods.begin(), methods.begin() + static_cast<std::ptrdiff_t>(i), methods[i]) !=
        methods.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw usage_error(fmt::format("--methods has '{}' twice", methods[i]));
    }
  }
  return methods;
}

}  // namespace dts::cli
