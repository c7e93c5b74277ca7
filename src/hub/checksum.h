// SHA-256 of bytes as they come, and git's own sum of a file (SHA-1 over its length and bytes).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dts::hub {

class Checksum {
 public:
  enum class Kind {
    kSha256,  // files in large-file storage
    kGit,     // small ones, which the repository itself holds
  };

  // `size`: bytes that the whole will have; git's sum begins with it.
  Checksum(Kind kind, std::int64_t size);
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void restart();
  void add(std::string_view bytes);
  std::string hex();  // once, at the end

 private:
  struct State;
  Kind kind_;
  std::int64_t size_;
  std::unique_ptr<State> state_;
};

}  // namespace dts::hub
