// Rewrites the LaTeX that models write in answers as plain text.
#pragma once

#include <string>
#include <string_view>

namespace dts {

struct PlainAnswer {
  std::string text;
  std::string unit;  // what was dropped as one; empty: nothing was
};

// \frac{a}{b} -> a/b, \sqrt{a} -> sqrt(a), x^{2} -> x^2, \text{a} -> a, matrices as lists of rows, symbols by name,
// delimiters and spacing dropped, a \text{unit} after a number dropped; so are signs of degrees, unless a sine or the
// like is there, and of currency. Commands it does not know stay as they are. Any
// bytes are accepted. Linear time: nesting beyond a fixed depth is passed through.
PlainAnswer latex_to_plain(std::string_view latex);

}  // namespace dts
