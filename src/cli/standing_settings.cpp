#include "cli/standing_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "dts/error.h"
#include "dts/options.h"
#include "settings/settings_file.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts::cli {
namespace {

// Belong to one call. The key itself has a variable of its own, which only `serve` reads.
constexpr std::array<std::string_view, 8> kOfOneCall = {"help",    "prompt", "file", "example",
                                                        "api-key", "config", "json", "profile"};

// Commands that answer questions: what stands for all stands for them. Others have a table of their own.
constexpr std::array<std::string_view, 5> kAnswering = {"run", "serve", "eval", "chat", "calibrate"};
// What of it the benchmark takes as well.
constexpr std::array<std::string_view, 6> kOfTheModel = {"model",  "hf-repo",    "hf-file",
                                                         "engine", "gpu-layers", "threads"};
// One excludes the other: where a stronger source names one, what a weaker says of another is not meant.
constexpr std::array<std::string_view, 3> kNamesOfAModel = {"model", "hf-repo", "url"};

template <typename List>
bool has(const List& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

const CLI::Option* find_long(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : standing_options(command)) {
    if (has(option->get_lnames(), name)) return option;
  }
  return nullptr;
}

// The option that a key means: a flag's name with '-' or '_', or the library's name for it ("max_tokens").
const CLI::Option* find_key(const CLI::App& command, const std::string& key) {
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  if (const CLI::Option* option = find_long(command, name)) return option;
  std::string library = key;
  std::replace(library.begin(), library.end(), '-', '_');
  const OptionInfo* known = find_option(library);
  return known == nullptr ? nullptr : find_long(command, known->flag_name());
}

std::string long_name(const CLI::Option* option) { return option->get_lnames().front(); }

bool for_all(const CLI::App& command, const CLI::Option* option) {
  if (has(kAnswering, command.get_name())) return true;
  return command.get_name() == "bench" && has(kOfTheModel, long_name(option));
}

// Whether the option is on the command line, in one of the ways to write it.
bool on_command_line(const CLI::Option* option, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    for (const std::string& name : option->get_lnames()) {
      if (argument == "--" + name || argument.starts_with("--" + name + "=")) return true;
    }
    for (const std::string& name : option->get_snames()) {
      if (!argument.starts_with("--") && argument.starts_with("-" + name)) return true;
    }
  }
  return false;
}

[[noreturn]] void refuse(const CLI::App& app, const std::string& path, const FileSetting& setting) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!setting.section.empty() && command->get_name() != setting.section) continue;
    for (const CLI::Option* option : standing_options(*command)) known.push_back(long_name(option));
  }
  const std::string near = text::nearest(setting.key, known);
  throw usage_error(
      fmt::format("{}:{}: unknown key '{}'{}: {}", path, setting.line, text::one_line(setting.key),
                  setting.section.empty() ? "" : fmt::format(" in [{}]", setting.section),
                  near.empty() ? "dts config lists those that there are" : fmt::format("did you mean {}?", near)));
}

// What of a file is for `command`. Every name is checked, whomever it is for.
std::vector<StandingSetting> from_file(const CLI::App& app, const CLI::App& command, const std::string& path,
                                       const std::string& home, const std::vector<std::string>& skipped) {
  std::vector<StandingSetting> general;
  std::vector<StandingSetting> own;  // of the command's table: stronger
  for (const FileSetting& setting : read_settings(path, skipped)) {
    const CLI::App* section = nullptr;
    bool known = false;
    for (const CLI::App* other : app.get_subcommands({})) {
      if (other->get_name() == setting.section) section = other;
      known = known || (setting.section.empty() && find_key(*other, setting.key) != nullptr);
    }
    if (!setting.section.empty()) {
      if (section == nullptr) {
        throw usage_error(fmt::format("{}:{}: [{}]: a table must be named after a command", path, setting.line,
                                      text::one_line(setting.section)));
      }
      if (setting.key.empty()) continue;
      known = find_key(*section, setting.key) != nullptr;
    }
    if (!known) refuse(app, path, setting);
    const CLI::Option* option = find_key(command, setting.key);
    if (option == nullptr) continue;
    StandingSetting out{"--" + long_name(option), setting.values, fmt::format("{}:{}", path, setting.line)};
    for (std::string& value : out.values) {
      if (value.starts_with("~/") && !home.empty()) value = home + value.substr(1);  // as a shell would have done
    }
    if (setting.is_list && setting.values.size() != 1 &&
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeLast) {
      throw usage_error(fmt::format("{}: {} takes one value, not a list", out.origin, setting.key));
    }
    if (section == &command) own.push_back(std::move(out));
    if (setting.section.empty() && for_all(command, option)) general.push_back(std::move(out));
  }
  general.insert(general.end(), own.begin(), own.end());
  return general;
}

// A value of an option that stands outside the table: --profile X, --config X. The last one; none: it is not there.
std::optional<std::string> value_of(const std::string& flag, const std::vector<std::string>& arguments) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with(flag + "=")) value = arguments[i].substr(flag.size() + 1);
    if (arguments[i] == flag && i + 1 < arguments.size()) value = arguments[i + 1];
  }
  return value;
}

