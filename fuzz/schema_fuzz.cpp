// libFuzzer: any bytes as a JSON schema are refused in one line, or become a grammar that our own matcher reads.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dts/error.h"
#include "engine/llama/grammar_rules.h"
#include "engine/llama/schema_grammar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string grammar;
  try {
    grammar = dts::schema_grammar(text);
  } catch (const dts::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    return 0;
  }
  try {
    (void)dts::read_grammar(grammar, "root");
  } catch (const dts::Error&) {
    // Too large for a grammar: the one thing that is only known once it is written.
  }
  return 0;
}
