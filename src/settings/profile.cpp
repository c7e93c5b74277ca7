#include "settings/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dts/error.h"
#include "dts/options.h"
#include "settings/settings_file.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts {
namespace {

// In which form answers are asked for: of a question, but none of its decoding.
constexpr const char* kAnswer = "answer";

// "tau-v" and "tau_v" are the same; empty: no question has it.
std::string option_of(std::string key) {
  if (key == kAnswer) return key;
  std::replace(key.begin(), key.end(), '-', '_');
  if (find_option(key) != nullptr) return key;
  std::replace(key.begin(), key.end(), '_', '-');
  const OptionInfo* by_flag = find_option_flag(key);
  return by_flag == nullptr ? "" : std::string(by_flag->name);
}

[[noreturn]] void fail_unknown(const std::string& origin, const std::string& key) {
  std::vector<std::string> known = {kAnswer};
  for (const OptionInfo& option : decoding_options()) known.push_back(option.flag_name());
  const std::string near = text::nearest(key, known);
  throw usage_error(fmt::format("{}: {} is no setting of a question{}", origin, text::one_line(key),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

}  // namespace

std::vector<ProfileSetting> read_profile(const std::string& path) {
  std::vector<ProfileSetting> settings;
  for (FileSetting& setting : read_settings(path)) {
    if (!setting.section.empty()) continue;
    std::string origin = fmt::format("{}:{}", path, setting.line);
    std::string name = option_of(setting.key);
    if (name.empty()) fail_unknown(origin, setting.key);
    if (setting.values.size() != 1) {
      throw usage_error(
          fmt::format("{}: {} has {} values: it must have one", origin, setting.key, setting.values.size()));
    }
    settings.push_back({std::move(name), std::move(setting.values.front()), std::move(origin)});
  }
  return settings;
}

}  // namespace dts
