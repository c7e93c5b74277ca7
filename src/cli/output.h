// Standard output and error, with the failures of a full disk and of a reader that has gone.
#pragma once

#include <string_view>

namespace dts::cli {

// A reader that goes away (`dts ... | head`), or a limit on the size of files, becomes a failing write instead of a
// signal.
void ignore_broken_pipes();

// Writes all of `text` to standard output. False when nobody reads it any more, which is no error of ours; throws
// dts::Error when it cannot be written, for example to a full disk.
bool write_stdout(std::string_view text);

// For progress and errors: what cannot be written is lost.
void write_stderr(std::string_view text);

// "dts: <message>", on one line whatever the message holds.
void print_error(std::string_view message);
void print_note(std::string_view message);

}  // namespace dts::cli
