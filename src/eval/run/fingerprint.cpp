#include "eval/run/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "dts/error.h"

namespace dts::eval {
namespace {

constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  void add(std::string_view bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t n = std::min(bytes.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), n);
      bytes.remove_prefix(n);
      filled_ += n;
      if (filled_ == block_.size()) absorb();
    }
  }

  std::string finish() {
    const std::uint64_t bits = length_ * 8;
    add("\x80");
    while (filled_ != 56) add(std::string_view("\0", 1));
    for (int shift = 56; shift >= 0; shift -= 8) {
      const char byte = static_cast<char>((bits >> static_cast<unsigned>(shift)) & 0xFFU);
      add(std::string_view(&byte, 1));
    }
    std::string out;
    for (const std::uint32_t word : state_) out += fmt::format("{:08x}", word);
    return out;
  }

 private:
  void absorb() {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t b = 0; b < 4; ++b) w[i] = (w[i] << 8U) | block_[4 * i + b];
    }
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
      const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t choose = (e & f) ^ (~e & g);
      const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choose + kRounds[i] + w[i];
      const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += mixed[i];
    filled_ = 0;
  }

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::size_t filled_ = 0;    // bytes of block_
  std::uint64_t length_ = 0;  // bytes in all
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

std::string file_fingerprint(const std::string& path) {
  constexpr std::uint64_t kBlock = 1U << 20U;  // bytes
  constexpr std::uint64_t kBlocks = 64;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff end = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (end < 0) throw Error(path + ": cannot be read");
  const auto size = static_cast<std::uint64_t>(end);
  const bool whole = size <= kBlock * kBlocks;
  Sha256 hash;
  if (!whole) hash.add(fmt::format("{}\n", size));
  std::string block;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    const std::uint64_t start = whole ? i * kBlock : (size - kBlock) / (kBlocks - 1) * i;
    if (start >= size) break;
    block.resize(std::min(kBlock, size - start));
    file.seekg(static_cast<std::streamoff>(start));
    if (!file.read(block.data(), static_cast<std::streamsize>(block.size()))) throw Error(path + ": cannot be read");
    hash.add(block);
  }
  return (whole ? "sha256:" : "sampled-sha256:") + hash.finish();
}

std::string questions_fingerprint(const Dataset& dataset) {
  Sha256 hash;
  // Lengths keep texts apart: no two lists of questions give the same bytes.
  const auto add = [&hash](std::string_view text) {
    hash.add(fmt::format("{}:", text.size()));
    hash.add(text);
  };
  for (const Question& question : dataset.questions) {
    add(question.id);
    add(question.text);
    add(question.answer);
    hash.add(fmt::format("{};", question.choices.size()));
    for (const std::string& choice : question.choices) add(choice);
    add(question.task);
    add(question.release);
  }
  return "sha256:" + hash.finish();
}

}  // namespace dts::eval
