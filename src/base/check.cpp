#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dts {

void broken_invariant(const char* what, const char* file, int line) noexcept {
  const std::size_t slash = std::string_view(file).rfind('/');
  const char* name = file + (slash == std::string_view::npos ? 0 : slash + 1);
  std::fprintf(stderr, "dts: broken invariant (%s:%d): %s\n", name, line, what);
  std::abort();
}

}  // namespace dts
