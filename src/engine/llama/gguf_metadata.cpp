#include "engine/llama/gguf_metadata.h"

#include <cstring>
#include <limits>

namespace dts {
namespace {

// Element `index` of integers of whatever type they were stored as; nothing when it is no integer.
std::optional<std::int64_t> integer(gguf_type type, const void* data, std::size_t index) {
  const auto at = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T), sizeof(T));
    return value;
  };
  switch (type) {
    case GGUF_TYPE_UINT8:
      return at(std::uint8_t{});
    case GGUF_TYPE_INT8:
      return at(std::int8_t{});
    case GGUF_TYPE_UINT16:
      return at(std::uint16_t{});
    case GGUF_TYPE_INT16:
      return at(std::int16_t{});
    case GGUF_TYPE_UINT32:
      return at(std::uint32_t{});
    case GGUF_TYPE_INT32:
      return at(std::int32_t{});
    case GGUF_TYPE_INT64:
      return at(std::int64_t{});
    case GGUF_TYPE_UINT64: {
      const std::uint64_t value = at(std::uint64_t{});
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string GgufMetadata::text(const std::string& name) const {
  const std::int64_t key = gguf_find_key(gguf_, name.c_str());
  return key >= 0 && gguf_get_kv_type(gguf_, key) == GGUF_TYPE_STRING ? gguf_get_val_str(gguf_, key) : std::string();
}

std::optional<std::int64_t> GgufMetadata::number(const std::string& name, std::size_t index) const {
  const std::int64_t key = gguf_find_key(gguf_, name.c_str());
  if (key < 0) return std::nullopt;
  const gguf_type type = gguf_get_kv_type(gguf_, key);
  if (type == GGUF_TYPE_STRING) return std::nullopt;
  if (type != GGUF_TYPE_ARRAY) return integer(type, gguf_get_val_data(gguf_, key), 0);
  const gguf_type element = gguf_get_arr_type(gguf_, key);
  if (element == GGUF_TYPE_STRING || index >= gguf_get_arr_n(gguf_, key)) return std::nullopt;
  return integer(element, gguf_get_arr_data(gguf_, key), index);
}

std::optional<double> GgufMetadata::real(const std::string& name) const {
  const std::int64_t key = gguf_find_key(gguf_, name.c_str());
  if (key < 0) return std::nullopt;
  if (gguf_get_kv_type(gguf_, key) == GGUF_TYPE_FLOAT32) return gguf_get_val_f32(gguf_, key);
  if (gguf_get_kv_type(gguf_, key) == GGUF_TYPE_FLOAT64) return gguf_get_val_f64(gguf_, key);
  const auto whole = number(name);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::vector<std::int32_t> GgufMetadata::numbers(const std::string& name) const {
  std::vector<std::int32_t> values;
  const std::int64_t key = gguf_find_key(gguf_, name.c_str());
  if (key < 0 || gguf_get_kv_type(gguf_, key) != GGUF_TYPE_ARRAY) return values;
  const gguf_type element = gguf_get_arr_type(gguf_, key);
  if (element == GGUF_TYPE_STRING) return values;
  const void* data = gguf_get_arr_data(gguf_, key);
  for (std::size_t i = 0; i < gguf_get_arr_n(gguf_, key); ++i) {
    values.push_back(static_cast<std::int32_t>(integer(element, data, i).value_or(0)));
  }
  return values;
}

}  // namespace dts
