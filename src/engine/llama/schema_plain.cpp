#include "engine/llama/schema_plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/llama/schema_budget.h"
#include "engine/llama/schema_facts.h"
#include "engine/llama/schema_member.h"
#include "engine/llama/schema_nothing.h"
#include "engine/llama/schema_pattern.h"
#include "engine/llama/schema_possible.h"
#include "engine/llama/schema_reference.h"
#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;
using Nodes = SchemaNodes;

constexpr std::size_t kWorkOfPattern = 25;  // a byte of one
constexpr int kMostDepth = 100;             // inside each other: this recurses

// Integers are written with 16 digits at most, as llama.cpp has them, unless the schema wants larger ones.
constexpr std::int64_t kLargestUnasked = 9'999'999'999'999'999;

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
    Json document = possible_schemas(std::move(written_), why_, budget_);
    document["$ref"] = "#/0";
    return document;
  }

 private:
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
      budget_.spend(node->size());
      const Json* reference = json_member(*node, "$ref");
      const Json* all = json_member(*node, "allOf");
      if ((reference == nullptr) == (all == nullptr) || has_own_keywords(*node)) break;
      if (!passed.insert(node).second) refuse_circle();
      if (reference != nullptr) {
        node = &schema_target(root_, *reference, budget_);
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
    budget_.spend(nodes.size() * nodes.size() / 16);
    if (std::any_of(each.begin(), each.end(), [](const Json* node) { return is_nothing_schema(*node); })) {
      note({"a schema is false"});
      return nothing_schema();
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
    SchemaFacts facts;
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
    } catch (const SchemaContradiction& contradiction) {
      note(contradiction);
    }
    --depth_;
    return one_of_schemas(std::move(alternatives));
  }

  void note(const SchemaContradiction& contradiction) {
    if (why_.empty()) why_ = contradiction.why;
  }

  void gather(const Json& node, Gathered& into, std::set<const Json*>& path) {
    if (node.is_boolean()) {
      if (node.get<bool>()) return;
      throw SchemaContradiction{"a schema is false"};
    }
    if (!node.is_object()) {
      refuse_schema("there is " + shown_json(node) + " where a schema must be, which is an object");
    }
    budget_.spend(node.size());
    if (path.contains(&node)) refuse_circle();
    if (!into.had.insert(&node).second) return;
    path.insert(&node);
    if (static_cast<int>(path.size()) > kMostDepth) {
      refuse_schema(fmt::format("allOf must be nested at most {} deep", kMostDepth));
    }
    if (const Json* reference = json_member(node, "$ref")) {
      gather(schema_target(root_, *reference, budget_), into, path);
    }
    if (const Json* all = json_member(node, "allOf")) {
      check_list("allOf", *all);
      for (const Json& part : *all) gather(part, into, path);
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const Json* alternatives = json_member(node, key);
      if (alternatives == nullptr) continue;
      check_list(key, *alternatives);
      into.unions.push_back(alternatives);
    }
    add_schema_facts(node, into.facts, budget_);
    path.erase(&node);
  }

  static void check_list(const char* key, const Json& list) {
    if (!list.is_array() || list.empty()) {
      refuse_schema(fmt::format("{} is {}: it must be a list of at least one schema", key, shown_json(list)));
    }
  }

  // Adds the alternatives to `out`: one of each union, with all else that was gathered.
  void distribute(const Gathered& gathered, Json& out) {
    const auto add = [&](Json alternative) {
      if (!is_nothing_schema(alternative)) out.push_back(std::move(alternative));
    };
    if (gathered.unions.empty()) {
      add(of_facts(gathered.facts));
      return;
    }
    const Json& alternatives = *gathered.unions.back();
    const bool alone = gathered.unions.size() == 1 && gathered.facts.says_nothing();
    for (const Json& alternative : alternatives) {
      budget_.spend(gathered.size());
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
      } catch (const SchemaContradiction& contradiction) {
        note(contradiction);  // not with what stands beside it
      }
    }
  }

  // Writing.

  Json of_facts(const SchemaFacts& facts) {
    budget_.spend(1);
    if (facts.values) return of_values(facts);
    SchemaTypes types = facts.types;
    if (!facts.typed) {
      types = facts.says_object() ? kObject : facts.says_array() ? kArray : facts.says_string() ? kString : kAllTypes;
      if (types == kAllTypes) return Json::object();
    }
    Json alternatives = Json::array();
    const auto add = [&](SchemaTypes type, auto make) {
      if ((types & type) == 0) return;
      try {
        alternatives.push_back(make());
      } catch (const SchemaContradiction& contradiction) {
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
    return one_of_schemas(std::move(alternatives));
  }

  static SchemaTypes type_of(const Json& value) {
    if (value.is_null()) return kNull;
    if (value.is_boolean()) return kBoolean;
    if (value.is_number()) return value.get<double>() == std::floor(value.get<double>()) ? kInteger : kFraction;
    return value.is_string() ? kString : value.is_array() ? kArray : kObject;
  }

  // Those of the types that may be. What else is said of them, as of a string's length, is taken to be true.
  Json of_values(const SchemaFacts& facts) {
    budget_.spend(facts.values->size());
    Json list = Json::array();
    for (const Json* value : *facts.values) {
      if ((type_of(*value) & facts.types) == 0) continue;
      budget_.spend_value(value->dump());
      list.push_back(*value);
    }
    if (list.empty()) throw SchemaContradiction{"none of its values is of its type"};
    Json schema = Json::object();
    if (list.size() == 1) {
      schema["const"] = list[0];
    } else {
      schema["enum"] = std::move(list);
    }
    return schema;
  }

  // What a property that nobody names must be; false: there is none.
  Json unnamed(const SchemaFacts& facts) {
    // Without a word on its properties an object may have any.
    if (facts.leaves_others_unsaid()) return facts.open || !facts.has_properties ? Json::object() : nothing_schema();
    if (std::any_of(facts.others.begin(), facts.others.end(),
                    [](const Json* other) { return is_nothing_schema(*other); })) {
      return nothing_schema();
    }
    Nodes schemas = facts.others;
    schemas.insert(schemas.end(), facts.every.begin(), facts.every.end());
    return written(schemas);
  }

  Json value_of(const SchemaFacts::Property& property, const SchemaFacts& facts) {
    Nodes schemas = property.schemas;
    budget_.spend(facts.others.size() * (property.own_of.size() + 1));
    for (std::size_t i = 0; i < facts.others.size(); ++i) {
      if (std::find(property.own_of.begin(), property.own_of.end(), i) != property.own_of.end()) continue;
      if (is_nothing_schema(*facts.others[i])) {
        note({"additionalProperties forbids the property " + shown_value(property.name)});
        return nothing_schema();
      }
      schemas.push_back(facts.others[i]);
    }
    schemas.insert(schemas.end(), facts.every.begin(), facts.every.end());
    return written(schemas);
  }

  Json object_of(const SchemaFacts& facts) {
    Json more = unnamed(facts);
    const bool open = !is_nothing_schema(more);
    Json properties = Json::object();
    Json required = Json::array();
    budget_.spend(facts.properties.size() * facts.properties.size() / 64);
    for (const SchemaFacts::Property& property : facts.properties) {
      check_name(property.name, open);
      properties[property.name] = value_of(property, facts);
    }
    std::set<std::string> had;
    budget_.spend(facts.required.size());
    for (const std::string& name : facts.required) {
      if (!had.insert(name).second) continue;
      required.push_back(name);
      if (facts.property_of.contains(name)) continue;
      if (!open && !facts.leaves_others_unsaid()) {
        throw SchemaContradiction{"it requires the property " + shown_value(name) + ", and forbids it"};
      }
      check_name(name, open);
      budget_.spend(properties.size() / 16);
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

  static void check_counts(const SchemaCounts& counts, const char* what) {
    if (counts.most >= 0 && counts.most < counts.least) {
      throw SchemaContradiction{fmt::format("it wants at least {} {} and at most {}", counts.least, what, counts.most)};
    }
  }

  Json array_of(const SchemaFacts& facts) {
    SchemaCounts counts = facts.item_count;
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

  Json string_of(const SchemaFacts& facts) {
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
      budget_.spend(pattern.size() * kWorkOfPattern);
      known->second = json_pattern(pattern);
    }
    budget_.spend((pattern.size() + known->second.size()) / SchemaBudget::kBytes);
    return known->second;
  }

  // With both bounds, if with any: with one alone the converter writes zeros before a number.
  static Json integer_of(const SchemaFacts& facts) {
    Json schema = Json::object({{"type", "integer"}});
    if (!facts.lowest && !facts.highest) return schema;
    const std::int64_t given = facts.lowest ? *facts.lowest : *facts.highest;
    const std::int64_t end = std::abs(given) > kLargestUnasked ? kLargestInteger : kLargestUnasked;
    const std::int64_t lowest = facts.lowest ? *facts.lowest : -end;
    const std::int64_t highest = facts.highest ? *facts.highest : end;
    if (lowest > highest) {
      throw SchemaContradiction{fmt::format("no integer is at least {} and at most {}", lowest, highest)};
    }
    schema["minimum"] = lowest;
    schema["maximum"] = highest;
    return schema;
  }

  const Json& root_;
  SchemaBudget budget_;
  std::vector<Json> written_;    // by number
  std::vector<Nodes> to_write_;  // by number
  std::map<Nodes, std::size_t> numbers_;
  std::map<std::string, std::string> patterns_;  // as a client has them, and in JSON
  std::string why_;                              // of the first contradiction
  std::size_t most_written_ = 0;
  int depth_ = 0;
};

}  // namespace

common_json plain_schema(const common_json& schema) { return PlainWriter(schema).write(); }

}  // namespace dts
