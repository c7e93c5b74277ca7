#include "serve/http/ids.h"

#include <random>

namespace dts::serve {

std::string new_id(std::string_view prefix) {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr int kLength = 24;
  std::random_device entropy;
  std::uniform_int_distribution<std::size_t> letter(0, kLetters.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < kLength; ++i) id += kLetters[letter(entropy)];
  return id;
}

}  // namespace dts::serve
