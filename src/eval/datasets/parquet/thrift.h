// Thrift's compact protocol, as far as parquet's metadata needs it: reading structs whose fields may come in any
// number, skipping those nobody asked for.
#pragma once

#include <cstdint>
#include <string>

#include "eval/datasets/parquet/bytes.h"

namespace dts::eval::parquet {

enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

class ThriftReader {
 public:
  explicit ThriftReader(ByteReader& bytes) : bytes_(bytes) {}

  // Calls on_field(id, type) for each field of a struct; it must consume the field's value, with one of the functions
  // below or skip().
  template <typename OnField>
  void read_struct(OnField on_field) {
    const DepthGuard guard(depth_);
    std::int64_t id = 0;
    while (true) {
      const std::uint8_t head = bytes_.byte();
      const auto type = static_cast<ThriftType>(head & 0x0FU);
      if (type == ThriftType::kStop) return;
      id = (head >> 4U) != 0 ? id + (head >> 4U) : bytes_.zigzag();
      if (id < 0 || id > INT16_MAX) throw FormatError("metadata has a field number out of range");
      on_field(static_cast<int>(id), type);
    }
  }

  // A field that is a struct.
  template <typename OnField>
  void read_struct(ThriftType type, OnField on_field) {
    expect(type, ThriftType::kStruct);
    read_struct(on_field);
  }

  // Calls on_item(type) for each item of a field that is a list.
  template <typename OnItem>
  void read_list(ThriftType type, OnItem on_item) {
    expect(type, ThriftType::kList);
    const ListHead head = read_list_head();
    for (std::uint64_t i = 0; i < head.count; ++i) on_item(head.type);
  }

  std::int64_t read_integer(ThriftType type);
  std::int32_t read_i32(ThriftType type);
  bool read_bool(ThriftType type);
  std::string read_text(ThriftType type);
  void skip(ThriftType type);

 private:
  struct ListHead {
    std::uint64_t count;
    ThriftType type;
  };

  // Recursion follows the file's nesting, so the nesting is limited.
  class DepthGuard {
   public:
    explicit DepthGuard(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) {
        --depth_;
        throw FormatError("metadata is nested too deeply");
      }
    }
    ~DepthGuard() { --depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;

   private:
    static constexpr int kMaxDepth = 32;
    int& depth_;
  };

  static void expect(ThriftType seen, ThriftType expected);
  ListHead read_list_head();
  void skip_item(ThriftType type);
  void skip_map();

  ByteReader& bytes_;
  int depth_ = 0;
};

}  // namespace dts::eval::parquet
