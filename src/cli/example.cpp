#include "cli/example.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/builtin_model.h"
#include "dts/error.h"
#include "io/whole_file.h"
#include "json/field.h"
#include "json/parse.h"

namespace dts::cli {

Example read_example(int number) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
  const std::string path = find_builtin_data("nano-bench-mini.jsonl");
  std::istringstream lines(read_whole_file(path, kMaxBytes));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    if (++count != number) continue;
    const std::string place = fmt::format("{}: line {}", path, number);
    try {
      const nlohmann::json json = parse_json(line, {});
      const JsonField problem(json, place);
      return {problem["question"].string(), problem["answer"].string()};
    } catch (const JsonError& error) {
      throw Error(fmt::format("{}: {}", place, error.what()));
    }
  }
  throw usage_error(fmt::format("--example is {}: it must be between 1 and {}", number, count));
}

}  // namespace dts::cli
