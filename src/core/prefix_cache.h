// Prompts that were prefilled, kept for those that begin with the same tokens: the choices of one request, the turns of
// a conversation, the seeds of one question.
//
// A prompt is prefilled in chunks, and where it is cut decides how its KV is rounded. So what is shared is what was cut
// at the same places: whole chunks, or all of a prompt that is the same. A tree is then, to the last bit, what it would
// have been without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dts/engine.h"

namespace dts {

class PrefixCache {
 public:
  // `chunk`: tokens of one prefill, or as many as can be taken over by themselves. Keeps at most `bytes`; what was used
  // longest ago goes first.
  PrefixCache(int chunk, std::int64_t bytes);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  struct Found {
    KeptBranch* branch = nullptr;  // until the next call of keep(), clear() or forget_oldest()
    std::size_t tokens = 0;        // of it that are shared; at least 1
  };

  // Tokens that `wanted` can take over from `kept`, both as they are prefilled: without a prompt's last token.
  std::size_t shared(std::span<const Token> kept, std::span<const Token> wanted) const;
  // The most there is of `wanted`. find() counts as a use.
  std::size_t longest(std::span<const Token> wanted) const;
  std::optional<Found> find(std::span<const Token> wanted);

  // Keeps what `branch` holds, which is `tokens`. Where memory does not suffice, nothing.
  void keep(Engine& engine, BranchId branch, std::span<const Token> tokens);
  void clear();
  // Lets go of what was used longest ago. False: nothing is kept.
  bool forget_oldest();

  std::int64_t bytes() const { return bytes_; }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::vector<Token> tokens;
    std::unique_ptr<KeptBranch> branch;
    std::int64_t bytes() const;
  };

  std::list<Entry>::iterator best(std::span<const Token> wanted, std::size_t& tokens);

  const std::size_t chunk_;
  const std::int64_t most_bytes_;
  std::int64_t bytes_ = 0;
  std::list<Entry> entries_;  // last used first
};

}  // namespace dts
