// `dts config`: what is in effect for a command, and where each value comes from.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/standing_settings.h"
#include "dts/error.h"
#include "text/display.h"

namespace dts::cli {
namespace {

// "the nucleus (default 0.95)" -> "0.95"; empty: the description names none.
std::string default_of(const CLI::Option& option) {
  const std::string& text = option.get_description();
  const std::size_t at = text.rfind("(default");
  if (at == std::string::npos) return "";
  const std::size_t begin = text.find_first_not_of(": ", at + std::string_view("(default").size());
  const std::size_t end = text.find_first_of(");", at);
  return begin == std::string::npos || end == std::string::npos || begin > end ? "" : text.substr(begin, end - begin);
}

struct ConfigLine {
  std::string name;
  std::string value;
  std::string origin;
};

std::vector<ConfigLine> lines_of(const CLI::App& command, const std::vector<StandingSetting>& settings) {
  std::vector<ConfigLine> lines;
  for (const CLI::Option* option : standing_options(command)) {
    ConfigLine line{option->get_lnames().front(), default_of(*option), "default"};
    for (const StandingSetting& setting : settings) {
      if (setting.flag != "--" + line.name) continue;
      line.value = fmt::format("{}", fmt::join(setting.values, ", "));
      line.origin = setting.origin;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

int show_config(const CLI::App& app, const std::string& name, const std::string& file, bool json) {
  const CLI::App* command = command_of(app, {name});
  if (command == nullptr) throw usage_error(fmt::format("there is no command '{}': see dts --help", name));
  std::vector<std::string> arguments;
  StandingSources sources = find_sources(arguments, [](const char* variable) { return getenv(variable); });
  if (!file.empty()) {
    sources.file = file;
    sources.must_exist = true;
  }
  const std::vector<ConfigLine> lines = lines_of(*command, standing_settings(app, *command, {name}, sources));
  if (json) {
    nlohmann::json out = {{"command", name}, {"file", sources.file}, {"settings", nlohmann::json::array()}};
    for (const ConfigLine& line : lines) {
      out["settings"].push_back({{"name", line.name}, {"value", line.value}, {"from", line.origin}});
    }
    write_stdout(out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return kExitAnswered;
  }
  std::error_code ignored;
  std::string text =
      fmt::format("# dts {}: what is in effect, unless the command line says otherwise\n# file: {}{}\n", name,
                  sources.file, std::filesystem::exists(sources.file, ignored) ? "" : " (not there)");
  constexpr int kNameWidth = 22;
  constexpr int kValueWidth = 34;
  for (const ConfigLine& line : lines) {
    text += text::pad(line.name, kNameWidth) + " " +
            text::pad(text::shorten(text::one_line(line.value.empty() ? "-" : line.value), kValueWidth), kValueWidth) +
            " " + line.origin + "\n";
  }
  write_stdout(text);
  return kExitAnswered;
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("config", "show what is in effect for a command, and where it comes from");
  command->footer(
      "The command line counts before a profile (--profile), that before the environment (DTS_MODEL, DTS_METHOD: DTS_\n"
      "and an option's name), that before the file: $DTS_CONFIG, or ~/.config/dts/config.toml. In the file, names are\n"
      "the options'; a table, as [serve], is for that command alone.\n\n"
      "  model = \"~/models/r1-1.5b.gguf\"\n  method = \"dts-greedy\"\n  [serve]\n  port = 8081");
  auto name = std::make_shared<std::string>("run");
  auto file = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_value(*command, "command", "COMMAND", "which command (default run)",
            [name](const std::string& text) { *name = text; });
  add_value(*command, "--config", "FILE", "this file instead", [file](const std::string& text) { *file = text; });
  command->add_flag("--json", *json, "as JSON");
  command->callback([&app, name, file, json, &exit_code] { exit_code = show_config(app, *name, *file, *json); });
}

}  // namespace dts::cli
