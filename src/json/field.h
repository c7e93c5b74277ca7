// Reading untrusted JSON: every value knows the way to it, so that an error can name the field, the value seen and what
// would be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/names.h"

namespace dts {

// A view of one value; `value` and `document` must outlive it. All readers throw dts::Error.
class JsonField {
 public:
  // `document` is what errors call the whole, for example its file.
  JsonField(const nlohmann::json& value, const std::string& document) : value_(&value), document_(&document) {}

  JsonField operator[](const char* key) const;  // a member that must be there
  bool is_null() const { return value_->is_null(); }
  bool is_word(const char* word) const { return *value_ == word; }

  // Calls read(JsonField) for each item of a list. Spells no paths out unless something is wrong: lists are long.
  template <typename Read>
  void each(Read read) const {
    check_list();
    JsonField item(*value_, *document_, path());
    for (item.index_ = 0; item.index_ < value_->size(); ++item.index_) {
      item.value_ = &(*value_)[item.index_];
      read(static_cast<const JsonField&>(item));
    }
  }
  std::size_t size() const;  // of a list

  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  int whole(int least, int most = std::numeric_limits<int>::max()) const {
    return static_cast<int>(integer(least, most));
  }
  // An index into a list of `size`.
  std::size_t index(std::size_t size) const;
  std::int64_t count() const { return integer(0, std::numeric_limits<std::int64_t>::max()); }
  std::uint64_t bits() const;
  double number() const;  // "inf", "-inf" and "nan" stand for what JSON has no numbers for
  float real() const;
  bool boolean() const;
  const std::string& string() const;

  template <typename Enum, std::size_t n>
  Enum one_of(const Names<Enum, n>& names) const {
    if (value_->is_string()) {
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

  JsonField(const nlohmann::json& value, const std::string& document, std::string path)
      : value_(&value), document_(&document), path_(std::move(path)) {}

  std::string path() const;
  void check_list() const;

  const nlohmann::json* value_;
  const std::string* document_;
  std::string path_;              // of the list when index_ is set
  std::size_t index_ = kNoIndex;  // of an item
};

}  // namespace dts
