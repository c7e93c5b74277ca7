// Lines of styled text, independent of whether the terminal has colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts::text {

enum class Style : std::uint16_t { kPlain, kBold, kDim, kGreen, kBoldGreen, kCyan, kYellow, kRed, kMagenta };

// One of the 256 colours of a terminal, bold.
constexpr Style palette_style(int colour) { return static_cast<Style>(256 + colour); }

// One line in pieces of one style each. Text is printable (display.h) and holds no newline.
class StyledLine {
 public:
  StyledLine& add(std::string_view text, Style style = Style::kPlain);
  StyledLine& append(const StyledLine& other);
  StyledLine& prefix(std::string_view text);  // plain text before everything else
  // Fills with spaces up to column `width`; does nothing when the line is already as long.
  StyledLine& fill_to(int width);

  int width() const { return width_; }  // cells
  // With `colour`, SGR sequences around the pieces; cut at `max_width` cells.
  std::string render(bool colour, int max_width) const;

 private:
  struct Piece {
    std::string text;
    Style style;
  };
  std::vector<Piece> pieces_;
  int width_ = 0;
};

// `text` between the sequences that switch `style` on and off; `text` alone without `colour`.
std::string styled(std::string_view text, Style style, bool colour);

}  // namespace dts::text
