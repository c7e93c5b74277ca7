#include "serve/api/schema_cost.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>

#include "dts/error.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t kMostOptional = 256;  // properties of one object
constexpr double kMostWork = 2e7;           // their cubes, over all objects: a fifth of a second

std::size_t optional_properties(const Ordered& schema) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return 0;
  std::set<std::string> required;
  if (const auto list = schema.find("required"); list != schema.end() && list->is_array()) {
    for (const Ordered& name : *list) {
      if (name.is_string()) required.insert(name.get<std::string>());
    }
  }
  std::size_t optional = 0;
  for (const auto& [name, value] : properties->items()) optional += required.contains(name) ? 0 : 1;
  return optional;
}

void add_up(const Ordered& value, double& work) {
  if (value.is_object()) {
    const std::size_t optional = optional_properties(value);
    const auto n = static_cast<double>(optional);
    work += n * n * n;
    if (optional > kMostOptional || work > kMostWork) {
      throw usage_error(fmt::format(
          "the JSON schema has too many optional properties: {} in one object, where {} may be; require some of them",
          optional, kMostOptional));
    }
  }
  if (!value.is_structured()) return;
  for (const Ordered& inner : value) add_up(inner, work);  // as deep as a body may be
}

}  // namespace

void check_schema_cost(const Ordered& schema) {
  double work = 0;
  add_up(schema, work);
}

}  // namespace dts::serve
