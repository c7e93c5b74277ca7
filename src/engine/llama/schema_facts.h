// What some schemas of a client say of a value, keyword by keyword, when all of them hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/llama/schema_budget.h"
#include "engine/llama/schema_json.h"

namespace dts {

// Of llama.cpp's JSON, and as hidden as it is.
#pragma GCC visibility push(hidden)

using SchemaNodes = std::vector<const common_json*>;  // of the client's schema: all of them hold

// Integers of a schema are cut to this.
inline constexpr std::int64_t kLargestInteger = std::numeric_limits<std::int64_t>::max() - 1;

// Sets of types, as bits: an integer is a number, too.
using SchemaTypes = unsigned;
inline constexpr SchemaTypes kNull = 1, kBoolean = 2, kInteger = 4, kFraction = 8, kNumber = kInteger | kFraction,
                             kString = 16, kArray = 32, kObject = 64, kAllTypes = 127;

// No value obeys all that is asked.
struct SchemaContradiction {
  std::string why;
};

struct SchemaCounts {
  std::int64_t least = 0;
  std::int64_t most = -1;  // -1: any number

  void narrow(const SchemaCounts& other) {
    least = std::max(least, other.least);
    if (other.most >= 0) most = most < 0 ? other.most : std::min(most, other.most);
  }
};

// What some schemas that all hold say together, without references and alternatives.
struct SchemaFacts {
  struct Property {
    std::string name;
    SchemaNodes schemas;
    std::vector<std::size_t> own_of;  // which of `others` do not concern it: whoever says them names it
  };

  SchemaTypes types = kAllTypes;
  bool typed = false;
  std::optional<SchemaNodes> values;
  bool has_properties = false;
  std::vector<Property> properties;
  std::map<std::string, std::size_t> property_of;
  std::vector<std::string> required;
  bool open = false;   // properties that nobody names may come, as far as nothing else is said
  SchemaNodes others;  // false or a schema, each for the properties that whoever says it does not name
  SchemaNodes every;   // for all properties
  SchemaNodes items;   // for all items: of schemas that list none
  const common_json* tuple = nullptr;
  SchemaCounts item_count;
  SchemaCounts length;
  std::optional<std::string> pattern;
  std::string format;
  std::optional<std::int64_t> lowest, highest;
  std::size_t text_bytes = 0;  // of names and the pattern

  std::size_t size() const {
    return properties.size() + required.size() + others.size() + every.size() + (values ? values->size() : 0) +
           text_bytes / SchemaBudget::kBytes;
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

// Adds what the keywords of `node`, an object, say: all but references and alternatives. Throws dts::Error where one is
// not as it must be, and SchemaContradiction where no value obeys it beside what was there.
void add_schema_facts(const common_json& node, SchemaFacts& facts, SchemaBudget& budget);

#pragma GCC visibility pop

}  // namespace dts
