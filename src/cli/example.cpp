#include "cli/example.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

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
  // Those with traps come first: they show what a tree is good for.
  std::vector<Example> trapped;
  std::vector<Example> plain;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("{}: line {}", path, ++count);
    try {
      const nlohmann::json json = parse_json(line, {});
      const JsonField problem(json, place);
      (problem["difficulty"].string() == "easy" ? plain : trapped)
          .push_back({problem["question"].string(), problem["answer"].string()});
    } catch (const JsonError& error) {
      throw Error(fmt::format("{}: {}", place, error.what()));
    }
  }
  if (number < 1 || number > count) {
    throw usage_error(fmt::format("--example is {}: it must be between 1 and {}", number, count));
  }
  const auto index = static_cast<std::size_t>(number - 1);
  return index < trapped.size() ? trapped[index] : plain[index - trapped.size()];
}

}  // namespace dts::cli
