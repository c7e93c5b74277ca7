#include "engine/llama/schema_plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/llama/schema_pattern.h"
#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;
using Nodes = std::vector<const Json*>;  // of the client's schema: all of them hold

constexpr std::int64_t kMostWork = 2'000'000;  // members looked at and schemas written: some 0.1 s
constexpr std::size_t kBytesOfWork = 16;       // that are copied in the time of one of these
constexpr std::size_t kWorkOfPattern = 25;     // a byte of one
constexpr int kMostDepth = 100;                // inside each other: this recurses
constexpr std::int64_t kMostCount = 2000;      // of items and characters: what a grammar may repeat

// Integers are written with 16 digits at most, as llama.cpp has them, unless the schema wants larger ones.
constexpr std::int64_t kLargestUnasked = 9'999'999'999'999'999;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() - 1;

// Sets of types, as bits: an integer is a number, too.
using Types = unsigned;
constexpr Types kNull = 1, kBoolean = 2, kInteger = 4, kFraction = 8, kNumber = kInteger | kFraction, kString = 16,
                kArray = 32, kObject = 64, kAllTypes = 127;

const std::vector<std::pair<std::string_view, Types>> kTypeNames = {
    {"null", kNull},     {"boolean", kBoolean}, {"number", kNumber}, {"integer", kInteger},
    {"string", kString}, {"array", kArray},     {"object", kObject}};

// Keywords that say something of the value and that we read; with none of them beside it, a reference is all there is.
const std::vector<const char*> kOwnKeywords = {"type",
                                               "const",
                                               "enum",
                                               "properties",
                                               "required",
                                               "additionalProperties",
                                               "patternProperties",
                                               "items",
                                               "prefixItems",
                                               "format",
                                               "minItems",
                                               "maxItems",
                                               "pattern",
                                               "minLength",
                                               "maxLength",
                                               "minimum",
                                               "maximum",
                                               "anyOf",
                                               "oneOf",
                                               "exclusiveMinimum",
                                               "exclusiveMaximum"};

// No value obeys all that is asked.
struct Contradiction {
  std::string why;
};

struct Counts {
  std::int64_t least = 0;
  std::int64_t most = -1;  // -1: any number

  void narrow(const Counts& other) {
    least = std::max(least, other.least);
    if (other.most >= 0) most = most < 0 ? other.most : std::min(most, other.most);
  }
};

// What some schemas that all hold say together, without references and alternatives.
struct Facts {
  struct Property {
    std::string name;
    Nodes schemas;
    std::vector<std::size_t> own_of;  // which of `others` do not concern it: whoever says them names it
  };

  Types types = kAllTypes;
  bool typed = false;
  std::optional<Nodes> values;
  bool has_properties = false;
  std::vector<Property> properties;
  std::map<std::string, std::size_t> property_of;
  std::vector<std::string> required;
  bool open = false;  // properties that nobody names may come, as far as nothing else is said
  Nodes others;       // false or a schema, each for the properties that whoever says it does not name
  Nodes every;        // for all properties
  Nodes items;        // for all items: of schemas that list none
  const Json* tuple = nullptr;
  Counts item_count;
  Counts length;
  std::optional<std::string> pattern;
  std::string format;
  std::optional<std::int64_t> lowest, highest;
  std::size_t text_bytes = 0;  // of names and the pattern

  std::size_t size() const {
    return properties.size() + required.size() + others.size() + every.size() + (values ? values->size() : 0) +
           text_bytes / kBytesOfWork;
  }
  bool says_nothing() const {
    return !typed && !values && !says_object() && !says_array() && !says_string() && !open && item_count.least == 0 &&
           item_count.most < 0 && !lowest && !highest;
  }
  bool says_object() const { return has_properties || !others.empty() || !every.empty() || !required.empty(); }
  bool leaves_others_unsaid() const { return others.empty() && every.empty(); }
  bool says_array() const { return !items.empty() || tuple != nullptr; }
  bool says_string() const { return pattern || length.least > 0 || length.most >= 0 || !format.empty(); }
};

const Json* member(const Json& node, const std::string& key) { return node.contains(key) ? &node.at(key) : nullptr; }

std::string shown(const Json& value) {
  return shown_value(value.is_string() ? value.get<std::string>() : value.dump());
}

class PlainWriter {
 public:
  explicit PlainWriter(const Json& root) : root_(root) {}

