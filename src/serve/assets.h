// The page's files, inside the program.
#pragma once

#include <span>
#include <string_view>

namespace dts::serve {

struct Asset {
  std::string_view path;          // as in a URL, "/assets/index-3fd1a2b4.js"; the page itself is "/index.html"
  std::string_view content_type;  // with its charset where it is text
  std::string_view bytes;
  std::string_view etag;  // with its quotes; changes with the bytes
};

// All of them, in order of their paths; none when the program was built with DTS_PAGE=OFF. Those below /assets/ carry a
// digest of their content in their name: a client may keep them for ever.
std::span<const Asset> page_assets();

}  // namespace dts::serve
