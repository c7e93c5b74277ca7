// What there is in place of the page in a program built with DTS_PAGE=OFF.
#include "serve/assets.h"

namespace dts::serve {

std::span<const Asset> page_assets() { return {}; }

}  // namespace dts::serve