  Json write() {
    most_written_ = root_.dump().size() / 16 + 100;
    number_of({chase(&root_).node});
    // One after the other and not inside each other: definitions may lead to definitions without end.
    for (std::size_t i = 0; i < written_.size(); ++i) {
      const Nodes nodes = to_write_[i];
      written_[i] = content(nodes);
    }
    find_possible();
    if (!possible_[0]) {
      refuse_schema("no value can obey it: " + (why_.empty() ? "it asks for itself inside itself, without end" : why_));
    }
    const bool all = why_.empty() && std::find(possible_.begin(), possible_.end(), false) == possible_.end();
    Json document = Json::object();
    document["$ref"] = "#/0";
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (!possible_[i]) continue;  // nothing that is left refers to it
      if (!all) without_impossible(written_[i]);
      document[std::to_string(i)] = std::move(written_[i]);
    }
    return document;
  }

 private:
  void spend(std::size_t work) {
    work_ += static_cast<std::int64_t>(work) + 1;
    if (work_ > kMostWork) refuse_schema("it grows without measure once what it refers to is put in its place");
  }

  // References.

  const Json& target_of(const Json& reference) {
    if (!reference.is_string())
      refuse_schema("$ref is " + shown(reference) + ": it must be a string such as #/$defs/a");
    const std::string text = reference.get<std::string>();
    if (text != "#" && !text.starts_with("#/")) {
      refuse_schema("$ref is " + shown_value(text) + ": it must point into the same schema, as #/$defs/a does");
    }
    const Json* target = &root_;
    for (std::size_t at = 1; at < text.size();) {
      const std::size_t end = std::min(text.find('/', at + 1), text.size());
      const std::string name = unescaped(std::string_view(text).substr(at + 1, end - at - 1));
      spend(target->size() / 16);
      if (target->is_object() && target->contains(name)) {
        target = &target->at(name);
      } else if (const std::size_t index = index_of(name); target->is_array() && index < target->size()) {
        target = &target->at(index);
      } else {
        refuse_schema("$ref is " + shown_value(text) + ": it must point at a part of the schema, and there is none");
      }
      at = end;
    }
    return *target;
  }

  // ~0 and ~1 as JSON pointers have them, %XX as addresses have them.
  static std::string unescaped(std::string_view name) {
    std::string text;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::string_view two = name.substr(i, 2);
      if (two == "~0" || two == "~1") {
        text += two == "~0" ? '~' : '/';
        ++i;
      } else if (name[i] == '%' && hex_digit(name, i + 1) >= 0 && hex_digit(name, i + 2) >= 0) {
        text += static_cast<char>(hex_digit(name, i + 1) * 16 + hex_digit(name, i + 2));
        i += 2;
      } else {
        text += name[i];
      }
    }
    return text;
  }

  static int hex_digit(std::string_view text, std::size_t at) {
    const char c = at < text.size() ? text[at] : '\0';
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }

  static std::size_t index_of(const std::string& name) {
    const bool number = !name.empty() && name.size() < 7 && name.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::stoul(name) : std::numeric_limits<std::size_t>::max();
  }

  static bool has_own_keywords(const Json& node) {
    return std::any_of(kOwnKeywords.begin(), kOwnKeywords.end(), [&](const char* key) { return node.contains(key); });
  }

  struct Chased {
    const Json* node;
    bool referred;  // by $ref, and so from elsewhere, too
  };

  // Through references, and `allOf` of one schema, that have nothing beside them.
  Chased chase(const Json* node) {
    std::set<const Json*> passed;
    bool referred = false;
    while (node->is_object()) {
      spend(node->size());
      const Json* reference = member(*node, "$ref");
      const Json* all = member(*node, "allOf");
      if ((reference == nullptr) == (all == nullptr) || has_own_keywords(*node)) break;
      if (!passed.insert(node).second) refuse_circle();
      if (reference != nullptr) {
        node = &target_of(*reference);
        referred = true;
      } else if (all->is_array() && all->size() == 1) {
        node = &all->at(std::size_t{0});
      } else {
        break;
      }
    }
    return {node, referred};
  }

  [[noreturn]] static void refuse_circle() {
    refuse_schema("a $ref leads back to itself with nothing between: there must be a property or an item");
  }

  // What several schemas say together.

  static bool is_put_together(const Json& node) {
    if (!node.is_object()) return false;
    if (node.contains("allOf") || node.contains("$ref")) return true;
    if (!node.contains("anyOf") && !node.contains("oneOf")) return false;
    std::size_t own = 0;
    for (const char* key : kOwnKeywords) own += node.contains(key) ? 1 : 0;
    return own > 1;
  }

  // A schema for a value that obeys all of `nodes`; false: there is none.
  Json written(Nodes nodes) {
    bool referred = false;
    for (const Json*& node : nodes) {
      const Chased chased = chase(node);
      node = chased.node;
      referred = referred || chased.referred;
    }
    Nodes each;  // once, in the order they came in: keys are written in it
    for (const Json* node : nodes) {
      if (std::find(each.begin(), each.end(), node) == each.end()) each.push_back(node);
    }
    spend(nodes.size() * nodes.size() / 16);
    if (std::any_of(each.begin(), each.end(), [](const Json* node) { return is_nothing(*node); })) {
      note({"a schema is false"});
      return nothing();
    }
    if (each.size() == 1 && !referred && !is_put_together(*each[0])) return content(each);
    return Json::object({{"$ref", "#/" + std::to_string(number_of(each))}});
  }

  std::size_t number_of(const Nodes& nodes) {
    const auto [known, is_new] = numbers_.try_emplace(nodes, written_.size());
    if (is_new) {
      written_.emplace_back();
      to_write_.push_back(nodes);
      // The converter recurses into each.
      if (written_.size() > most_written_) refuse_schema("its parts are put together in too many ways");
    }
    return known->second;
  }

  struct Gathered {
    Facts facts;
    Nodes unions;               // lists of which one alternative each must hold
    std::set<const Json*> had;  // whose words are in the facts

    // What a copy of it costs: alternatives are given one each.
    std::size_t size() const { return had.size() + unions.size() + facts.size(); }
  };

  Json content(const Nodes& nodes) {
    if (++depth_ > kMostDepth) refuse_schema(fmt::format("it must be nested at most {} deep", kMostDepth));
    Gathered gathered;
    Json alternatives = Json::array();
    try {
      std::set<const Json*> path;
      for (const Json* node : nodes) gather(*node, gathered, path);
      distribute(gathered, alternatives);
    } catch (const Contradiction& contradiction) {
      note(contradiction);
    }
    --depth_;
    return one_of(std::move(alternatives));
  }

  static Json one_of(Json alternatives) {
    if (alternatives.empty()) return nothing();
    if (alternatives.size() == 1) return alternatives[0];
    Json any = Json::object();
    any["anyOf"] = std::move(alternatives);
    return any;
  }

  // What no value obeys is written as false, until all is written and it is known what that leaves of the rest: a
  // property that need not be there is not, a list may be empty, an alternative is none.

  static Json nothing() { return Json(false); }
  static bool is_nothing(const Json& schema) { return schema.is_boolean() && !schema.get<bool>(); }
  void note(const Contradiction& contradiction) {
    if (why_.empty()) why_ = contradiction.why;
  }

  // Those of the written schemas that some value obeys. What refers to itself has one when it has one without itself.
  void find_possible() {
    possible_.assign(written_.size(), false);
    for (bool more = true; more;) {
      more = false;
      // Most refer to those that were written after them.
      for (std::size_t i = written_.size(); i-- > 0;) {
        if (possible_[i] || !has_value(written_[i])) continue;
        possible_[i] = more = true;
      }
    }
  }

  // By what is known so far.
  bool has_value(const Json& schema) {
    if (schema.is_boolean()) return false;
    spend(schema.size());
    if (const Json* reference = member(schema, "$ref")) {
      return possible_[std::stoul(reference->get<std::string>().substr(2))];
    }
    if (const Json* alternatives = member(schema, "anyOf")) {
      return std::any_of(alternatives->begin(), alternatives->end(), [&](const Json& one) { return has_value(one); });
    }
    if (const Json* items = member(schema, "items")) {
      if (!items->is_array()) return !schema.contains("minItems") || has_value(*items);
      return std::all_of(items->begin(), items->end(), [&](const Json& item) { return has_value(item); });
    }
    const Json* required = member(schema, "required");
    if (required == nullptr) return true;
    const std::set<std::string> names = names_of(*required);
    const Json& properties = schema.at("properties");
    spend_members(properties);
    for (const auto& [name, property] : properties.items()) {
      if (names.contains(name) && !has_value(property)) return false;
    }
    return true;
  }

  std::set<std::string> names_of(const Json& list) {
    std::set<std::string> names;
    spend(list.size());
    for (const Json& name : list) names.insert(name.get<std::string>());
    return names;
  }

  // Of a schema that has a value, once they are all known.
  void without_impossible(Json& schema) {
    spend(schema.size());
    if (schema.contains("anyOf")) {
      Json left = Json::array();
      for (Json& one : schema["anyOf"]) {
        if (!has_value(one)) continue;
        without_impossible(one);
        left.push_back(std::move(one));
      }
      schema = one_of(std::move(left));
    } else if (schema.contains("items")) {
      Json& items = schema["items"];
      if (items.is_array()) {
        for (Json& item : items) without_impossible(item);
      } else if (has_value(items)) {
        without_impossible(items);
      } else {
        schema = Json::object({{"const", Json::array()}});
      }
    } else if (schema.contains("additionalProperties")) {
      Json& more = schema["additionalProperties"];
      if (more.is_object() && !has_value(more)) more = false;
      if (more.is_object()) without_impossible(more);
      if (schema.contains("properties")) leave_possible(schema["properties"], is_nothing(more));
    }
  }

  void leave_possible(Json& properties, bool closed) {
    spend_members(properties);
    Json left = Json::object();
    for (const auto& [name, property] : properties.items()) {
      if (has_value(property)) {
        without_impossible(property);
        left[name] = std::move(property);
      } else if (!closed) {
        refuse_schema("the property " + shown_value(name) +
                      " can have no value, and others than those named may come: additionalProperties must be false");
      }
    }
    properties = std::move(left);
  }

  void gather(const Json& node, Gathered& into, std::set<const Json*>& path) {
    if (node.is_boolean()) {
      if (node.get<bool>()) return;
      throw Contradiction{"a schema is false"};
    }
    if (!node.is_object()) refuse_schema("there is " + shown(node) + " where a schema must be, which is an object");
    spend(node.size());
    if (path.contains(&node)) refuse_circle();
    if (!into.had.insert(&node).second) return;
    path.insert(&node);
    if (static_cast<int>(path.size()) > kMostDepth) {
      refuse_schema(fmt::format("allOf must be nested at most {} deep", kMostDepth));
    }
    if (const Json* reference = member(node, "$ref")) gather(target_of(*reference), into, path);
    if (const Json* all = member(node, "allOf")) {
      check_list("allOf", *all);
      for (const Json& part : *all) gather(part, into, path);
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const Json* alternatives = member(node, key);
      if (alternatives == nullptr) continue;
      check_list(key, *alternatives);
      into.unions.push_back(alternatives);
    }
    add_facts(node, into.facts);
    path.erase(&node);
  }

  static void check_list(const char* key, const Json& list) {
    if (!list.is_array() || list.empty()) {
      refuse_schema(fmt::format("{} is {}: it must be a list of at least one schema", key, shown(list)));
    }
  }

  // Adds the alternatives to `out`: one of each union, with all else that was gathered.
  void distribute(const Gathered& gathered, Json& out) {
    const auto add = [&](Json alternative) {
      if (!is_nothing(alternative)) out.push_back(std::move(alternative));
    };
    if (gathered.unions.empty()) {
      add(of_facts(gathered.facts));
      return;
    }
    const Json& alternatives = *gathered.unions.back();
    const bool alone = gathered.unions.size() == 1 && gathered.facts.says_nothing();
    for (const Json& alternative : alternatives) {
      spend(gathered.size());
      if (alone) {
        add(written({&alternative}));
        continue;
      }
      Gathered chosen = gathered;
      chosen.unions.pop_back();
      try {
        std::set<const Json*> path;
        gather(alternative, chosen, path);
        distribute(chosen, out);
      } catch (const Contradiction& contradiction) {
        note(contradiction);  // not with what stands beside it
      }
    }
  }

  // Keywords.

  void add_facts(const Json& node, Facts& facts) {
    if (const Json* type = member(node, "type")) add_types(*type, facts);
    add_values(node, facts);
    add_object_facts(node, facts);
    add_array_facts(node, facts);
    add_string_facts(node, facts);
    add_bounds(node, facts);
  }

  static Types type_named(const Json& name) {
    for (const auto& [known, type] : kTypeNames) {
      if (name.is_string() && name.get<std::string>() == known) return type;
    }
    refuse_schema("type is " + shown(name) +
                  ": it must be null, boolean, number, integer, string, array, object, or a list of these");
  }

  static void add_types(const Json& type, Facts& facts) {
    Types types = 0;
    if (type.is_array() && !type.empty()) {
      for (const Json& name : type) types |= type_named(name);
    } else {
      types = type_named(type);
    }
    facts.types &= types;
    facts.typed = true;
    if (facts.types == 0) throw Contradiction{"its types exclude each other"};
  }

  void add_values(const Json& node, Facts& facts) {
    Nodes values;
    if (const Json* constant = member(node, "const")) {
      values.push_back(constant);
    } else if (const Json* list = member(node, "enum")) {
      if (!list->is_array() || list->empty()) {
        refuse_schema("enum is " + shown(*list) + ": it must be a list of at least one value");
      }
      spend(list->size());
      for (const Json& value : *list) values.push_back(&value);
    } else {
      return;
    }
    if (!facts.values) {
      facts.values = std::move(values);
      return;
    }
    std::set<std::string> known;
    for (const Json* value : *facts.values) known.insert(spend_value(value->dump()));
    Nodes both;
    for (const Json* value : values) {
      if (known.contains(spend_value(value->dump()))) both.push_back(value);
    }
    if (both.empty()) throw Contradiction{"its lists of values have none in common"};
    facts.values = std::move(both);
  }

  // llama.cpp's JSON counts to each.
  void spend_members(const Json& object) { spend(object.size() + object.size() * object.size() / 64); }

  // What stands in one place may be copied to many.
  void spend_text(const std::string& text, Facts& facts) {
    spend(text.size() / kBytesOfWork);
    facts.text_bytes += text.size();
  }

  // Likewise, as JSON: in memory it is longer.
  const std::string& spend_value(const std::string& text) {
    spend(4 * text.size() / kBytesOfWork);
    return text;
  }

  void add_object_facts(const Json& node, Facts& facts) {
    std::vector<std::size_t> named;
    if (const Json* properties = member(node, "properties")) {
      if (!properties->is_object()) refuse_schema("properties is " + shown(*properties) + ": it must be an object");
      facts.has_properties = true;
      spend_members(*properties);
      for (const auto& [name, schema] : properties->items()) {
        spend_text(name, facts);
        const auto [known, is_new] = facts.property_of.try_emplace(name, facts.properties.size());
        if (is_new) facts.properties.push_back({name, {}, {}});
        facts.properties[known->second].schemas.push_back(&schema);
        named.push_back(known->second);
      }
    }
    if (const Json* required = member(node, "required"); required != nullptr && required->is_array()) {
      spend(required->size());
      for (const Json& name : *required) {
        if (!name.is_string()) continue;
        facts.required.push_back(name.get<std::string>());
        spend_text(facts.required.back(), facts);
      }
    }
    add_others(node, named, facts);
  }

  // What is said of the properties that a schema does not name. It holds for those that other schemas name, too.
  void add_others(const Json& node, const std::vector<std::size_t>& named, Facts& facts) {
    const Json* more = member(node, "additionalProperties");
    if (more != nullptr && !more->is_boolean() && !more->is_object()) {
      refuse_schema("additionalProperties is " + shown(*more) + ": it must be true, false or a schema");
    }
    const bool bounded = more != nullptr && (more->is_object() ? !more->empty() : is_nothing(*more));
    if (const Json* patterns = member(node, "patternProperties"); patterns != nullptr) {
      if (add_patterns(*patterns, bounded, facts)) return;
    }
    if (more == nullptr) return;
    if (!bounded) {
      facts.open = true;
      return;
    }
    for (const std::size_t property : named) facts.properties[property].own_of.push_back(facts.others.size());
    facts.others.push_back(more);
  }

  // Does one of them match all names? Then no property is an additional one.
  bool add_patterns(const Json& patterns, bool bounded, Facts& facts) {
    if (!patterns.is_object()) refuse_schema("patternProperties is " + shown(patterns) + ": it must be an object");
    spend_members(patterns);
    bool all = false;
    for (const auto& [pattern, schema] : patterns.items()) {
      if (!matches_all(pattern)) continue;
      facts.every.push_back(&schema);
      all = true;
    }
    if (all || patterns.empty()) return all;
    if (bounded) {
      refuse_schema("patternProperties has " + shown_value((*patterns.items().begin()).k) +
                    ": beside additionalProperties it must be '.*', which is all names, or be left out");
    }
    facts.open = true;
    return false;
  }

  static bool matches_all(const std::string& pattern) {
    constexpr std::array<std::string_view, 9> kAll = {"", "^", "$", ".*", "^.*", ".*$", "^.*$", "(.*)", "^(.*)$"};
    return std::find(kAll.begin(), kAll.end(), pattern) != kAll.end();
  }

  static Counts read_counts(const Json& node, const char* least, const char* most) {
    Counts counts;
    for (const char* key : {least, most}) {
      const Json* value = member(node, key);
      if (value == nullptr) continue;
      const double number = value->is_number() ? value->get<double>() : -1;
      if (number < 0 || number != std::floor(number)) {
        refuse_schema(fmt::format("{} is {}: it must be a whole number from 0 on", key, shown(*value)));
      }
      if (key == least && number > static_cast<double>(kMostCount)) {
        refuse_schema(fmt::format("{} is {}: it must be at most {}", key, shown(*value), kMostCount));
      }
      // More than a grammar counts to: as good as no bound.
      const bool bounded = number <= static_cast<double>(kMostCount);
      (key == least ? counts.least : counts.most) = bounded ? static_cast<std::int64_t>(number) : -1;
    }
    return counts;
  }

  static void check_counts(const Counts& counts, const char* what) {
    if (counts.most >= 0 && counts.most < counts.least) {
      throw Contradiction{fmt::format("it wants at least {} {} and at most {}", counts.least, what, counts.most)};
    }
  }

  static void add_array_facts(const Json& node, Facts& facts) {
    facts.item_count.narrow(read_counts(node, "minItems", "maxItems"));
    const Json* items = member(node, "items");
    const Json* tuple = member(node, "prefixItems");
    if (tuple == nullptr && items != nullptr && items->is_array()) tuple = items;
    if (tuple != nullptr && !tuple->is_array()) {
      refuse_schema("prefixItems is " + shown(*tuple) + ": it must be a list of schemas");
    }
    if (tuple == nullptr) {
      if (items != nullptr) facts.items.push_back(items);
      return;
    }
    if (facts.tuple != nullptr) refuse_schema("allOf must have lists of items only once");
    facts.tuple = tuple;
  }

  void add_string_facts(const Json& node, Facts& facts) {
    facts.length.narrow(read_counts(node, "minLength", "maxLength"));
    if (const Json* pattern = member(node, "pattern")) {
      if (!pattern->is_string()) refuse_schema("pattern is " + shown(*pattern) + ": it must be a string");
      const std::string text = pattern->get<std::string>();
      if (facts.pattern && *facts.pattern != text) refuse_schema("allOf must have a pattern only once");
      spend_text(text, facts);
      if (!text.empty()) facts.pattern = text;
    }
    if (const Json* format = member(node, "format")) {
      if (!format->is_string()) refuse_schema("format is " + shown(*format) + ": it must be a string");
      const std::string name = format->get<std::string>();
      for (const char* known : {"date", "time", "date-time", "uuid", "uuid1", "uuid2", "uuid3", "uuid4", "uuid5"}) {
        if (name == known) facts.format = name;
      }
    }
  }

  // Of integers; those of other numbers no grammar of llama.cpp's counts.
  static void add_bounds(const Json& node, Facts& facts) {
    for (const bool low : {true, false}) {
      const char* key = low ? "minimum" : "maximum";
      const char* exclusive_key = low ? "exclusiveMinimum" : "exclusiveMaximum";
      const Json* exclusive = member(node, exclusive_key);
      // As JSON schemas up to draft 4 have it.
      const bool flag = exclusive != nullptr && exclusive->is_boolean();
      if (const Json* bound = member(node, key)) add_bound(key, *bound, low, flag && exclusive->get<bool>(), facts);
      if (exclusive != nullptr && !flag) add_bound(exclusive_key, *exclusive, low, true, facts);
    }
  }

  static void add_bound(const char* key, const Json& bound, bool low, bool exclusive, Facts& facts) {
    if (!bound.is_number()) refuse_schema(fmt::format("{} is {}: it must be a number", key, shown(bound)));
    const double number = bound.get<double>();
    const bool beyond = std::abs(number) >= 9.2e18;
    std::int64_t value = 0;
    if (beyond) {
      value = number > 0 ? kLargest : -kLargest;
    } else if (bound.is_number_integer()) {
      value = bound.get<long long>() + (!exclusive ? 0 : low ? 1 : -1);
    } else {
      const double rounded = low ? std::ceil(number) : std::floor(number);
      value = static_cast<std::int64_t>(rounded) + (!exclusive || rounded != number ? 0 : low ? 1 : -1);
    }
    std::optional<std::int64_t>& known = low ? facts.lowest : facts.highest;
    known = !known ? value : low ? std::max(*known, value) : std::min(*known, value);
  }

  // Writing.

  Json of_facts(const Facts& facts) {
    spend(1);
    if (facts.values) return of_values(facts);
    Types types = facts.types;
    if (!facts.typed) {
      types = facts.says_object() ? kObject : facts.says_array() ? kArray : facts.says_string() ? kString : kAllTypes;
      if (types == kAllTypes) return Json::object();
    }
    Json alternatives = Json::array();
    const auto add = [&](Types type, auto make) {
      if ((types & type) == 0) return;
      try {
        alternatives.push_back(make());
      } catch (const Contradiction& contradiction) {
        note(contradiction);  // it may be of the other types
      }
    };
    const auto plain = [](const char* type) { return [type] { return Json::object({{"type", type}}); }; };
    add(kObject, [&] { return object_of(facts); });
    add(kArray, [&] { return array_of(facts); });
    add(kString, [&] { return string_of(facts); });
    if ((types & kFraction) != 0) {
      add(kFraction, plain("number"));
    } else {
      add(kInteger, [&] { return integer_of(facts); });
    }
    add(kBoolean, plain("boolean"));
    add(kNull, plain("null"));
    return one_of(std::move(alternatives));
  }

  static Types type_of(const Json& value) {
    if (value.is_null()) return kNull;
    if (value.is_boolean()) return kBoolean;
    if (value.is_number()) return value.get<double>() == std::floor(value.get<double>()) ? kInteger : kFraction;
    return value.is_string() ? kString : value.is_array() ? kArray : kObject;
  }

  // Those of the types that may be. What else is said of them, as of a string's length, is taken to be true.
  Json of_values(const Facts& facts) {
    spend(facts.values->size());
    Json list = Json::array();
    for (const Json* value : *facts.values) {
      if ((type_of(*value) & facts.types) == 0) continue;
      spend_value(value->dump());
      list.push_back(*value);
    }
    if (list.empty()) throw Contradiction{"none of its values is of its type"};
    Json schema = Json::object();
    if (list.size() == 1) {
      schema["const"] = list[0];
    } else {
      schema["enum"] = std::move(list);
    }
    return schema;
  }

  // What a property that nobody names must be; false: there is none.
  Json unnamed(const Facts& facts) {
    // Without a word on its properties an object may have any.
    if (facts.leaves_others_unsaid()) return facts.open || !facts.has_properties ? Json::object() : nothing();
    if (std::any_of(facts.others.begin(), facts.others.end(), [](const Json* other) { return is_nothing(*other); })) {
      return nothing();
    }
    Nodes schemas = facts.others;
    schemas.insert(schemas.end(), facts.every.begin(), facts.every.end());
    return written(schemas);
  }

  Json value_of(const Facts::Property& property, const Facts& facts) {
    Nodes schemas = property.schemas;
    spend(facts.others.size() * (property.own_of.size() + 1));
    for (std::size_t i = 0; i < facts.others.size(); ++i) {
      if (std::find(property.own_of.begin(), property.own_of.end(), i) != property.own_of.end()) continue;
      if (is_nothing(*facts.others[i])) {
        note({"additionalProperties forbids the property " + shown_value(property.name)});
        return nothing();
      }
      schemas.push_back(facts.others[i]);
    }
    schemas.insert(schemas.end(), facts.every.begin(), facts.every.end());
    return written(schemas);
  }

  Json object_of(const Facts& facts) {
    Json more = unnamed(facts);
    const bool open = !is_nothing(more);
    Json properties = Json::object();
    Json required = Json::array();
    spend(facts.properties.size() * facts.properties.size() / 64);
    for (const Facts::Property& property : facts.properties) {
      check_name(property.name, open);
      properties[property.name] = value_of(property, facts);
    }
    std::set<std::string> had;
    spend(facts.required.size());
    for (const std::string& name : facts.required) {
      if (!had.insert(name).second) continue;
      required.push_back(name);
      if (facts.property_of.contains(name)) continue;
      if (!open && !facts.leaves_others_unsaid()) {
        throw Contradiction{"it requires the property " + shown_value(name) + ", and forbids it"};
      }
      check_name(name, open);
      spend(properties.size() / 16);
      properties[name] = open ? unnamed(facts) : Json::object();
    }
    Json schema = Json::object({{"type", "object"}});
    if (!properties.empty() || facts.has_properties) schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    if (open && more.empty()) more = true;
    schema["additionalProperties"] = std::move(more);
    return schema;
  }

  // The converter has "*" for all others, and writes the names that others must not have into classes as they are.
  static void check_name(const std::string& name, bool open) {
    if (name == "*") refuse_schema("a property is named '*': it must have another name");
    if (!open) return;
    if (name.empty()) refuse_schema("a property is named '': beside additionalProperties it must have a name");
    for (const char c : name) {
      if (static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\' && c != ']' && c != '^' && c != 0x7F) continue;
      refuse_schema(
          "a property is named " + shown_value(name) +
          ": beside additionalProperties a name must have no quotes, backslashes, ], ^ and control characters");
    }
  }

  Json array_of(const Facts& facts) {
    Counts counts = facts.item_count;
    check_counts(counts, "items");
    Json schema = Json::object({{"type", "array"}});
    if (facts.tuple != nullptr) {
      const auto size = static_cast<std::int64_t>(facts.tuple->size());
      if (size < counts.least || (counts.most >= 0 && size > counts.most)) {
        refuse_schema(
            fmt::format("it lists {} items: minItems and maxItems beside them must allow just so many", size));
      }
      Json items = Json::array();
      for (const Json& item : *facts.tuple) {
        Nodes schemas = {&item};
        schemas.insert(schemas.end(), facts.items.begin(), facts.items.end());
        items.push_back(written(schemas));
      }
      schema["items"] = std::move(items);
      return schema;
    }
    if (!facts.items.empty()) schema["items"] = written(facts.items);
    if (counts.least > 0) schema["minItems"] = counts.least;
    if (counts.most >= 0) schema["maxItems"] = counts.most;
    return schema;
  }

  Json string_of(const Facts& facts) {
    check_counts(facts.length, "characters");
    Json schema = Json::object({{"type", "string"}});
    if (facts.pattern) {
      schema["pattern"] = pattern_in_json(*facts.pattern);
    } else if (!facts.format.empty()) {
      schema["format"] = facts.format;
    } else {
      if (facts.length.least > 0) schema["minLength"] = facts.length.least;
      if (facts.length.most >= 0) schema["maxLength"] = facts.length.most;
    }
    return schema;
  }

  // Each once, however many alternatives it stands beside. It may become a hundred times as long.
  const std::string& pattern_in_json(const std::string& pattern) {
    const auto [known, is_new] = patterns_.try_emplace(pattern);
    if (is_new) {
      spend(pattern.size() * kWorkOfPattern);
      known->second = json_pattern(pattern);
    }
    spend((pattern.size() + known->second.size()) / kBytesOfWork);
    return known->second;
  }

  // With both bounds, if with any: with one alone the converter writes zeros before a number.
  static Json integer_of(const Facts& facts) {
    Json schema = Json::object({{"type", "integer"}});
    if (!facts.lowest && !facts.highest) return schema;
    const std::int64_t given = facts.lowest ? *facts.lowest : *facts.highest;
    const std::int64_t end = std::abs(given) > kLargestUnasked ? kLargest : kLargestUnasked;
    const std::int64_t lowest = facts.lowest ? *facts.lowest : -end;
    const std::int64_t highest = facts.highest ? *facts.highest : end;
    if (lowest > highest) {
      throw Contradiction{fmt::format("no integer is at least {} and at most {}", lowest, highest)};
    }
    schema["minimum"] = lowest;
    schema["maximum"] = highest;
    return schema;
  }

  const Json& root_;
  std::vector<Json> written_;    // by number
  std::vector<Nodes> to_write_;  // by number
  std::map<Nodes, std::size_t> numbers_;
  std::map<std::string, std::string> patterns_;  // as a client has them, and in JSON
  std::vector<bool> possible_;                   // by number, once all are written: some value obeys it
  std::string why_;                              // of the first contradiction
  std::size_t most_written_ = 0;
  std::int64_t work_ = 0;
  int depth_ = 0;
};

}  // namespace

common_json plain_schema(const common_json& schema) { return PlainWriter(schema).write(); }

}  // namespace dts
