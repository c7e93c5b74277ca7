#include "engine/llama/token_trie.h"

#include <algorithm>

namespace dts {

TokenTrie::TokenTrie(std::span<const std::string> pieces) {
  begins_.push_back(0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].find('\0') == std::string::npos) bytes_ += pieces[i];
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    if (begins_[i + 1] > begins_[i]) tokens_.push_back(static_cast<Token>(i));
  }
  // As unsigned bytes, which is how string_view compares.
  std::stable_sort(tokens_.begin(), tokens_.end(), [this](Token a, Token b) { return piece(a) < piece(b); });
  std::vector<std::uint32_t> open;  // [depth] the nodes above
  std::string_view last;
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) nodes_[open.back()].next = static_cast<std::uint32_t>(nodes_.size());
  };
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view bytes = piece(tokens_[i]);
    const auto split = std::mismatch(last.begin(), last.end(), bytes.begin(), bytes.end());
    close_to(static_cast<std::size_t>(split.second - bytes.begin()));
    while (open.size() < bytes.size()) {
      const char byte = bytes[open.size()];
      open.push_back(static_cast<std::uint32_t>(nodes_.size()));
      // Tokens come in order: those before the one that has opened this node belong to nodes before it, and one that
      // ends further down is not its own.
      nodes_.push_back({.next = 0,
                        .first = static_cast<std::uint32_t>(i),
                        .depth = static_cast<std::uint32_t>(open.size()),
                        .byte = static_cast<unsigned char>(byte)});
    }
    deepest_ = std::max(deepest_, bytes.size());
    last = bytes;
  }
  close_to(0);
  const auto end = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.next = end, .first = static_cast<std::uint32_t>(tokens_.size()), .depth = 0, .byte = 0});
}

}  // namespace dts
