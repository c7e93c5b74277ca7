#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "dts/version.h"

namespace dts::cli {
namespace {

// Plain text for roff: nothing in it is a request, an escape or a hyphen that might be taken for another character.
std::string escaped(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string heading(const std::string& name, const std::string& description) {
  return fmt::format(".TH {} 1 \"\" \"dts {}\" \"dts\"\n.SH NAME\n{} \\- {}\n", upper(name), kVersion, escaped(name),
                     escaped(description));
}

std::string option_entry(const OptionFacts& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "\\fB" : "\\fR, \\fB") + escaped(name);
  head += option.names.empty() ? "" : "\\fR";
  if (!option.value.empty()) head += (head.empty() ? "\\fI" : " \\fI") + escaped(option.value) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, escaped(option.description));
}

// Text that is laid out by hand, as the help shows it.
std::string as_written(const std::string& text) { return ".PP\n.nf\n" + escaped(text) + "\n.fi\n"; }

}  // namespace

std::string command_page(const CommandFacts& command) {
  std::string out = heading("dts-" + command.name, command.description);
  out += fmt::format(".SH SYNOPSIS\n\\fBdts {}\\fR [\\fIoption\\fR...]", escaped(command.name));
  for (const OptionFacts& option : command.options) {
    if (option.names.empty()) out += fmt::format(" [\\fI{}\\fR]", escaped(option.value));
  }
  out += "\n";
  std::string group;
  for (const OptionFacts& option : command.options) {
    if (option.group.empty()) continue;  // not for people
    if (option.group != group) out += fmt::format(".SH {}\n", escaped(upper(option.group)));
    group = option.group;
    out += option_entry(option);
  }
  if (!command.footer.empty()) out += ".SH NOTES\n" + as_written(command.footer);
  return out + ".SH SEE ALSO\n\\fBdts\\fR(1)\n";
}

std::string program_page(std::span<const CommandFacts> commands, const std::string& description,
                         const std::string& footer) {
  std::string out = heading("dts", "Decoding Tree Sketching");
  out +=
      ".SH SYNOPSIS\n\\fBdts\\fR \\fIcommand\\fR [\\fIoption\\fR...]\n.SH DESCRIPTION\n" + escaped(description) + "\n";
  out += ".SH COMMANDS\n";
  std::string pages;
  for (const CommandFacts& command : commands) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(command.name), escaped(command.description));
    pages += fmt::format("{}\\fBdts\\-{}\\fR(1)", pages.empty() ? "" : ",\n", escaped(command.name));
  }
  out += ".SH NOTES\n" + as_written(footer);
  return out + ".SH SEE ALSO\n" + pages + "\n";
}

}  // namespace dts::cli
