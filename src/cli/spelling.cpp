#include "cli/spelling.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dts/options.h"

namespace dts::cli {
namespace {

// Options of models and engines that llama.cpp's command line has other words for than our structs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFlags = {{
    {"context_length", "ctx-size"},
    {"kv_layout", "kv"},
    {"flash_attention", "flash-attn"},
    {"no_template", "raw"},
}};

}  // namespace

std::string flag_of(std::string_view option) {
  if (const OptionInfo* known = find_option(option)) return "--" + known->flag_name();
  for (const auto& [name, flag] : kFlags) {
    if (name == option) return "--" + std::string(flag);
  }
  std::string flag = "--" + std::string(option);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

}  // namespace dts::cli
