#include "text/style.h"

#include <string>

#include "text/display.h"

namespace dts::text {
namespace {

std::string sgr(Style style) {
  if (const int number = static_cast<int>(style); number >= 256) {
    return "\x1b[1;38;5;" + std::to_string(number - 256) + "m";
  }
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGreen:
      return "\x1b[32m";
    case Style::kBoldGreen:
      return "\x1b[1;32m";
    case Style::kCyan:
      return "\x1b[1;36m";
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kRed:
      return "\x1b[31m";
    case Style::kMagenta:
      return "\x1b[35m";
  }
  return "";
}

}  // namespace

StyledLine& StyledLine::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  width_ += display_width(text);
  if (!pieces_.empty() && pieces_.back().style == style) {
    pieces_.back().text.append(text);
  } else {
    pieces_.push_back({std::string(text), style});
  }
  return *this;
}

StyledLine& StyledLine::append(const StyledLine& other) {
  for (const Piece& piece : other.pieces_) add(piece.text, piece.style);
  return *this;
}

StyledLine& StyledLine::prefix(std::string_view text) {
  width_ += display_width(text);
  pieces_.insert(pieces_.begin(), {std::string(text), Style::kPlain});
  return *this;
}

StyledLine& StyledLine::fill_to(int width) {
  if (width > width_) add(std::string(static_cast<std::size_t>(width - width_), ' '));
  return *this;
}

std::string StyledLine::render(bool colour, int max_width) const {
  std::string out;
  int room = max_width;
  for (const Piece& piece : pieces_) {
    const std::string_view part = fit(piece.text, room);
    out += styled(part, piece.style, colour);
    if (part.size() < piece.text.size()) break;
    room -= display_width(part);
  }
  return out;
}

std::string styled(std::string_view text, Style style, bool colour) {
  const std::string on = colour ? sgr(style) : "";
  if (text.empty() || on.empty()) return std::string(text);
  return (on + std::string(text)).append("\x1b[0m");
}

}  // namespace dts::text
