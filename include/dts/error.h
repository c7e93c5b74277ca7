// One exception type for everything a caller can do wrong or the outside world can break.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dts {

// Thrown at the edges only: loading, validation, input and output, a failing device. The text is one line that says
// what is wrong, the value seen and what would be right. Broken invariants abort instead.
//
// The library names options as its structs do ("max_tokens"). Whoever shows an error to a person knows what that person
// calls them, a flag, a field of a request, and asks for the text in those words: spelled().
class Error : public std::runtime_error {
 public:
  enum class Kind {
    kFailure,  // the world: a missing file, too little memory, a full disk   (exit code 1)
    kUsage,    // the caller: an option outside its range                     (exit code 2)
  };

  // The one option or field that is wrong.
  struct Field {
    std::string name;
    std::string value;     // as it was given
    std::string expected;  // "at least 1"
  };

  // Options in `text` are named by option_name().
  explicit Error(const std::string& text, Kind kind = Kind::kFailure);
  Error(Field field, const std::string& text, Kind kind);

  Kind kind() const { return kind_; }
  const std::optional<Field>& field() const { return field_; }
  // what() with `spell` of each option's name in its place.
  std::string spelled(const std::function<std::string(std::string_view option)>& spell) const;

 private:
  friend std::string unspelled(const std::exception& error);

  Kind kind_;
  std::string text_;  // with marks around options
  std::optional<Field> field_;
};

// An option inside an error's text: what() shows its name.
std::string option_name(std::string_view option);

Error usage_error(const std::string& text);

// What `error` says with its options still named by option_name(), to be kept and made an Error again.
std::string unspelled(const std::exception& error);

// "max_tokens is 0: it must be at least 1"; `value` as a person would write it.
Error out_of_range(std::string_view option, std::string value, std::string expected);

}  // namespace dts
