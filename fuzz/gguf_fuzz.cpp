// libFuzzer: any bytes as a GGUF file end in facts that hang together, or an Error; and in weights for the native
// engine, or why there are none.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dts/error.h"
#include "engine/llama/gguf_file.h"
#include "engine/native/gguf_weights.h"
#include "engine/native/weight_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("fuzz.gguf", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const dts::GgufFacts facts = dts::read_gguf(path);
    for (const dts::LayerGeometry& layer : facts.layers) {
      if (layer.key_width < 0 || layer.value_width < 0) std::abort();
    }
    std::string why;
    if (dts::native::open_gguf_weights(path, why) == nullptr && why.empty()) std::abort();
  } catch (const dts::Error&) {
    // Malformed, and said so.
  }
  close(file);
  return 0;
}
