#include "engine/llama/schema_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/llama/schema_member.h"
#include "engine/llama/schema_nothing.h"
#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;

constexpr std::int64_t kMostCount = 2000;  // of items and characters: what a grammar may repeat

const std::vector<std::pair<std::string_view, SchemaTypes>> kTypeNames = {
    {"null", kNull},     {"boolean", kBoolean}, {"number", kNumber}, {"integer", kInteger},
    {"string", kString}, {"array", kArray},     {"object", kObject}};

class FactsReader {
 public:
  FactsReader(SchemaFacts& facts, SchemaBudget& budget) : facts_(facts), budget_(budget) {}

  void add(const Json& node) {
    if (const Json* type = json_member(node, "type")) add_types(*type);
    add_values(node);
    add_object_facts(node);
    add_array_facts(node);
    add_string_facts(node);
    add_bounds(node);
  }

 private:
  static SchemaTypes type_named(const Json& name) {
    for (const auto& [known, type] : kTypeNames) {
      if (name.is_string() && name.get<std::string>() == known) return type;
    }
    refuse_schema("type is " + shown_json(name) +
                  ": it must be null, boolean, number, integer, string, array, object, or a list of these");
  }

  void add_types(const Json& type) {
    SchemaTypes types = 0;
    if (type.is_array() && !type.empty()) {
      for (const Json& name : type) types |= type_named(name);
    } else {
      types = type_named(type);
    }
    facts_.types &= types;
    facts_.typed = true;
    if (facts_.types == 0) throw SchemaContradiction{"its types exclude each other"};
  }

  void add_values(const Json& node) {
    SchemaNodes values;
    if (const Json* constant = json_member(node, "const")) {
      values.push_back(constant);
    } else if (const Json* list = json_member(node, "enum")) {
      if (!list->is_array() || list->empty()) {
        refuse_schema("enum is " + shown_json(*list) + ": it must be a list of at least one value");
      }
      budget_.spend(list->size());
      for (const Json& value : *list) values.push_back(&value);
    } else {
      return;
    }
    if (!facts_.values) {
      facts_.values = std::move(values);
      return;
    }
    std::set<std::string> known;
    for (const Json* value : *facts_.values) known.insert(budget_.spend_value(value->dump()));
    SchemaNodes both;
    for (const Json* value : values) {
      if (known.contains(budget_.spend_value(value->dump()))) both.push_back(value);
    }
    if (both.empty()) throw SchemaContradiction{"its lists of values have none in common"};
    facts_.values = std::move(both);
  }

  // What stands in one place may be copied to many.
  void spend_text(const std::string& text) {
    budget_.spend(text.size() / SchemaBudget::kBytes);
    facts_.text_bytes += text.size();
  }

  void add_object_facts(const Json& node) {
    std::vector<std::size_t> named;
    if (const Json* properties = json_member(node, "properties")) {
      if (!properties->is_object())
        refuse_schema("properties is " + shown_json(*properties) + ": it must be an object");
      facts_.has_properties = true;
      budget_.spend_members(*properties);
      for (const auto& [name, schema] : properties->items()) {
        spend_text(name);
        const auto [known, is_new] = facts_.property_of.try_emplace(name, facts_.properties.size());
        if (is_new) facts_.properties.push_back({name, {}, {}});
        facts_.properties[known->second].schemas.push_back(&schema);
        named.push_back(known->second);
      }
    }
    if (const Json* required = json_member(node, "required"); required != nullptr && required->is_array()) {
      budget_.spend(required->size());
      for (const Json& name : *required) {
        if (!name.is_string()) continue;
        facts_.required.push_back(name.get<std::string>());
        spend_text(facts_.required.back());
      }
    }
    add_others(node, named);
  }

  // What is said of the properties that a schema does not name. It holds for those that other schemas name, too.
  void add_others(const Json& node, const std::vector<std::size_t>& named) {
    const Json* more = json_member(node, "additionalProperties");
    if (more != nullptr && !more->is_boolean() && !more->is_object()) {
      refuse_schema("additionalProperties is " + shown_json(*more) + ": it must be true, false or a schema");
    }
    const bool bounded = more != nullptr && (more->is_object() ? !more->empty() : is_nothing_schema(*more));
    if (const Json* patterns = json_member(node, "patternProperties"); patterns != nullptr) {
      if (add_patterns(*patterns, bounded)) return;
    }
    if (more == nullptr) return;
    if (!bounded) {
      facts_.open = true;
      return;
    }
    for (const std::size_t property : named) facts_.properties[property].own_of.push_back(facts_.others.size());
    facts_.others.push_back(more);
  }

  // Does one of them match all names? Then no property is an additional one.
  bool add_patterns(const Json& patterns, bool bounded) {
    if (!patterns.is_object()) refuse_schema("patternProperties is " + shown_json(patterns) + ": it must be an object");
    budget_.spend_members(patterns);
    bool all = false;
    for (const auto& [pattern, schema] : patterns.items()) {
      if (!matches_all(pattern)) continue;
      facts_.every.push_back(&schema);
      all = true;
    }
    if (all || patterns.empty()) return all;
    if (bounded) {
      refuse_schema("patternProperties has " + shown_value((*patterns.items().begin()).k) +
                    ": beside additionalProperties it must be '.*', which is all names, or be left out");
    }
    facts_.open = true;
    return false;
  }

