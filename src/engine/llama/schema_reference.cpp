#include "engine/llama/schema_reference.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "engine/llama/schema_member.h"
#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;

int hex_digit(std::string_view text, std::size_t at) {
  const char c = at < text.size() ? text[at] : '\0';
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// ~0 and ~1 as JSON pointers have them, %XX as addresses have them.
std::string unescaped(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view two = name.substr(i, 2);
    if (two == "~0" || two == "~1") {
      text += two == "~0" ? '~' : '/';
      ++i;
    } else if (name[i] == '%' && hex_digit(name, i + 1) >= 0 && hex_digit(name, i + 2) >= 0) {
      text += static_cast<char>(hex_digit(name, i + 1) * 16 + hex_digit(name, i + 2));
      i += 2;
    } else {
      text += name[i];
    }
  }
  return text;
}

std::size_t index_of(const std::string& name) {
  const bool number = !name.empty() && name.size() < 7 && name.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoul(name) : std::numeric_limits<std::size_t>::max();
}

}  // namespace

const Json& schema_target(const Json& root, const Json& reference, SchemaBudget& budget) {
  if (!reference.is_string())
    refuse_schema("$ref is " + shown_json(reference) + ": it must be a string such as #/$defs/a");
  const std::string text = reference.get<std::string>();
  if (text != "#" && !text.starts_with("#/")) {
    refuse_schema("$ref is " + shown_value(text) + ": it must point into the same schema, as #/$defs/a does");
  }
  const Json* target = &root;
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t end = std::min(text.find('/', at + 1), text.size());
    const std::string name = unescaped(std::string_view(text).substr(at + 1, end - at - 1));
    budget.spend(target->size() / 16);
    if (target->is_object() && target->contains(name)) {
      target = &target->at(name);
    } else if (const std::size_t index = index_of(name); target->is_array() && index < target->size()) {
      target = &target->at(index);
    } else {
      refuse_schema("$ref is " + shown_value(text) + ": it must point at a part of the schema, and there is none");
    }
    at = end;
  }
  return *target;
}

}  // namespace dts
