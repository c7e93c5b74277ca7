// A picture as PDF, for print.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// The fonts of its texts are embedded. Of style rules, those for screens that prefer dark are not used. Throws
// dts::Error where librsvg, which draws it, is not installed, and when the picture cannot be drawn.
//
// librsvg is opened when it is first needed: linked, it would cost every start of the program.
std::string svg_to_pdf(std::string_view svg);

}  // namespace dts
