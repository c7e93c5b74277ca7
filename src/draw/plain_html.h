// A tree as a document: all that the viewer shows, for where no script runs, and for paper.
#pragma once

#include <string>

#include "dts/tree_file.h"

namespace dts::draw {

// One <main class="plain"> element; kPlainStyle and kSvgStyle (styles.h) are its looks. Its element of class "about"
// has the prompt, the settings and the account, which the viewer takes from here.
std::string plain_html(const TreeDocument& document);

}  // namespace dts::draw
