#include "eval/datasets/parquet/levels.h"

#include <algorithm>
#include <bit>

namespace dts::eval::parquet {
namespace {

// The `width` <= 64 bits from bit `at` on, the lowest bit of the lowest byte first. The caller has checked the bounds.
std::uint64_t bits_at(Bytes bytes, std::size_t at, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned have = 0; have < width;) {
    const std::size_t bit = at + have;
    const auto offset = static_cast<unsigned>(bit % 8);
    const unsigned taken = std::min(8 - offset, width - have);
    const auto part = static_cast<std::uint64_t>((bytes[bit / 8] >> offset) & ((1U << taken) - 1U));
    value |= part << have;
    have += taken;
  }
  return value;
}

}  // namespace

unsigned bit_width_of(std::uint32_t max) { return static_cast<unsigned>(std::bit_width(max)); }

std::vector<std::uint32_t> read_rle(ByteReader& bytes, unsigned bit_width, std::size_t count, Budget& budget) {
  if (bit_width > 32) throw FormatError("numbers of " + std::to_string(bit_width) + " bits are too wide");
  budget.charge(count, sizeof(std::uint32_t));
  std::vector<std::uint32_t> out;
  out.reserve(count);
  while (out.size() < count) {
    const std::uint64_t head = bytes.varint();
    const std::size_t left = count - out.size();
    if ((head & 1U) == 0) {
      const Bytes repeated = bytes.take((bit_width + 7) / 8);
      const auto value = static_cast<std::uint32_t>(bits_at(repeated, 0, static_cast<unsigned>(repeated.size()) * 8));
      if (head == 0) throw FormatError("a run has no values");
      out.insert(out.end(), std::min<std::uint64_t>(head >> 1U, left), value);
    } else {
      const std::uint64_t groups = head >> 1U;  // of eight values, `bit_width` bytes
      if (groups == 0 || (bit_width > 0 && groups > bytes.remaining() / bit_width + 1)) {
        throw FormatError("a bit-packed run is empty or longer than its page");
      }
      // Some writers leave out the padding of the last group.
      const Bytes packed = bytes.take(std::min<std::size_t>(groups * bit_width, bytes.remaining()));
      const std::size_t run = std::min<std::uint64_t>(std::min<std::uint64_t>(groups, count) * 8, left);
      if (packed.size() * 8 < run * bit_width) throw FormatError("a bit-packed run ends too soon");
      for (std::size_t i = 0; i < run; ++i) {
        out.push_back(static_cast<std::uint32_t>(bits_at(packed, i * bit_width, bit_width)));
      }
    }
  }
  return out;
}

std::vector<std::int64_t> read_deltas(ByteReader& bytes, std::size_t max_count, Budget& budget) {
  const std::uint64_t block_size = bytes.varint();
  const std::uint64_t miniblocks = bytes.varint();
  const std::uint64_t count = bytes.varint();
  auto value = static_cast<std::uint64_t>(bytes.zigzag());
  constexpr std::uint64_t kMaxBlock = 1U << 20U;
  if (block_size == 0 || block_size > kMaxBlock || miniblocks == 0 || miniblocks > block_size ||
      block_size % miniblocks != 0 || (block_size / miniblocks) % 8 != 0) {
    throw FormatError("a delta-encoded page has blocks of impossible size");
  }
  if (count > max_count) throw FormatError("a delta-encoded page has more values than its header says");

  budget.charge(count, sizeof(std::int64_t));
  std::vector<std::int64_t> out;
  out.reserve(count);
  if (count > 0) out.push_back(static_cast<std::int64_t>(value));
  const std::size_t miniblock_size = block_size / miniblocks;
  while (out.size() < count) {
    const auto min_delta = static_cast<std::uint64_t>(bytes.zigzag());
    const Bytes widths = bytes.take(miniblocks);
    for (std::size_t m = 0; m < miniblocks && out.size() < count; ++m) {
      const unsigned width = widths[m];
      if (width > 64) throw FormatError("a delta-encoded page has numbers of " + std::to_string(width) + " bits");
      const Bytes packed = bytes.take(miniblock_size / 8 * width);
      for (std::size_t i = 0; i < miniblock_size && out.size() < count; ++i) {
        value += min_delta + bits_at(packed, i * width, width);
        out.push_back(static_cast<std::int64_t>(value));
      }
    }
  }
  return out;
}

}  // namespace dts::eval::parquet
