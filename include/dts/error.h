// One exception type for everything a caller can do wrong or the outside world can break.
#pragma once

#include <stdexcept>
#include <string>

namespace dts {

// Thrown at the edges only: loading, validation, input and output, a failing device. The text is one line that
// names the flag or file, the value seen and what would be right. Broken invariants abort instead.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    kFailure,  // the world: a missing file, too little memory, a full disk   (exit code 1)
    kUsage,    // the caller: an option outside its range                     (exit code 2)
  };

  explicit Error(const std::string& what, Kind kind = Kind::kFailure) : std::runtime_error(what), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

inline Error usage_error(const std::string& what) { return Error(what, Error::Kind::kUsage); }

}  // namespace dts
