#include "engine/llama/schema_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>

#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;

constexpr std::size_t kMostOptional = 256;  // properties of one object
constexpr double kMostWork = 2e8;           // bytes copied and compared, about: some tenths of a second
constexpr double kExpression = 16;          // a byte that goes through one of its regular expressions
constexpr double kRule = 400;               // a rule that is added
constexpr double kBounds = 2e4;             // the digits of an integer between two bounds

class ConverterWork {
 public:
  void add_document(const Json& plain) {
    for (const auto& [name, schema] : plain.items()) {
      if (name != "$ref") add(schema, "ref-" + name);
    }
  }

 private:
  void spend(double work) {
    work_ += work;
    if (work_ > kMostWork) refuse_schema("it is too large to be made a grammar: it must have fewer or shorter parts");
  }

  // A rule of that name.
  void add_rule(const std::string& name, double bytes) {
    rules_ += 1;
    bytes_ += static_cast<double>(name.size()) + bytes;
    spend(kRule + kExpression * static_cast<double>(name.size()) + bytes);
    // The same name again has a number, and the converter tries them from 0 on.
    const std::size_t same = same_name_[as_rule_name(name)]++;
    spend(static_cast<double>(same) * (static_cast<double>(name.size()) + 100));
  }

  static std::string as_rule_name(const std::string& name) {
    std::string escaped;
    bool sign = false;
    for (const char c : name) {
      const bool kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
      if (kept) {
        escaped += c;
      } else if (!sign) {
        escaped += '-';
      }
      sign = !kept;
    }
    return escaped;
  }

  void add_literal(std::size_t bytes) { spend(kExpression * static_cast<double>(bytes)); }

  void add(const Json& schema, const std::string& name) {
    double bytes = 40;
    if (schema.contains("anyOf")) {
      std::size_t i = 0;
      for (const Json& alternative : schema.at("anyOf")) add(alternative, name + "-" + std::to_string(i++));
    } else if (schema.contains("const") || schema.contains("enum")) {
      const std::string text = schema.dump();
      bytes = static_cast<double>(text.size());
      add_literal(text.size());
    } else if (schema.contains("type")) {
      const std::string type = schema.at("type").get<std::string>();
      if (type == "object") {
        add_object(schema, name);
      } else if (type == "array" && schema.contains("items")) {
        add_items(schema.at("items"), name);
      } else if (schema.contains("pattern")) {
        bytes = static_cast<double>(schema.at("pattern").get<std::string>().size());
        spend(rules_ * 200 + bytes_ + bytes * 64);
      } else if (schema.contains("minimum")) {
        bytes = 2000;
        spend(kBounds);
      }
    }
    add_rule(name, bytes);
  }

  void add_items(const Json& items, const std::string& name) {
    if (!items.is_array()) {
      add(items, name + "-item");
      return;
    }
    std::size_t i = 0;
    for (const Json& item : items) add(item, name + "-tuple-" + std::to_string(i++));
  }

  void add_object(const Json& schema, const std::string& name) {
    std::set<std::string> required;
    if (schema.contains("required")) {
      for (const Json& one : schema.at("required")) required.insert(one.get<std::string>());
    }
    const Json& more = schema.at("additionalProperties");
    const bool open = !more.is_boolean() || more.get<bool>();
    if (more.is_object()) add(more, name + "-additional-value");
    double optional = open ? 1 : 0;
    double optional_bytes = 0;
    double all_bytes = 0;
    double same = 0;  // properties whose rules have one name
    std::unordered_map<std::string, double> named;
    if (schema.contains("properties")) {
      const Json& properties = schema.at("properties");
      spend(static_cast<double>(properties.size()) * static_cast<double>(properties.size()));
      for (const auto& [property, value] : properties.items()) {
        const std::string inner = fmt::format("{}-{}", name, property);
        add(value, inner);
        add_literal(property.size());
        add_rule(inner + "-kv", static_cast<double>(inner.size() + property.size()));
        all_bytes += static_cast<double>(property.size());
        if (required.contains(property)) continue;
        optional += 1;
        optional_bytes += static_cast<double>(property.size());
        same = std::max(same, ++named[as_rule_name(inner)]);
      }
    }
    if (open) spend(64 * all_bytes);
    if (optional > kMostOptional + 1) {
      refuse_schema(fmt::format("it has too many optional properties: {} in one object, where {} may be; require some",
                                optional, kMostOptional));
    }
    // Every end of the list of optional properties is copied for each of its ends.
    const double square = optional * optional / 2;
    spend(square * optional / 3 + square * optional_bytes / 3);
    spend(square * (kRule + kExpression * static_cast<double>(name.size())) + kExpression * optional * optional_bytes);
    spend(square * (same / 2) * 100);
  }

  double work_ = 0;
  double rules_ = 0;
  double bytes_ = 0;
  std::unordered_map<std::string, std::size_t> same_name_;
};

}  // namespace

void check_schema_work(const common_json& plain) { ConverterWork().add_document(plain); }

}  // namespace dts
