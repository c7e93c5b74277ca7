// In place of the page, where the program is built without it.
#include "serve/page/assets.h"

namespace dts::serve {

std::span<const Asset> page_assets() { return {}; }

}  // namespace dts::serve