// The later of two settings of one option, and of options that exclude each other, is the one that counts.
void add_stronger(std::vector<StandingSetting>& settings, const std::vector<StandingSetting>& stronger) {
  const auto names_model = [](const StandingSetting& setting) { return has(kNamesOfAModel, setting.flag.substr(2)); };
  const bool model = std::any_of(stronger.begin(), stronger.end(), names_model);
  std::erase_if(settings, [&](const StandingSetting& setting) {
    if (model && (names_model(setting) || setting.flag == "--hf-file")) return true;
    return std::any_of(stronger.begin(), stronger.end(),
                       [&](const StandingSetting& other) { return other.flag == setting.flag; });
  });
  settings.insert(settings.end(), stronger.begin(), stronger.end());
}

}  // namespace

std::vector<const CLI::Option*> standing_options(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || has(kOfOneCall, long_name(option))) continue;
    options.push_back(option);
  }
  return options;
}

std::string variable_of(const std::string& flag) {
  std::string name = "DTS_" + flag.substr(flag.find_first_not_of('-'));
  for (char& c : name) c = c == '-' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  return name;
}

StandingSources find_sources(std::vector<std::string>& arguments,
                             const std::function<const char*(const char*)>& environment) {
  StandingSources sources;
  sources.environment = environment;
  const auto get = [&](const char* name) {
    const char* value = environment(name);
    return std::string(value == nullptr ? "" : value);
  };
  // Before the command, where it is an option of all of them.
  if (!arguments.empty() && (arguments[0] == "--config" || arguments[0].starts_with("--config="))) {
    const bool apart = arguments[0] == "--config";
    if (apart && arguments.size() < 2) throw usage_error("--config needs a value");
    sources.file = apart ? arguments[1] : arguments[0].substr(std::string_view("--config=").size());
    sources.must_exist = true;
    arguments.erase(arguments.begin(), arguments.begin() + (apart ? 2 : 1));
    if (sources.file.empty()) throw usage_error("--config is '': it must be a file");
    return sources;
  }
  if (const std::string file = get("DTS_CONFIG"); !file.empty()) {
    sources.file = file;
    sources.must_exist = true;
    return sources;
  }
  std::string folder = get("XDG_CONFIG_HOME");
  if (folder.empty() && !get("HOME").empty()) folder = get("HOME") + "/.config";
  if (!folder.empty()) sources.file = folder + "/dts/config.toml";
  return sources;
}

const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return nullptr;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == arguments[0]) return command;
  }
  return nullptr;
}

std::vector<StandingSetting> standing_settings(const CLI::App& app, const CLI::App& command,
                                               const std::vector<std::string>& arguments,
                                               const StandingSources& sources) {
  std::vector<StandingSetting> settings;
  const char* folder = sources.environment("HOME");
  const std::string home = folder == nullptr ? "" : folder;
  std::error_code ignored;
  if (!sources.file.empty() && (sources.must_exist || std::filesystem::exists(sources.file, ignored))) {
    settings = from_file(app, command, sources.file, home, {});
  }
  std::vector<StandingSetting> variables;
  for (const CLI::Option* option : standing_options(command)) {
    if (!for_all(command, option)) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string variable = variable_of(name);
      const char* value = sources.environment(variable.c_str());
      if (value == nullptr || *value == '\0') continue;
      variables.push_back({"--" + long_name(option), {value}, variable});
      break;
    }
  }
  add_stronger(settings, variables);
  if (const auto profile = value_of("--profile", arguments); profile && command.get_option_no_throw("--profile")) {
    add_stronger(settings, from_file(app, command, *profile, home, {"profile"}));
  }
  // What is on the command line is said there; of what may be given several times it replaces all.
  std::vector<StandingSetting> given;
  for (const CLI::Option* option : standing_options(command)) {
    if (on_command_line(option, arguments)) given.push_back({"--" + long_name(option), {}, ""});
  }
  add_stronger(settings, given);
  std::erase_if(settings, [](const StandingSetting& setting) { return setting.origin.empty(); });
  return settings;
}

std::vector<std::string> with_settings(const std::vector<std::string>& arguments,
                                       const std::vector<StandingSetting>& settings) {
  std::vector<std::string> out(arguments.begin(), arguments.begin() + (arguments.empty() ? 0 : 1));
  for (const StandingSetting& setting : settings) {
    for (const std::string& value : setting.values) out.push_back(setting.flag + "=" + value);
  }
  if (!arguments.empty()) out.insert(out.end(), arguments.begin() + 1, arguments.end());
  return out;
}

std::string with_origin(const std::string& error, const std::vector<std::string>& arguments,
                        const std::vector<StandingSetting>& settings) {
  for (const StandingSetting& setting : settings) {
    const bool about = error.starts_with(setting.flag + " ") || error.starts_with(setting.flag + ":");
    const bool overruled = std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
      return argument == setting.flag || argument.starts_with(setting.flag + "=");
    });
    if (about && !overruled) return setting.origin + ": " + error;
  }
  return error;
}

}  // namespace dts::cli
