#include "text/glyphs.h"

namespace dts::text {
namespace {

constexpr Glyphs kUnicode = {"─", "│", "┬", "├", "└", "◆", "●", "✔", "✘", "╌", "★", "█", "░", "·", "→"};
constexpr Glyphs kAscii = {"-", "|", "+", "+", "`", "*", "o", "=", "x", "~", "<<", "#", ".", "|", "->"};

}  // namespace

const Glyphs& glyphs(bool unicode) { return unicode ? kUnicode : kAscii; }

}  // namespace dts::text
