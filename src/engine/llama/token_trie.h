// A vocabulary as a tree of bytes: what tokens begin with alike is looked at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/prediction.h"

namespace dts {

class TokenTrie {
 public:
  struct Node {
    std::uint32_t next;   // the node after this one and all below it
    std::uint32_t first;  // of its tokens; they end where those of the node behind it begin
    std::uint32_t depth;  // bytes that it stands for
    unsigned char byte;   // the last of them
  };

  // `pieces` [n_vocab]: a token's bytes. One that has none, or a zero byte, is in no node.
  explicit TokenTrie(std::span<const std::string> pieces);

  std::size_t size() const { return nodes_.size() - 1; }       // nodes
  const Node& node(std::size_t i) const { return nodes_[i]; }  // in the order of a walk that goes down first
  std::span<const Token> tokens(std::size_t i) const {
    return std::span(tokens_).subspan(nodes_[i].first, nodes_[i + 1].first - nodes_[i].first);
  }
  std::size_t deepest() const { return deepest_; }
  std::size_t vocabulary_size() const { return begins_.size() - 1; }
  std::string_view piece(Token token) const {  // empty for a token that is in no node
    const auto i = static_cast<std::size_t>(token);
    return std::string_view(bytes_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::vector<Node> nodes_;    // [size() + 1] the last one is behind all
  std::vector<Token> tokens_;  // by node
  std::string bytes_;          // of all pieces, by token
  std::vector<std::uint32_t> begins_;
  std::size_t deepest_ = 0;
};

}  // namespace dts
