#include "cli/example.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/builtin_model.h"
#include "dts/error.h"
#include "io/whole_file.h"

namespace dts::cli {

Example read_example(int number) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
  const std::string path = find_builtin_data("nano-bench-mini.jsonl");
  std::istringstream lines(read_whole_file(path, kMaxBytes));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    if (++count != number) continue;
    try {
      const nlohmann::json problem = nlohmann::json::parse(line);
      return {problem.at("question").get<std::string>(), problem.at("answer").get<std::string>()};
    } catch (const nlohmann::json::exception& error) {
      throw Error(fmt::format("{}: line {}: {}", path, number, error.what()));
    }
  }
  throw usage_error(fmt::format("--example is {}: it must be between 1 and {}", number, count));
}

}  // namespace dts::cli
