#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dts {

void broken_invariant(const char* what, const std::source_location& where) noexcept {
  const std::string_view path = where.file_name();
  const std::size_t slash = path.rfind('/');
  const char* file = where.file_name() + (slash == std::string_view::npos ? 0 : slash + 1);
  std::fprintf(stderr, "dts: broken invariant (%s:%u): %s\n", file, static_cast<unsigned>(where.line()), what);
  std::abort();
}

}  // namespace dts
