#include "json/field.h"

#include <fmt/format.h>

#include <cmath>

#include "dts/error.h"
#include "text/display.h"

namespace dts {
namespace {

using namespace text;

constexpr int kShownCells = 60;  // of a wrong value

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  // Escaped down to ASCII: the value is untrusted, and the error may go to a terminal.
  return text::shorten(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), kShownCells);
}

}  // namespace

const std::string JsonField::kNoDocument;

std::string JsonField::path() const { return index_ == kNoIndex ? path_ : path_ + "[" + std::to_string(index_) + "]"; }

void JsonField::fail(const std::string& what) const {
  constexpr std::string_view kMust = "it must be ";
  const std::string where = path();
  const std::string seen = value_ == nullptr ? std::string() : shown(*value_);
  const std::string text =
      fmt::format("{}{}{} is {}: {}", *document_, document_->empty() ? "" : ": ",
                  where.empty() ? "the document" : one_line(where), seen.empty() ? "missing" : seen, what);
  const std::string expected = what.starts_with(kMust) ? what.substr(kMust.size()) : what;
  throw Error(Error::Field{where, seen, expected}, text, Error::Kind::kFailure);
}

JsonField JsonField::operator[](std::string_view key) const {
  check_object();
  const std::string parent = path();
  std::string where = parent.empty() ? std::string(key) : parent + "." + std::string(key);
  const auto found = value_->find(key);
  return JsonField(found == value_->end() ? nullptr : &*found, *document_, std::move(where));
}

JsonField JsonField::item(std::size_t index) const {
  check_list();
  JsonField item(&(*value_)[index], *document_, path());
  item.index_ = index;
  return item;
}

bool JsonField::is_null() const {
  if (value_ == nullptr) fail("it must be there, null for none");
  return value_->is_null();
}

bool JsonField::is_empty() const {
  return absent() || ((value_->is_array() || value_->is_object()) && value_->empty());
}

void JsonField::check_list() const {
  if (!is_list()) fail("it must be a list");
}

void JsonField::check_object() const {
  if (value_ == nullptr || !value_->is_object()) fail("it must be an object");
}

std::size_t JsonField::size() const {
  check_list();
  return value_->size();
}

std::optional<std::int64_t> JsonField::as_integer() const {
  // 20.0 is a whole number, however it is written: some languages know no other.
  if (value_ != nullptr && value_->is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const auto value = value_->get<double>();
    if (std::abs(value) <= kExact && value == std::floor(value)) return static_cast<std::int64_t>(value);
  }
  if (value_ == nullptr || !value_->is_number_integer()) return std::nullopt;
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
  return value_->get<std::int64_t>();
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  if (const auto value = as_integer(); value && *value >= least && *value <= most) return *value;
  if (least == most) fail(fmt::format("it must be {}", least));
  fail(most < std::numeric_limits<int>::max() ? fmt::format("it must be a whole number from {} to {}", least, most)
                                              : fmt::format("it must be a whole number of at least {}", least));
}

std::size_t JsonField::index(std::size_t size) const {
  if (value_ == nullptr || !value_->is_number_unsigned() || value_->get<std::uint64_t>() >= size) {
    fail(size == 0 ? "there is nothing it could name" : "it must be below " + std::to_string(size));
  }
  return value_->get<std::size_t>();
}

std::uint64_t JsonField::bits() const {
  if (value_ == nullptr || !value_->is_number_unsigned()) fail("it must be a whole number from 0 to 2^64 - 1");
  return value_->get<std::uint64_t>();
}

double JsonField::number() const {
  if (is_number()) return value_->get<double>();
  if (is_word("inf")) return std::numeric_limits<double>::infinity();
  if (is_word("-inf")) return -std::numeric_limits<double>::infinity();
  if (is_word("nan")) return std::numeric_limits<double>::quiet_NaN();
  fail("it must be a number, \"inf\", \"-inf\" or \"nan\"");
}

double JsonField::number(double least, double most) const {
  if (is_number()) {
    const auto value = value_->get<double>();
    if (value >= least && value <= most && std::isfinite(value)) return value;
  }
  fail(std::isinf(most) ? fmt::format("it must be a number of at least {}", least)
                        : fmt::format("it must be a number from {} to {}", least, most));
}

float JsonField::real() const {
  constexpr double kRoundsToInfinity = 0x1.ffffffp+127;
  const double value = number();
  if (std::isfinite(value) && std::abs(value) >= kRoundsToInfinity) {
    fail("it is too large for a single-precision number");
  }
  return static_cast<float>(value);
}

bool JsonField::boolean() const {
  if (value_ == nullptr || !value_->is_boolean()) fail("it must be true or false");
  return value_->get<bool>();
}

const std::string& JsonField::string() const {
  if (!is_string()) fail("it must be a string");
  return value_->get_ref<const std::string&>();
}

}  // namespace dts
