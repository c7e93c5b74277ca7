#include "engine/llama/log.h"

#include <ggml-backend.h>
#include <ggml.h>
#include <llama.h>
#include <unistd.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <string_view>

namespace dts {
namespace {

constexpr std::size_t kKeptLines = 16;

struct ThreadLog {
  std::deque<std::string> errors;  // oldest first, at most kKeptLines
  bool continues_error = false;    // the last line was an error and may be continued
};

thread_local ThreadLog thread_log;

void on_log(ggml_log_level level, const char* text, void*) {
  ThreadLog& log = thread_log;
  if (level == GGML_LOG_LEVEL_CONT) {
    if (log.continues_error) log.errors.back() += text;
    return;
  }
  log.continues_error = level == GGML_LOG_LEVEL_ERROR;
  if (!log.continues_error) return;
  log.errors.emplace_back(text);
  if (log.errors.size() > kKeptLines) log.errors.pop_front();
}

// "llama_model_load: error loading model: missing tensor 'x'\n" -> "missing tensor 'x'"
std::string tidy(std::string_view line) {
  constexpr std::string_view kCause = "error loading model: ";
  if (const auto at = line.find(kCause); at != std::string_view::npos) line.remove_prefix(at + kCause.size());
  const auto colon = line.find(": ");
  const bool names_function =
      colon != std::string_view::npos && line.substr(0, colon).find(' ') == std::string_view::npos;
  if (names_function) line.remove_prefix(colon + 2);
  line = line.substr(0, line.find('\n'));
  return std::string(line);
}

}  // namespace

void initialise_llama() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(on_log, nullptr);
    llama_backend_init();
    // Backends that are separate libraries register only when asked to.
    if (ggml_backend_dev_count() == 0) ggml_backend_load_all();
  });
}

void exit_when_llama_aborts() {
  ggml_set_abort_callback([](const char* message) {
    const std::string line = "dts: llama.cpp gave up: " + std::string(message).substr(0, 1000) + "\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    _exit(1);
  });
}

void forget_llama_errors() {
  thread_log.errors.clear();
  thread_log.continues_error = false;
}

std::string last_llama_error() {
  // llama.cpp reports the cause first and then, on its way out, that it failed; "error loading model" names the cause.
  for (const std::string& line : thread_log.errors) {
    if (line.find("error loading model: ") != std::string::npos) return tidy(line);
  }
  return thread_log.errors.empty() ? std::string() : tidy(thread_log.errors.front());
}

}  // namespace dts
