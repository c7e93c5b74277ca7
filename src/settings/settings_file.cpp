#include "settings/settings_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "dts/error.h"
#include "io/whole_file.h"
#include "text/display.h"

namespace dts {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw usage_error(fmt::format("{}:{}: {}", path, line, what));
}

// A plain value as a command line would have it.
std::string text_of(const std::string& path, std::string_view key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* yes = node.as_boolean()) return yes->get() ? "true" : "false";
  fail(path, line_of(node),
       fmt::format("{} must be a text, a number, true or false, or a list of such", text::one_line(key)));
}

void read_table(const std::string& path, const std::string& section, const toml::table& table,
                std::vector<FileSetting>& out) {
  for (const auto& [key, node] : table) {
    if (node.is_table()) continue;
    FileSetting setting{section, std::string(key.str()), {}, false, line_of(node)};
    if (const auto* list = node.as_array()) {
      setting.is_list = true;
      for (const toml::node& item : *list) setting.values.push_back(text_of(path, key.str(), item));
    } else {
      setting.values.push_back(text_of(path, key.str(), node));
    }
    out.push_back(std::move(setting));
  }
}

}  // namespace

std::vector<FileSetting> read_settings(const std::string& path, const std::vector<std::string>& skipped) {
  const std::string text = read_whole_file(path, kLargestFile);
  toml::table file;
  try {
    file = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    fail(path, static_cast<int>(error.source().begin.line), text::one_line(error.description()));
  }
  std::vector<FileSetting> settings;
  read_table(path, "", file, settings);
  for (const auto& [name, node] : file) {
    const toml::table* table = node.as_table();
    const std::string section(name.str());
    if (table == nullptr || std::find(skipped.begin(), skipped.end(), section) != skipped.end()) continue;
    for (const auto& [key, value] : *table) {
      if (value.is_table()) {
        fail(path, line_of(value), fmt::format("[{}.{}]: a table must be named after a command", section, key.str()));
      }
    }
    // A table without a value in it still has a name to be checked.
    if (table->empty()) settings.push_back({section, "", {}, false, line_of(node)});
    read_table(path, section, *table, settings);
  }
  std::sort(settings.begin(), settings.end(),
            [](const FileSetting& a, const FileSetting& b) { return a.line < b.line; });
  return settings;
}

}  // namespace dts
