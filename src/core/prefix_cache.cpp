#include "core/prefix_cache.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace dts {

PrefixCache::PrefixCache(int chunk, std::int64_t bytes)
    : chunk_(static_cast<std::size_t>(std::max(1, chunk))), most_bytes_(bytes) {}

PrefixCache::~PrefixCache() = default;

std::int64_t PrefixCache::Entry::bytes() const {
  return branch->bytes() + static_cast<std::int64_t>(tokens.capacity() * sizeof(Token));
}

std::size_t PrefixCache::shared(std::span<const Token> kept, std::span<const Token> wanted) const {
  const auto differ = std::mismatch(kept.begin(), kept.end(), wanted.begin(), wanted.end());
  const auto common = static_cast<std::size_t>(differ.first - kept.begin());
  if (common == kept.size() && common == wanted.size()) return common;
  return common / chunk_ * chunk_;
}

std::list<PrefixCache::Entry>::iterator PrefixCache::best(std::span<const Token> wanted, std::size_t& tokens) {
  auto found = entries_.end();
  tokens = 0;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const std::size_t shares = shared(entry->tokens, wanted);
    if (shares <= tokens) continue;
    tokens = shares;
    found = entry;
  }
  return found;
}

std::size_t PrefixCache::longest(std::span<const Token> wanted) const {
  std::size_t tokens = 0;
  for (const Entry& entry : entries_) tokens = std::max(tokens, shared(entry.tokens, wanted));
  return tokens;
}

std::optional<PrefixCache::Found> PrefixCache::find(std::span<const Token> wanted) {
  std::size_t tokens = 0;
  const auto entry = best(wanted, tokens);
  if (entry == entries_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, entry);
  return Found{entry->branch.get(), tokens};
}

void PrefixCache::keep(Engine& engine, BranchId branch, std::span<const Token> tokens) {
  if (tokens.empty() || longest(tokens) == tokens.size()) return;
  try {
    entries_.push_front({{tokens.begin(), tokens.end()}, engine.keep(branch)});
  } catch (const std::exception&) {
    return;
  }
  bytes_ += entries_.front().bytes();
  while (bytes_ > most_bytes_) forget_oldest();
}

bool PrefixCache::forget_oldest() {
  if (entries_.empty()) return false;
  bytes_ -= entries_.back().bytes();
  entries_.pop_back();
  return true;
}

void PrefixCache::clear() {
  entries_.clear();
  bytes_ = 0;
}

}  // namespace dts
