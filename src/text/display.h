// The room that text takes on a screen, and text made fit to be shown there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::text {

// What may be shown anywhere, as lines of plain text: control characters become their pictures (ESC is U+241B); invalid
// bytes, C1 controls, noncharacters and the characters that reorder text become U+FFFD. Newlines and tabs stay.
std::string printable(std::string_view text);

// As printable(), on one line: each run of white space is one space, none at the ends.
std::string one_line(std::string_view text);

// Cells of a terminal, or of a monospaced font, that printable text takes.
int display_width(std::string_view text);
// The longest start of `text` that takes at most `width` cells.
std::string_view fit(std::string_view text, int width);
// The longest end of it.
std::string_view fit_end(std::string_view text, int width);
// As fit(), with an ellipsis in the last cell when something was cut.
std::string shorten(std::string_view text, int width);
// As shorten(), keeping the end.
std::string shorten_left(std::string_view text, int width);

// Padded with spaces on the right up to `width` cells.
std::string pad(std::string_view text, int width);

// Breaks printable text into lines of at most `width` cells, at spaces where there are some.
std::vector<std::string> wrap(std::string_view text, int width);

}  // namespace dts::text
