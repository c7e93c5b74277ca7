// libFuzzer: any bytes as a tree file end in a tree or an Error; and a tree that was read, written again, is read the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dts/error.h"
#include "dts/tree_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string written;
  try {
    written = dts::to_json_text(dts::tree_from_json_text(text, "fuzz"));
  } catch (const dts::Error&) {
    return 0;  // malformed, and said so
  }
  // What we wrote ourselves is never malformed: an Error here ends the program.
  if (dts::to_json_text(dts::tree_from_json_text(written, "again")) != written) std::abort();
  return 0;
}
