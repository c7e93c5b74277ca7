#include "cli/prompt_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>

#include "cli/arguments.h"
#include "dts/error.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace dts::cli {
namespace {

using namespace text;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string read_all(int fd, const std::string& name) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(fmt::format("{}: cannot read the prompt: {}", name, strerror(errno)));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxPromptBytes) {
      throw usage_error(fmt::format("{}: more than {} bytes: no model's context is that long, a prompt must be shorter",
                                    name, grouped(static_cast<std::int64_t>(kMaxPromptBytes))));
    }
  }
}

std::string read_file(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input");
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = fmt::format("--file '{}'", path);
  if (fd.get() < 0) throw Error(fmt::format("{}: cannot read the prompt: {}", name, strerror(errno)));
  return read_all(fd.get(), name);
}

}  // namespace

void add_prompt_options(CLI::App& app, PromptSource& source, const std::string& about_example) {
  // Not named "prompt": later versions of CLI11 take that and --prompt for the same name.
  add_value(app, "question", "PROMPT", "the question, in quotes",
            [&source](const std::string& text) { source.argument = text; });
  add_value(app, "-p,--prompt", "TEXT", "the question", [&source](const std::string& text) { source.text = text; });
  add_value(app, "-f,--file", "FILE", "file with the question; - is standard input",
            [&source](const std::string& text) { source.file = text; });
  add_value(
      app, "--example", "[N]", about_example,
      [&source](const std::string& text) { source.example = static_cast<int>(parse_integer("--example", text, 1)); })
      ->expected(0, 1)
      ->default_str("1");
}

std::optional<Example> choose_example(const PromptSource& source) {
  if (!source.example) return std::nullopt;
  if (source.argument || source.text || source.file) {
    throw usage_error(
        fmt::format("--example is {}, and there is a prompt beside it: one of them must go", *source.example));
  }
  return read_example(*source.example);
}

std::string read_prompt(const PromptSource& source) {
  const int given = (source.argument ? 1 : 0) + (source.text ? 1 : 0) + (source.file ? 1 : 0);
  if (given > 1) {
    throw usage_error(fmt::format("the prompt is given more than once ({}{}{}): one of them must go",
                                  source.argument ? "as an argument" : "with --prompt",
                                  source.argument && source.text ? " and with --prompt" : "",
                                  source.file ? " and with --file" : ""));
  }
  std::string prompt;
  std::string where = "the prompt";
  if (source.argument) {
    prompt = *source.argument;
  } else if (source.text) {
    prompt = *source.text;
    where = "--prompt";
  } else if (source.file) {
    prompt = read_file(*source.file);
    where = *source.file == "-" ? "standard input" : fmt::format("--file '{}'", *source.file);
  } else if (isatty(STDIN_FILENO) == 0) {
    prompt = read_all(STDIN_FILENO, "standard input");
    where = "standard input";
  } else {
    throw usage_error("no prompt: give a question as an argument, with -p, with -f FILE or on standard input");
  }
  if (const auto invalid = find_invalid_utf8(prompt)) {
    throw usage_error(fmt::format("{} is not UTF-8: byte {} is 0x{:02X}; it must be converted first", where, *invalid,
                                  static_cast<unsigned char>(prompt[*invalid])));
  }
  if (given == 0 || source.file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (prompt.starts_with(kByteOrderMark)) prompt.erase(0, kByteOrderMark.size());
    if (prompt.ends_with('\n')) prompt.pop_back();
    if (prompt.ends_with('\r')) prompt.pop_back();
  }
  if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw usage_error(fmt::format("{} is empty: a question is needed", where));
  }
  return prompt;
}

}  // namespace dts::cli
