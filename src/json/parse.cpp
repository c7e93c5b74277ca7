#include "json/parse.h"

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/display.h"

namespace dts {
namespace {

using What = JsonError::What;

// Builds the value as the parser goes along.
template <typename Json>
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(typename Json::number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(typename Json::number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(typename Json::number_float_t value, const std::string& /*text*/) override {
    return add(Json(value));
  }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(typename Json::binary_t& /*value*/) override { return false; }  // JSON text has none
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the first part.
    const std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    const std::string reason = text::one_line(bracket == std::string_view::npos ? what : what.substr(bracket + 2));
    const bool number = dynamic_cast<const nlohmann::detail::out_of_range*>(&error) != nullptr;
    throw JsonError(number ? What::kNumber : What::kSyntax, position, text::shorten(reason, 200));
  }

 private:
  Json* place(Json value) {
    if (++values_ > limits_.values) {
      throw JsonError(What::kValues, 0, "it has more than " + std::to_string(limits_.values) + " values");
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    auto& members = parent.template get_ref<typename Json::object_t&>();
    if (members.size() >= limits_.members) {
      throw JsonError(What::kMembers, 0, "an object has more than " + std::to_string(limits_.members) + " members");
    }
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {
      // A list of pairs, which looks for nothing.
      members.emplace_back(key_, std::move(value));
      return &members.back().second;
    } else {
      const auto [member, is_new] = members.try_emplace(key_);
      if (!is_new && limits_.unique_keys) {
        throw JsonError(What::kTwice, 0,
                        "an object has the key '" + text::shorten(text::one_line(key_), 60) + "' twice");
      }
      member->second = std::move(value);
      return &member->second;
    }
  }
  bool add(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json value) {
    if (open_.size() >= static_cast<std::size_t>(limits_.depth)) {
      throw JsonError(What::kDepth, 0, "it nests deeper than " + std::to_string(limits_.depth) + " levels");
    }
    // Addresses stay: a list grows only when none of its items is open.
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  Json root_;
  std::vector<Json*> open_;
  std::string key_;  // of the member that comes next
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const JsonLimits& limits) {
  Builder<nlohmann::json> builder(limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const JsonLimits& limits) {
  Builder<nlohmann::ordered_json> builder(limits);
  nlohmann::ordered_json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace dts
