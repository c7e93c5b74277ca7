// A field of a request's JSON: it knows its own name, so that an error can say which one is wrong, what was seen and
// what would be right.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/limits.h"

namespace dts::serve {

// Throws an ApiError for what is no JSON, too deep or too much of it.
nlohmann::json parse_json(std::string_view body, const Limits& limits);

// A view; the JSON must outlive it. Readers throw an ApiError (400).
class Param {
 public:
  Param(const nlohmann::json& value, std::string name) : value_(&value), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const nlohmann::json& json() const { return *value_; }

  // A member; absent() when it is missing or null.
  Param operator[](const char* key) const;
  Param item(std::size_t index) const;  // of a list
  bool absent() const { return value_ == nullptr || value_->is_null(); }
  bool is_string() const { return !absent() && value_->is_string(); }
  bool is_list() const { return !absent() && value_->is_array(); }

  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  int whole(int least, int most) const { return static_cast<int>(integer(least, most)); }
  double number(double least, double most) const;
  bool boolean() const;
  const std::string& string() const;
  std::size_t list_size() const;
  void check_object() const;

  // "max_tokens is -1: it must be ..."
  [[noreturn]] void fail(const std::string& what) const;

 private:
  Param(const nlohmann::json* value, std::string name) : value_(value), name_(std::move(name)) {}

  const nlohmann::json* value_;  // null: missing
  std::string name_;
};

}  // namespace dts::serve
