#include "dts/error.h"

#include <utility>

namespace dts {
namespace {

constexpr char kMark = '\x1f';  // the ASCII unit separator: no text for people has it

template <typename Spell>
std::string replace_marked(std::string_view text, Spell spell) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find(kMark);
    const std::size_t end = begin == std::string_view::npos ? begin : text.find(kMark, begin + 1);
    if (end == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, begin)).append(spell(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
}

std::string plain(const std::string& text) {
  return replace_marked(text, [](std::string_view option) { return option; });
}

}  // namespace

Error::Error(const std::string& text, Kind kind) : std::runtime_error(plain(text)), kind_(kind), text_(text) {}

Error::Error(Field field, const std::string& text, Kind kind)
    : std::runtime_error(plain(text)), kind_(kind), text_(text), field_(std::move(field)) {}

std::string Error::spelled(const std::function<std::string(std::string_view option)>& spell) const {
  return replace_marked(text_, spell);
}

std::string option_name(std::string_view option) { return kMark + std::string(option) + kMark; }

std::string unspelled(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return known != nullptr ? known->text_ : error.what();
}

Error usage_error(const std::string& text) { return Error(text, Error::Kind::kUsage); }

Error out_of_range(std::string_view option, std::string value, std::string expected) {
  const std::string text = option_name(option) + " is " + value + ": it must be " + expected;
  return {Error::Field{std::string(option), std::move(value), std::move(expected)}, text, Error::Kind::kUsage};
}

}  // namespace dts
