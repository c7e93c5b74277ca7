#include "cli/line_reader.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <iostream>

#include "cli/output.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

constexpr int kHistoryLines = 1000;

volatile std::sig_atomic_t g_line_interrupted = 0;
// Whoever waits for a key waits for the end of this pipe, too: a signal that comes just before, or to another thread,
// would not break the waiting off.
std::array<int, 2> g_wake = {-1, -1};

// Ctrl-C takes the line away while one is typed.
class LineInterrupt {
 public:
  LineInterrupt() {
    if (g_wake[0] < 0 && pipe2(g_wake.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
      throw Error("no more files can be opened, and a line needs two to be read");
    }
    std::array<char, 64> old;
    while (::read(g_wake[0], old.data(), old.size()) > 0) {
    }
    g_line_interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int) {
      const int saved = errno;
      g_line_interrupted = 1;
      [[maybe_unused]] const ssize_t written = write(g_wake[1], "", 1);  // a full pipe wakes as well
      errno = saved;
    };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_);
  }
  ~LineInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  LineInterrupt(const LineInterrupt&) = delete;
  LineInterrupt& operator=(const LineInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

class EditingReader final : public LineReader {
 public:
  explicit EditingReader(std::string file) : file_(std::move(file)) {
    // Which bytes are one character: what is typed is UTF-8, whatever a bare environment says.
    if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
    FILE* out = isatty(STDOUT_FILENO) == 1 ? stdout : stderr;
    line_ = el_init("dts", stdin, out, stderr);
    history_ = history_init();
    if (line_ == nullptr || history_ == nullptr)
      throw Error("the terminal cannot be edited on: TERM is not known here");
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    el_set(line_, EL_CLIENTDATA, this);
    el_set(line_, EL_PROMPT, &prompt_of);
    el_set(line_, EL_EDITOR, "emacs");
    el_set(line_, EL_HIST, history, history_);
    el_set(line_, EL_SIGNAL, 0);  // signals are ours, and so is the reading: libedit's own goes on after one
    el_set(line_, EL_GETCFN, &read_character);
    el_set(line_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(line_, nullptr);  // the user's ~/.editrc
  }
  ~EditingReader() override {
    history_end(history_);
    el_end(line_);
  }

  std::optional<std::string> read(const std::string& prompt) override {
    prompt_ = prompt;
    el_resize(line_);  // the window may be another size by now
    const LineInterrupt interrupt;
    // libedit shows the prompt first and then begins to edit: a Ctrl-D between the two would be lost.
    el_set(line_, EL_PREP_TERM, 1);
    int count = 0;
    const char* text = el_gets(line_, &count);
    if (g_line_interrupted != 0) {
      el_reset(line_);
      write_stderr("^C\n");
      return "";
    }
    if (text == nullptr || count <= 0) return std::nullopt;
    std::string line(text, static_cast<std::size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return line;
  }

  void remember(const std::string& line) override {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (file_.empty()) return;
    // Questions are nobody else's business. What cannot be kept is no reason to stop.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), ignored);
    const mode_t mask = umask(077);
    history(history_, &event, H_SAVE, file_.c_str());
    umask(mask);
  }

 private:
  static char* prompt_of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return static_cast<EditingReader*>(self)->prompt_.data();
  }

  // One character: 1; 0 at the end; -1 when it is broken off.
  static int read_character(EditLine*, wchar_t* character) {
    std::mbstate_t state{};
    for (;;) {
      std::array<pollfd, 2> waiting = {{{STDIN_FILENO, POLLIN, 0}, {g_wake[0], POLLIN, 0}}};
      if (poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) continue;
      if (g_line_interrupted != 0) return -1;
      char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return static_cast<int>(got);
      const std::size_t used = std::mbrtowc(character, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-2)) continue;  // its beginning
      if (used != static_cast<std::size_t>(-1)) return 1;
      state = {};  // no character: as if it had not been typed
    }
  }

  std::string file_;
  std::string prompt_;
  EditLine* line_ = nullptr;
  History* history_ = nullptr;
};

class PlainReader final : public LineReader {
 public:
  std::optional<std::string> read(const std::string&) override {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }
  void remember(const std::string&) override {}
};

}  // namespace

std::unique_ptr<LineReader> make_editing_reader(const std::string& history) {
  return std::make_unique<EditingReader>(history);
}

std::unique_ptr<LineReader> make_plain_reader() { return std::make_unique<PlainReader>(); }

}  // namespace dts::cli