  static bool matches_all(const std::string& pattern) {
    constexpr std::array<std::string_view, 9> kAll = {"", "^", "$", ".*", "^.*", ".*$", "^.*$", "(.*)", "^(.*)$"};
    return std::find(kAll.begin(), kAll.end(), pattern) != kAll.end();
  }

  static SchemaCounts read_counts(const Json& node, const char* least, const char* most) {
    SchemaCounts counts;
    for (const char* key : {least, most}) {
      const Json* value = json_member(node, key);
      if (value == nullptr) continue;
      const double number = value->is_number() ? value->get<double>() : -1;
      if (number < 0 || number != std::floor(number)) {
        refuse_schema(fmt::format("{} is {}: it must be a whole number from 0 on", key, shown_json(*value)));
      }
      if (key == least && number > static_cast<double>(kMostCount)) {
        refuse_schema(fmt::format("{} is {}: it must be at most {}", key, shown_json(*value), kMostCount));
      }
      // More than a grammar counts to: as good as no bound.
      const bool bounded = number <= static_cast<double>(kMostCount);
      (key == least ? counts.least : counts.most) = bounded ? static_cast<std::int64_t>(number) : -1;
    }
    return counts;
  }

  void add_array_facts(const Json& node) {
    facts_.item_count.narrow(read_counts(node, "minItems", "maxItems"));
    const Json* items = json_member(node, "items");
    const Json* tuple = json_member(node, "prefixItems");
    if (tuple == nullptr && items != nullptr && items->is_array()) tuple = items;
    if (tuple != nullptr && !tuple->is_array()) {
      refuse_schema("prefixItems is " + shown_json(*tuple) + ": it must be a list of schemas");
    }
    if (tuple == nullptr) {
      if (items != nullptr) facts_.items.push_back(items);
      return;
    }
    if (facts_.tuple != nullptr) refuse_schema("allOf must have lists of items only once");
    facts_.tuple = tuple;
  }

  void add_string_facts(const Json& node) {
    facts_.length.narrow(read_counts(node, "minLength", "maxLength"));
    if (const Json* pattern = json_member(node, "pattern")) {
      if (!pattern->is_string()) refuse_schema("pattern is " + shown_json(*pattern) + ": it must be a string");
      const std::string text = pattern->get<std::string>();
      if (facts_.pattern && *facts_.pattern != text) refuse_schema("allOf must have a pattern only once");
      spend_text(text);
      if (!text.empty()) facts_.pattern = text;
    }
    if (const Json* format = json_member(node, "format")) {
      if (!format->is_string()) refuse_schema("format is " + shown_json(*format) + ": it must be a string");
      const std::string name = format->get<std::string>();
      for (const char* known : {"date", "time", "date-time", "uuid", "uuid1", "uuid2", "uuid3", "uuid4", "uuid5"}) {
        if (name == known) facts_.format = name;
      }
    }
  }

  // Of integers; those of other numbers no grammar of llama.cpp's counts.
  void add_bounds(const Json& node) {
    for (const bool low : {true, false}) {
      const char* key = low ? "minimum" : "maximum";
      const char* exclusive_key = low ? "exclusiveMinimum" : "exclusiveMaximum";
      const Json* exclusive = json_member(node, exclusive_key);
      // As JSON schemas up to draft 4 have it.
      const bool flag = exclusive != nullptr && exclusive->is_boolean();
      if (const Json* bound = json_member(node, key)) add_bound(key, *bound, low, flag && exclusive->get<bool>());
      if (exclusive != nullptr && !flag) add_bound(exclusive_key, *exclusive, low, true);
    }
  }

  void add_bound(const char* key, const Json& bound, bool low, bool exclusive) {
    if (!bound.is_number()) refuse_schema(fmt::format("{} is {}: it must be a number", key, shown_json(bound)));
    const double number = bound.get<double>();
    const bool beyond = std::abs(number) >= 9.2e18;
    std::int64_t value = 0;
    if (beyond) {
      value = number > 0 ? kLargestInteger : -kLargestInteger;
    } else if (bound.is_number_integer()) {
      value = bound.get<long long>() + (!exclusive ? 0 : low ? 1 : -1);
    } else {
      const double rounded = low ? std::ceil(number) : std::floor(number);
      value = static_cast<std::int64_t>(rounded) + (!exclusive || rounded != number ? 0 : low ? 1 : -1);
    }
    std::optional<std::int64_t>& known = low ? facts_.lowest : facts_.highest;
    known = !known ? value : low ? std::max(*known, value) : std::min(*known, value);
  }

  SchemaFacts& facts_;
  SchemaBudget& budget_;
};

}  // namespace

void add_schema_facts(const Json& node, SchemaFacts& facts, SchemaBudget& budget) {
  FactsReader(facts, budget).add(node);
}

}  // namespace dts
