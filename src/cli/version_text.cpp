#include "cli/version_text.h"

#include <fmt/format.h>
#include <llama.h>

#include <sstream>
#include <string_view>

#include "dts/build_facts.h"
#include "dts/version.h"
#include "engine/llama/log.h"

namespace dts::cli {
namespace {

// llama.cpp's "CPU : SSE3 = 1 | AVX2 = 1 | LLAMAFILE = 1 | ..." as "SSE3 AVX2 LLAMAFILE".
std::string features_in_use() {
  initialise_llama();
  std::istringstream words(llama_print_system_info());
  std::string features;
  std::string word;
  std::string last;
  while (words >> word) {
    if (word == "1" && !last.empty()) features += (features.empty() ? "" : " ") + last;
    if (word != "=") last = word;
  }
  return features.empty() ? "none that llama.cpp names" : features;
}

}  // namespace

std::string version_text() {
  std::string text = fmt::format("dts {}\n", kVersion);
  text += fmt::format("built with  {}, {}\n", kCompiler, kBuildType);
  if (!kSanitizers.empty()) text += fmt::format("sanitizers  {}\n", kSanitizers);
  text += fmt::format("engine      {}\n", kLlamaVersion);
  text += fmt::format("for         {}\n", kCpuChoice);
  text += fmt::format("in use      {}\n", features_in_use());
  text += fmt::format("CUDA        {}", kCudaFacts);
  return text;
}

}  // namespace dts::cli
