// The page's files, inside the program.
#pragma once

#include <span>
#include <string_view>

namespace dts::serve {

struct Asset {
  std::string_view path;          // as a browser asks for it: "/index.html" is also served at "/"
  std::string_view content_type;  // with its charset
  std::string_view bytes;
  std::string_view etag;  // in its quotes
};

// Empty when the program was built without the page.
std::span<const Asset> page_assets();

}  // namespace dts::serve
