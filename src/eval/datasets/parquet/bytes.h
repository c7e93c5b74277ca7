// A cursor over bytes that cannot leave them, and the two limits that keep a hostile file harmless.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace dts::eval::parquet {

static_assert(std::endian::native == std::endian::little,
              "parquet's values are little endian, and are read as they lie");

using Bytes = std::span<const std::uint8_t>;

// The file is malformed or uses what this reader does not support. ParquetFile turns it into an Error with the file's
// name; the text here says only what is wrong.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t position() const { return at_; }

  Bytes take(std::size_t count) {
    if (count > remaining()) throw FormatError("data ends in the middle of a value");
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  Bytes take_rest() { return take(remaining()); }

  std::uint8_t byte() { return take(1)[0]; }

  template <typename T>
  T little_endian() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  // ULEB128: seven bits a byte, the lowest first.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
      if (next < 0x80) return value;
    }
    throw FormatError("a variable-length number has more than ten bytes");
  }

  std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

// What reading may take in memory. Compression and run lengths can claim any amount with a few bytes, so everything
// that is allocated by a number from the file is charged here first.
class Budget {
 public:
  // Real files of text expand about tenfold.
  explicit Budget(std::size_t file_bytes) : left_((std::size_t{64} << 20U) + 100 * file_bytes), total_(left_) {}

  void charge(std::size_t bytes) {
    if (bytes > left_) {
      throw FormatError("expands to more than " + std::to_string(total_ >> 20U) +
                        " MiB, which no real file of its size does");
    }
    left_ -= bytes;
  }

  void charge(std::size_t count, std::size_t bytes_each) {
    charge(count > left_ / bytes_each ? left_ + 1 : count * bytes_each);
  }

 private:
  std::size_t left_;
  std::size_t total_;
};

}  // namespace dts::eval::parquet
