#include "eval/datasets/choices.h"

#include <numeric>
#include <utility>

#include "dts/rng.h"

namespace dts::eval {
namespace {

// FNV-1a: the same on every machine and in every version, unlike std::hash.
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

}  // namespace

std::vector<std::size_t> choice_order(std::uint64_t seed, std::string_view question_id, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const PathKey key = root_key(seed, stable_hash(question_id));
  for (std::size_t left = count; left > 1; --left) {
    const auto drawn = static_cast<std::size_t>(to_unit(draw_bits(key, left)) * static_cast<double>(left));
    std::swap(order[left - 1], order[drawn]);
  }
  return order;
}

std::vector<std::size_t> choice_order(std::uint64_t shuffle_seed, std::uint64_t seed, std::string_view question_id,
                                      std::size_t count) {
  return choice_order(root_key(shuffle_seed, seed), question_id, count);
}

}  // namespace dts::eval
