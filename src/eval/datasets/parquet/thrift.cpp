#include "eval/datasets/parquet/thrift.h"

namespace dts::eval::parquet {

void ThriftReader::expect(ThriftType seen, ThriftType expected) {
  if (seen != expected) {
    throw FormatError("metadata has a field of type " + std::to_string(static_cast<int>(seen)) + " where type " +
                      std::to_string(static_cast<int>(expected)) + " should be");
  }
}

ThriftReader::ListHead ThriftReader::read_list_head() {
  const std::uint8_t head = bytes_.byte();
  const std::uint64_t count = (head >> 4U) == 15 ? bytes_.varint() : head >> 4U;
  // Every item takes a byte at least, so a longer list cannot be meant.
  if (count > bytes_.remaining()) throw FormatError("metadata has a list longer than the file");
  return {count, static_cast<ThriftType>(head & 0x0FU)};
}

std::int64_t ThriftReader::read_integer(ThriftType type) {
  switch (type) {
    case ThriftType::kByte:
      return static_cast<std::int8_t>(bytes_.byte());
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      return bytes_.zigzag();
    default:
      throw FormatError("metadata has a field of type " + std::to_string(static_cast<int>(type)) +
                        " where a number should be");
  }
}

std::int32_t ThriftReader::read_i32(ThriftType type) {
  const std::int64_t value = read_integer(type);
  if (value < INT32_MIN || value > INT32_MAX) throw FormatError("metadata has a number out of range");
  return static_cast<std::int32_t>(value);
}

bool ThriftReader::read_bool(ThriftType type) {
  if (type != ThriftType::kTrue) expect(type, ThriftType::kFalse);
  return type == ThriftType::kTrue;  // in a struct the type is the value
}

std::string ThriftReader::read_text(ThriftType type) {
  expect(type, ThriftType::kBinary);
  const std::uint64_t size = bytes_.varint();
  const Bytes text = bytes_.take(size);
  return {text.begin(), text.end()};
}

void ThriftReader::skip(ThriftType type) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kByte:
      bytes_.take(1);
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      bytes_.varint();
      return;
    case ThriftType::kDouble:
      bytes_.take(8);
      return;
    case ThriftType::kBinary:
      bytes_.take(bytes_.varint());
      return;
    case ThriftType::kUuid:
      bytes_.take(16);
      return;
    case ThriftType::kStruct:
      read_struct([this](int, ThriftType field) { skip(field); });
      return;
    case ThriftType::kList:
    case ThriftType::kSet: {
      const DepthGuard guard(depth_);
      const ListHead head = read_list_head();
      for (std::uint64_t i = 0; i < head.count; ++i) skip_item(head.type);
      return;
    }
    case ThriftType::kMap:
      skip_map();
      return;
    default:
      throw FormatError("metadata has a field of unknown type " + std::to_string(static_cast<int>(type)));
  }
}

void ThriftReader::skip_item(ThriftType type) {
  // Outside a struct a truth value is a byte of its own.
  if (type == ThriftType::kTrue || type == ThriftType::kFalse) {
    bytes_.take(1);
  } else {
    skip(type);
  }
}

void ThriftReader::skip_map() {
  const DepthGuard guard(depth_);
  const std::uint64_t count = bytes_.varint();
  if (count == 0) return;
  if (count > bytes_.remaining()) throw FormatError("metadata has a map longer than the file");
  const std::uint8_t types = bytes_.byte();
  for (std::uint64_t i = 0; i < count; ++i) {
    skip_item(static_cast<ThriftType>(types >> 4U));
    skip_item(static_cast<ThriftType>(types & 0x0FU));
  }
}

}  // namespace dts::eval::parquet
