#include "text/glyphs.h"

namespace dts::text {
namespace {

constexpr Glyphs kUnicode = {"─", "│", "┬", "├", "└", "◇", "›", "○", "╢", "↓", "╌", "★", "█", "░", "·", "→", true};
constexpr Glyphs kAscii = {"-", "|", "+", "+", "`", "@", ">", ".", "]", "!", "~", "<<", "#", ".", "|", "->", false};

}  // namespace

const Glyphs& glyphs(bool unicode) { return unicode ? kUnicode : kAscii; }

}  // namespace dts::text
