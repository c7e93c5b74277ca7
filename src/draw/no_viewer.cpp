// In place of the viewer, where the program is built without it.
#include "draw/viewer.h"

namespace dts::draw {

const ViewerPage* viewer_page() { return nullptr; }

}  // namespace dts::draw
