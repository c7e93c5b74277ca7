// The key-value pairs of a GGUF file, read as what they are wanted as whatever type they were stored as.
#pragma once

#include <gguf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts {

struct GgufDeleter {
  void operator()(gguf_context* gguf) const { gguf_free(gguf); }
};
using GgufPtr = std::unique_ptr<gguf_context, GgufDeleter>;

class GgufMetadata {
 public:
  // `gguf` must outlive it.
  explicit GgufMetadata(const gguf_context* gguf) : gguf_(gguf) {}

  // Empty when it is absent or no text.
  std::string text(const std::string& name) const;

  // A scalar, or an array's element; a scalar stands for all elements.
  std::optional<std::int64_t> number(const std::string& name, std::size_t index = 0) const;

  // A scalar, integer or not.
  std::optional<double> real(const std::string& name) const;

  // A whole array of integers; empty when it is absent or of another type.
  std::vector<std::int32_t> numbers(const std::string& name) const;

 private:
  const gguf_context* gguf_;
};

}  // namespace dts
