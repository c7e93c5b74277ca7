// Lines that a person types, with editing and a history (libedit), or lines of a file or a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace dts::cli {

class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  virtual ~LineReader() = default;

  // Without its line end. None at the end of the input (Ctrl-D). Empty, too, for a line that Ctrl-C took away.
  virtual std::optional<std::string> read(const std::string& prompt) = 0;
  // For the history; nothing where there is none.
  virtual void remember(const std::string& line) = 0;
};

// `history`: a file that keeps it from one session to the next; empty: none.
std::unique_ptr<LineReader> make_editing_reader(const std::string& history);
std::unique_ptr<LineReader> make_plain_reader();  // standard input

}  // namespace dts::cli
