#include "eval/datasets/parquet/codec.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <limits>

namespace dts::eval::parquet {
namespace {

const char* chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(std::vector<std::uint8_t>& bytes) { return reinterpret_cast<char*>(bytes.data()); }

bool inflate_snappy(Bytes in, std::vector<std::uint8_t>& out) {
  std::size_t size = 0;
  return snappy::GetUncompressedLength(chars(in), in.size(), &size) && size == out.size() &&
         snappy::RawUncompress(chars(in), in.size(), chars(out));
}

bool inflate_gzip(Bytes in, std::vector<std::uint8_t>& out) {
  constexpr int kGzipOrZlib = 15 + 32;  // the largest window; detect either header
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  stream.next_in = const_cast<Bytef*>(in.data());  // zlib's interface lacks const; it does not write there
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  int status = inflate(&stream, Z_FINISH);
  // A page may be several gzip members, one after the other.
  while (status == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0 && inflateReset(&stream) == Z_OK) {
    status = inflate(&stream, Z_FINISH);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.avail_out == 0;
}

bool inflate_zstd(Bytes in, std::vector<std::uint8_t>& out) {
  return ZSTD_decompress(out.data(), out.size(), in.data(), in.size()) == out.size();
}

bool inflate_lz4_raw(Bytes in, std::vector<std::uint8_t>& out) {
  const int size =
      LZ4_decompress_safe(chars(in), chars(out), static_cast<int>(in.size()), static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

}  // namespace

std::vector<std::uint8_t> decompress(Codec codec, Bytes compressed, std::size_t size, Budget& budget) {
  // Page sizes are 32-bit in the file; the libraries' int arguments rely on it.
  constexpr auto kMaxSize = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (compressed.size() > kMaxSize || size > kMaxSize) throw FormatError("a page is larger than 2 GiB");
  if (codec == Codec::kUncompressed && compressed.size() != size) {
    throw FormatError("an uncompressed page has two different sizes");
  }
  budget.charge(size);
  std::vector<std::uint8_t> out(size);
  bool good = size == 0 && compressed.empty();  // not every library accepts a page of nothing
  if (!good) {
    switch (codec) {
      case Codec::kUncompressed:
        return {compressed.begin(), compressed.end()};
      case Codec::kSnappy:
        good = inflate_snappy(compressed, out);
        break;
      case Codec::kGzip:
        good = inflate_gzip(compressed, out);
        break;
      case Codec::kZstd:
        good = inflate_zstd(compressed, out);
        break;
      case Codec::kLz4Raw:
        good = inflate_lz4_raw(compressed, out);
        break;
      default:
        throw FormatError("compression " + name_of(codec) +
                          " is not supported; should be UNCOMPRESSED, SNAPPY, GZIP, ZSTD or LZ4_RAW");
    }
  }
  if (!good) throw FormatError("a page does not decompress to its size: damaged data (" + name_of(codec) + ")");
  return out;
}

}  // namespace dts::eval::parquet
