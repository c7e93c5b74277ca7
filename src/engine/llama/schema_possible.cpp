#include "engine/llama/schema_possible.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/llama/schema_member.h"
#include "engine/llama/schema_nothing.h"
#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Json = common_json;

class PossibleSchemas {
 public:
  PossibleSchemas(std::vector<Json> written, SchemaBudget& budget) : written_(std::move(written)), budget_(budget) {}

  Json take(const std::string& why) {
    find_possible();
    if (!possible_[0]) {
      refuse_schema("no value can obey it: " + (why.empty() ? "it asks for itself inside itself, without end" : why));
    }
    const bool all = why.empty() && std::find(possible_.begin(), possible_.end(), false) == possible_.end();
    Json document = Json::object();
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (!possible_[i]) continue;  // nothing that is left refers to it
      if (!all) without_impossible(written_[i]);
      document[std::to_string(i)] = std::move(written_[i]);
    }
    return document;
  }

 private:
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
    budget_.spend(schema.size());
    if (const Json* reference = json_member(schema, "$ref")) {
      return possible_[std::stoul(reference->get<std::string>().substr(2))];
    }
    if (const Json* alternatives = json_member(schema, "anyOf")) {
      return std::any_of(alternatives->begin(), alternatives->end(), [&](const Json& one) { return has_value(one); });
    }
    if (const Json* items = json_member(schema, "items")) {
      if (!items->is_array()) return !schema.contains("minItems") || has_value(*items);
      return std::all_of(items->begin(), items->end(), [&](const Json& item) { return has_value(item); });
    }
    const Json* required = json_member(schema, "required");
    if (required == nullptr) return true;
    const std::set<std::string> names = names_of(*required);
    const Json& properties = schema.at("properties");
    budget_.spend_members(properties);
    for (const auto& [name, property] : properties.items()) {
      if (names.contains(name) && !has_value(property)) return false;
    }
    return true;
  }

  std::set<std::string> names_of(const Json& list) {
    std::set<std::string> names;
    budget_.spend(list.size());
    for (const Json& name : list) names.insert(name.get<std::string>());
    return names;
  }

  // Of a schema that has a value, once they are all known.
  void without_impossible(Json& schema) {
    budget_.spend(schema.size());
    if (schema.contains("anyOf")) {
      Json left = Json::array();
      for (Json& one : schema["anyOf"]) {
        if (!has_value(one)) continue;
        without_impossible(one);
        left.push_back(std::move(one));
      }
      schema = one_of_schemas(std::move(left));
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
      if (schema.contains("properties")) leave_possible(schema["properties"], is_nothing_schema(more));
    }
  }

  void leave_possible(Json& properties, bool closed) {
    budget_.spend_members(properties);
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

  std::vector<Json> written_;   // by number
  std::vector<bool> possible_;  // by number
  SchemaBudget& budget_;
};

}  // namespace

Json possible_schemas(std::vector<Json> written, const std::string& why, SchemaBudget& budget) {
  return PossibleSchemas(std::move(written), budget).take(why);
}

}  // namespace dts
