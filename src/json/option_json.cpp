#include "json/option_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace dts {
namespace {

OptionValue read_word(const OptionInfo& option, const JsonField& field) {
  if (field.is_string()) {
    const std::string& word = field.string();
    if (std::find(option.words.begin(), option.words.end(), word) != option.words.end()) return word;
  }
  field.fail("it must be " + expected_text(option, option.range));
}

}  // namespace

nlohmann::ordered_json option_json(const OptionValue& value) {
  return std::visit(
      [](const auto& held) -> nlohmann::ordered_json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Held, double>) {
          if (std::isnan(held)) return "nan";
          if (std::isinf(held)) return held > 0 ? "inf" : "-inf";
          return held;
        } else {
          return held;
        }
      },
      value);
}

OptionValue read_option(const OptionInfo& option, const JsonField& field, const OptionRange& range) {
  const auto wrong = [&]() { field.fail("it must be " + expected_text(option, range)); };
  switch (option.type) {
    case OptionType::kWord:
      return read_word(option, field);
    case OptionType::kSeed: {
      const std::int64_t seed = field.integer(-1, std::numeric_limits<std::int64_t>::max());
      return seed < 0 ? OptionValue() : OptionValue(static_cast<std::uint64_t>(seed));
    }
    case OptionType::kWhole:
      if (const auto value = field.as_integer(); value && range.holds(static_cast<double>(*value))) return *value;
      wrong();
      break;
    case OptionType::kNumber:
      break;
  }
  if (!field.is_number() && !(range.infinite && field.is_word("inf"))) wrong();
  const double value = field.number();
  if (!range.holds(value)) wrong();
  return value;
}

OptionValue read_stored_option(const OptionInfo& option, const JsonField& field) {
  switch (option.type) {
    case OptionType::kWord:
      return read_word(option, field);
    case OptionType::kSeed:
      return field.bits();
    case OptionType::kWhole:
      return field.integer(option.zero_is_none ? 0 : static_cast<std::int64_t>(option.range.least),
                           option.range.most > std::numeric_limits<int>::max()
                               ? std::numeric_limits<std::int64_t>::max()
                               : std::numeric_limits<int>::max());
    case OptionType::kNumber:
      break;
  }
  return option.single ? static_cast<double>(field.real()) : field.number();
}

}  // namespace dts
