#include "serve/api/param.h"

#include <fmt/format.h>

#include <cmath>

#include "serve/api/api_error.h"
#include "text/display.h"

namespace dts::serve {
namespace {

using namespace text;

constexpr int kShownCells = 60;  // of a wrong value

// Escaped down to ASCII: it comes from a client and may go to a terminal.
std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  return text::shorten(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), kShownCells);
}

}  // namespace

nlohmann::json parse_json(std::string_view body, const Limits& limits) {
  int values = 0;
  const auto count = [&](int depth, nlohmann::json::parse_event_t /*event*/, nlohmann::json& /*parsed*/) {
    if (depth > limits.json_depth) {
      throw ApiError(400, fmt::format("the body nests deeper than {} levels", limits.json_depth));
    }
    if (++values > limits.json_values) {
      throw ApiError(400, fmt::format("the body has more than {} values", limits.json_values));
    }
    return true;
  };
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(body, count);
  } catch (const nlohmann::json::parse_error& error) {
    throw ApiError(400, fmt::format("the body is not valid JSON: it breaks at byte {}", error.byte), {},
                   "invalid_json");
  } catch (const nlohmann::json::exception&) {
    throw ApiError(400, "the body has a number that is too large", {}, "invalid_json");
  }
  if (!json.is_object()) throw ApiError(400, "the body must be a JSON object", {}, "invalid_json");
  return json;
}

void Param::fail(const std::string& what) const {
  if (absent()) throw ApiError(400, fmt::format("{} is missing: {}", name_, what), name_, "missing_field");
  throw ApiError(400, fmt::format("{} is {}: {}", name_, shown(*value_), what), name_, "invalid_value");
}

Param Param::operator[](const char* key) const {
  const auto found = value_->find(key);
  return {found == value_->end() ? nullptr : &*found, name_.empty() ? key : name_ + "." + key};
}

Param Param::item(std::size_t index) const { return {&(*value_)[index], fmt::format("{}[{}]", name_, index)}; }

std::int64_t Param::integer(std::int64_t least, std::int64_t most) const {
  const auto wrong = [&] { fail(fmt::format("it must be a whole number from {} to {}", least, most)); };
  if (absent() || !value_->is_number_integer()) wrong();
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) wrong();
  const auto value = value_->get<std::int64_t>();
  if (value < least || value > most) wrong();
  return value;
}

double Param::number(double least, double most) const {
  const bool open = std::isinf(most);
  if (!absent() && value_->is_number()) {
    const auto value = value_->get<double>();
    if (value >= least && value <= most && std::isfinite(value)) return value;
  }
  fail(open ? fmt::format("it must be a number of at least {}", least)
            : fmt::format("it must be a number from {} to {}", least, most));
}

bool Param::boolean() const {
  if (absent() || !value_->is_boolean()) fail("it must be true or false");
  return value_->get<bool>();
}

const std::string& Param::string() const {
  if (!is_string()) fail("it must be a string");
  return value_->get_ref<const std::string&>();
}

std::size_t Param::list_size() const {
  if (!is_list()) fail("it must be a list");
  return value_->size();
}

void Param::check_object() const {
  if (absent() || !value_->is_object()) fail("it must be an object");
}

}  // namespace dts::serve
