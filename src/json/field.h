// Reading untrusted JSON: every value knows the way to it, so that an error can name the field, the value seen and what
// would be right. One reader for tree files, requests and whatever else comes from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/names.h"

namespace dts {

// A view of one value, or of a member that is missing; the JSON and `document` must outlive it. Readers throw a
// dts::Error with its Field: the path, the value seen (empty: it is missing) and what was expected.
class JsonField {
 public:
  explicit JsonField(const nlohmann::json& value) : JsonField(value, kNoDocument) {}
  // `document` is what errors call the whole, for example its file.
  JsonField(const nlohmann::json& value, const std::string& document) : value_(&value), document_(&document) {}

  // A member of an object. That it is missing is told by whoever reads it.
  JsonField operator[](std::string_view key) const;
  bool absent() const { return value_ == nullptr || value_->is_null(); }  // missing or null
  bool is_null() const;                                                   // it must not be missing
  bool is_string() const { return value_ != nullptr && value_->is_string(); }
  bool is_number() const { return value_ != nullptr && value_->is_number(); }
  bool is_list() const { return value_ != nullptr && value_->is_array(); }
  bool is_word(const char* word) const { return value_ != nullptr && *value_ == word; }
  bool is_empty() const;  // absent, or a list or an object of nothing
  // The value itself; it must not be missing.
  const nlohmann::json& json() const { return *value_; }
  // "dts.window", "stop[0]"
  std::string path() const;

  // Calls read(JsonField) for each item of a list. Spells no paths out unless something is wrong: lists are long.
  template <typename Read>
  void each(Read read) const {
    check_list();
    JsonField item(value_, *document_, path());
    for (item.index_ = 0; item.index_ < value_->size(); ++item.index_) {
      item.value_ = &(*value_)[item.index_];
      read(static_cast<const JsonField&>(item));
    }
  }
  JsonField item(std::size_t index) const;  // of a list
  std::size_t size() const;                 // of a list
  // Calls read(key, JsonField) for each member of an object.
  template <typename Read>
  void each_member(Read read) const {
    check_object();
    for (const auto& [key, value] : value_->items()) read(key, (*this)[key]);
  }
  void check_object() const;

  std::optional<std::int64_t> as_integer() const;  // none: it is none, or too large
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  int whole(int least, int most = std::numeric_limits<int>::max()) const {
    return static_cast<int>(integer(least, most));
  }
  // An index into a list of `size`.
  std::size_t index(std::size_t size) const;
  std::int64_t count() const { return integer(0, std::numeric_limits<std::int64_t>::max()); }
  std::uint64_t bits() const;
  double number() const;                           // "inf", "-inf" and "nan" stand for what JSON has no numbers for
  double number(double least, double most) const;  // a JSON number
  float real() const;
  bool boolean() const;
  const std::string& string() const;

  template <typename Enum, std::size_t n>
  Enum one_of(const Names<Enum, n>& names) const {
    if (is_string()) {
      if (const auto value = value_of(names, string())) return *value;
    }
    std::string words;
    for (const auto& [word, value] : names) words += (words.empty() ? "" : ", ") + std::string(word);
    fail("it must be one of " + words);
  }

  // "FILE: segments[3].state is "x": <what>"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
  static const std::string kNoDocument;

  JsonField(const nlohmann::json* value, const std::string& document, std::string path)
      : value_(value), document_(&document), path_(std::move(path)) {}

  void check_list() const;

  const nlohmann::json* value_;  // null: missing
  const std::string* document_;
  std::string path_;              // of the list when index_ is set
  std::size_t index_ = kNoIndex;  // of an item
};

}  // namespace dts
