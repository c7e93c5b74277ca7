// Requests of other APIs are rewritten to OpenAI's; what the rewriting has in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/api_error.h"

namespace dts::serve {

// What the client calls the fields that were moved, so that an error found in the rewritten request names the field
// that was sent.
class FieldNames {
 public:
  void add(std::string ours, std::string theirs) { names_.emplace_back(std::move(ours), std::move(theirs)); }

  // "messages[0].content" -> "system". The longest name that the path begins with counts; without one it stays.
  std::string theirs(const std::string& path) const {
    const std::pair<std::string, std::string>* longest = nullptr;
    for (const auto& name : names_) {
      const std::string& ours = name.first;
      if (!path.starts_with(ours)) continue;
      if (path.size() > ours.size() && path[ours.size()] != '.' && path[ours.size()] != '[') continue;
      if (longest == nullptr || ours.size() > longest->first.size()) longest = &name;
    }
    return longest == nullptr ? path : longest->second + path.substr(longest->first.size());
  }

  // What `make` makes; an error of the rewritten request is told in the client's words.
  template <typename Make>
  auto in_their_words(Make make) const {
    try {
      return make();
    } catch (const ApiError& error) {
      throw spelled(error);
    }
  }

 private:
  ApiError spelled(const ApiError& error) const {
    const std::string param = theirs(error.param());
    const std::string_view message = error.what();
    // Errors begin with the field's name. Those of more than one field are left as they are.
    const bool named = !error.param().empty() && message.starts_with(error.param());
    ApiError told(error.status(), named ? param + std::string(message.substr(error.param().size())) : error.what(),
                  param, error.code());
    for (const auto& [name, value] : error.headers()) told.with_header(name, value);
    return told;
  }

  std::vector<std::pair<std::string, std::string>> names_;  // ours, theirs
};

struct RewrittenRequest {
  nlohmann::ordered_json body;  // as OpenAI's chats have it
  FieldNames names;
};

// A member of an object; null: it is missing.
inline const nlohmann::ordered_json* member(const nlohmann::ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// What is null is as good as missing.
inline void move_field(const nlohmann::ordered_json& from, const char* name, nlohmann::ordered_json& to,
                       const char* as) {
  const nlohmann::ordered_json* found = member(from, name);
  if (found != nullptr && !found->is_null()) to[as] = *found;
}

}  // namespace dts::serve
