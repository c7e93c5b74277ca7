#include "json/field.h"

#include <cmath>

#include "dts/error.h"
#include "text/display.h"

namespace dts {
namespace {

using namespace text;

constexpr int kShownCells = 40;  // of a wrong value

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  // Escaped down to ASCII: the value is untrusted, and the error may go to a terminal.
  return text::shorten(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), kShownCells);
}

}  // namespace

std::string JsonField::path() const { return index_ == kNoIndex ? path_ : path_ + "[" + std::to_string(index_) + "]"; }

void JsonField::fail(const std::string& what) const {
  const std::string where = path();
  throw Error(*document_ + ": " + (where.empty() ? "the document" : where) + " is " + shown(*value_) + ": " + what);
}

JsonField JsonField::operator[](const char* key) const {
  if (!value_->is_object()) fail("it must be an object");
  const std::string parent = path();
  std::string where = parent.empty() ? key : parent + "." + key;
  const auto found = value_->find(key);
  if (found == value_->end()) throw Error(*document_ + ": " + where + " is missing");
  return JsonField(*found, *document_, std::move(where));
}

void JsonField::check_list() const {
  if (!value_->is_array()) fail("it must be a list");
}

std::size_t JsonField::size() const {
  check_list();
  return value_->size();
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_number_unsigned()
                        ? value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(most < 0 ? 0 : most)
                        : value_->is_number_integer();
  if (!fits || value_->get<std::int64_t>() < least || value_->get<std::int64_t>() > most) {
    if (least == most) fail("it must be " + std::to_string(least));
    const bool bounded = most < std::numeric_limits<int>::max();
    fail("it must be a whole number " + (bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                                                 : "of at least " + std::to_string(least)));
  }
  return value_->get<std::int64_t>();
}

std::size_t JsonField::index(std::size_t size) const {
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() >= size) {
    fail(size == 0 ? "there is nothing it could name" : "it must be below " + std::to_string(size));
  }
  return value_->get<std::size_t>();
}

std::uint64_t JsonField::bits() const {
  if (!value_->is_number_unsigned()) fail("it must be a whole number from 0 to 2^64 - 1");
  return value_->get<std::uint64_t>();
}

double JsonField::number() const {
  if (value_->is_number()) return value_->get<double>();
  if (*value_ == "inf") return std::numeric_limits<double>::infinity();
  if (*value_ == "-inf") return -std::numeric_limits<double>::infinity();
  if (*value_ == "nan") return std::numeric_limits<double>::quiet_NaN();
  fail("it must be a number, \"inf\", \"-inf\" or \"nan\"");
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
  if (!value_->is_boolean()) fail("it must be true or false");
  return value_->get<bool>();
}

const std::string& JsonField::string() const {
  if (!value_->is_string()) fail("it must be a string");
  return value_->get_ref<const std::string&>();
}

}  // namespace dts
