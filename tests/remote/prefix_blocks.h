// What a server's prefix cache holds: whole blocks of tokens, each known by all that comes before it; the ones that
// were not used for longest give way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

#include "dts/prediction.h"

namespace dts {

class PrefixBlocks {
 public:
  static constexpr std::size_t kBlock = 16;  // tokens

  explicit PrefixBlocks(std::size_t most_blocks) : most_(most_blocks) {}

  // How many of the first tokens are there. At least one is always computed.
  std::size_t find(std::span<const Token> tokens) const {
    std::size_t found = 0;
    std::uint64_t key = 0;
    while (found + kBlock < tokens.size()) {
      key = key_of(key, tokens.subspan(found, kBlock));
      if (!blocks_.contains(key)) break;
      found += kBlock;
    }
    return found;
  }

  void keep(std::span<const Token> tokens) {
    std::uint64_t key = 0;
    for (std::size_t at = 0; at + kBlock <= tokens.size(); at += kBlock) {
      key = key_of(key, tokens.subspan(at, kBlock));
      if (const auto known = blocks_.find(key); known != blocks_.end()) used_.erase(known->second);
      used_.push_front(key);
      blocks_[key] = used_.begin();
    }
    while (blocks_.size() > most_) {
      blocks_.erase(used_.back());
      used_.pop_back();
    }
  }

 private:
  static std::uint64_t key_of(std::uint64_t before, std::span<const Token> block) {
    for (const Token token : block) {
      before = (before ^ static_cast<std::uint64_t>(token + 1)) * 0x9E3779B97F4A7C15ULL;
      before ^= before >> 29U;
    }
    return before;
  }

  std::size_t most_;
  std::list<std::uint64_t> used_;  // the last used first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> blocks_;
};

}  // namespace dts
