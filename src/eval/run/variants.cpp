#include "eval/run/variants.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "json/option_json.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

// "tau-h=1.2" of `spec`.
void set(DecodingOptions& options, std::string_view spec, std::string_view flag, std::string_view text) {
  const OptionInfo* option = find_option_flag(flag);
  if (option == nullptr || !option->of_variants()) {
    std::vector<std::string> names;
    for (const OptionInfo& known : decoding_options()) {
      if (known.of_variants()) names.push_back(known.flag_name());
    }
    throw usage_error(fmt::format("{} has {}: there is no {}; there are {}", option_name("methods"), in_quotes(spec),
                                  in_quotes(flag), list_in_quotes(names)));
  }
  try {
    option->set(options, parse_option(*option, text));
  } catch (const Error& error) {
    throw usage_error(fmt::format("{} has {}: {} is {}: it must be {}", option_name("methods"), in_quotes(spec), flag,
                                  in_quotes(text), error.field()->expected));
  }
}

// The name of an option in results files, where it has been another than it has now.
std::string setting_name(const OptionInfo& option) {
  if (option.name == "stat_temp") return "stat_temperature";
  if (option.name == "adaptive") return "certainty";
  return std::string(option.name);
}

}  // namespace

SearchOptions parse_variant(const std::string& spec, DecodingOptions base) {
  std::string_view rest = spec;
  const std::size_t colon = rest.find(':');
  base.method = rest.substr(0, colon);
  rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string_view item = rest.substr(0, end);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw usage_error(
          fmt::format("{} has {}: after a colon it must be as tau-h=1.2", option_name("methods"), in_quotes(spec)));
    }
    set(base, spec, item.substr(0, equals), item.substr(equals + 1));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return base.search();
}

nlohmann::json settings_of(const SearchOptions& options) {
  const Method& method = options.method;
  nlohmann::json out = {{"method", method.name},
                        {"width", method.width},
                        {"stop_finished", method.stop.finished == StopRule::kAll ? 0 : method.stop.finished}};
  if (method.retire.enabled) out["keep"] = method.retire.keep;
  for (const OptionInfo& option : decoding_options()) {
    const bool stops = option.name == "consensus" || option.name == "adaptive";
    if (option.stored.empty() || option.type == OptionType::kSeed || !(stops || option.concerns(method))) continue;
    const OptionValue value = option.get_stored(options);
    const bool off = stops || option.name == "branch_min_p";
    if (off && std::get<double>(value) <= 0) continue;
    nlohmann::json& setting = out[setting_name(option)];
    if (option.range.infinite) {
      setting = value_text(value);  // JSON has no word for infinity
    } else if (option.single) {
      setting = nlohmann::json::parse(value_text(value));  // 1, as a person writes it, not 1.0
    } else if (option.name == "window") {
      setting = method.retire.window > 0 ? value_text(value) : "an eighth of the budget";
    } else {
      setting = nlohmann::json(option_json(value));
    }
  }
  return out;
}

}  // namespace dts::eval
