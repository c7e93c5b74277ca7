#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "dts/error.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr int kHelpWidth = 100;

const CLI::App& chosen(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

std::string explain_extras(const CLI::App& app) {
  const CLI::App& command = chosen(app);
  const std::vector<std::string> extras = command.remaining();
  const bool top = &command == &app;
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-') || extra == "-") continue;
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
    }
    const std::string suggestion = name.starts_with("--") ? nearest(name, known) : "";
    return fmt::format("unknown option '{}': {}see dts {}--help", name,
                       suggestion.empty() ? "" : fmt::format("did you mean {}? ", suggestion),
                       top ? "" : command.get_name() + " ");
  }
  const std::string extra = extras.empty() ? "" : extras.front();
  if (!top) return fmt::format("unexpected argument '{}': text of several words must be in quotes", extra);
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  const std::string suggestion = nearest(extra, known);
  return fmt::format("unknown command '{}': {}", extra,
                     suggestion.empty() ? "see dts --help" : fmt::format("did you mean {}?", suggestion));
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(32);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + (is_positional ? "" : make_option_opts(option)),
                 option->get_description());
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    return entry(sub->get_name(), sentence(sub->get_description()));
  }

  std::string make_description(const CLI::App* app) const override { return sentence(app->get_description()) + "\n"; }

  // One short and one long name: older spellings are understood, not advertised.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_type_name() + (option->get_items_expected_max() > 1 ? "..." : "");
    std::string name = option->get_snames().empty() ? "" : "-" + option->get_snames().front();
    if (option->check_lname("gpu-layers")) name = "-ngl";
    if (option->check_lname("parallel")) name = "-np";
    if (option->check_lname("hf-repo")) name = "-hf";
    if (option->check_lname("hf-file")) name = "-hff";
    if (option->get_lnames().empty()) return name;
    return (name.empty() ? "    " : name + ", ") + "--" + option->get_lnames().front();
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true);
    return option->get_required() ? name : "[" + name + "]";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() || option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }

 private:
  static std::string sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
  }

  std::string entry(const std::string& left, const std::string& description) const {
    const int column = static_cast<int>(get_column_width());
    const std::string next_line = "\n" + std::string(get_column_width(), ' ');
    std::string out = "  " + left;
    bool first = true;
    for (const std::string& line : wrap(description, kHelpWidth - column)) {
      if (first && display_width(out) + 2 <= column) {
        out = pad(out, column);
      } else {
        out += next_line;
      }
      out += line;
      first = false;
    }
    return out + "\n";
  }
};

}  // namespace

double parse_number(std::string_view flag, const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || value.find_first_of(" \t\n") != std::string::npos) {
    throw usage_error(fmt::format("{} is '{}': it must be a number", flag, value));
  }
  return number;
}

std::int64_t parse_integer(std::string_view flag, const std::string& value, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, status] = std::from_chars(value.data(), end, number);
  if (stop != end || status == std::errc::invalid_argument) {
    throw usage_error(fmt::format("{} is '{}': it must be a whole number", flag, value));
  }
  if (status == std::errc::result_out_of_range || number < least || number > most) {
    const std::string range = most >= std::numeric_limits<int>::max() && number < least
                                  ? fmt::format("at least {}", least)
                                  : fmt::format("between {} and {}", least, most);
    throw usage_error(fmt::format("{} is {}: it must be {}", flag, value, range));
  }
  return number;
}

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& value_name,
                       const std::string& description, const std::function<void(const std::string&)>& set) {
  return app.add_option_function<std::string>(names, set, description)->type_name(value_name)->take_last();
}

std::vector<std::string> rewrite_arguments(int argc, const char* const* argv) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLong = {
      {{"-ngl", "--gpu-layers"}, {"-np", "--parallel"}, {"-hf", "--hf-repo"}, {"-hff", "--hf-file"}}};
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::size_t end = std::min(argument.find('='), argument.size());
    for (const auto& [name, long_name] : kLong) {
      if (std::string_view(argument).substr(0, end) != name) continue;
      argument = std::string(long_name) + argument.substr(end);
      break;
    }
  }
  return arguments;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument == "-h" || argument == "--help"; });
}

std::string mistaken_for_help(const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return "";
  std::string mistaken;
  for (const std::string& argument : arguments) {
    const bool cluster = argument.starts_with('-') && !argument.starts_with("--");
    const bool like_help = argument.starts_with("--help=") || (cluster && argument.find('h') != std::string::npos);
    if (mistaken.empty() && like_help) mistaken = argument;
  }
  return mistaken;
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return explain_extras(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &chosen(app) == &app) {
    if (!app.remaining().empty()) return explain_extras(app);
    return "no command: see dts --help";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string text = error.what();
    return text.substr(0, text.find(':')) + " needs a value";
  }
  return error.what();
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace dts::cli
