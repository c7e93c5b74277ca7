// Everything a person may set of a decoding, each option declared once. The command line's flags, the fields of a
// request, what a server says of them, the page's form, an evaluation's variants, the tree file and the checks of the
// library are made from the table here: a new option is one entry in src/core/options.cpp and the code that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/search.h"

namespace dts {

// The options as they were given: what is not given is chosen by whoever knows better.
struct DecodingOptions {
  std::string method = "dts-stable";
  MethodOptions numbers;
  float stat_temperature = 0.6F;
  // None: what the model recommends.
  std::optional<float> temperature;
  std::optional<int> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<std::uint64_t> seed;  // none: 0, or a new one for every request
  // Budgets.
  std::optional<int> max_tokens;      // a trajectory; none: what the context holds
  std::int64_t max_total_tokens = 0;  // over all branches; 0: no limit
  double max_seconds = 0;             // prompt and decoding; 0: no limit

  SamplingOptions sampling(SamplingOptions recommended = {}) const;
  void set_sampling(const SamplingOptions& sampling);
  // What a search is made with: `seed` 0 and SearchOptions' budget where none is given. Throws a usage error for
  // whatever is wrong with it without knowing the model.
  SearchOptions search(const SamplingOptions& recommended = {}) const;
};

enum class OptionType : std::uint8_t { kWhole, kNumber, kWord, kSeed };
enum class OptionGroup : std::uint8_t { kMethod, kBudget, kSampling };

// none; a whole number; a seed; a number; a word.
using OptionValue = std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string>;

// Of whole numbers and numbers. An edge that has limits of its own narrows it.
struct OptionRange {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool above = false;     // `least` itself is out of it
  bool infinite = false;  // infinity is a value

  bool holds(double value) const;
};

struct OptionInfo {
  std::string_view name = {};  // in requests, settings and errors: "max_tokens"
  std::string_view flag = {};  // on the command line and in variants, without dashes; empty: the name with '-' for '_'
  std::string_view aliases = {};  // further flags, as "-n,--n-predict"
  OptionGroup group = OptionGroup::kMethod;
  OptionType type = OptionType::kWhole;
  bool openai = false;  // a field of a request itself; the others are fields of its `dts` object
  OptionRange range = {};
  std::span<const std::string_view> words = {};  // that a word may be
  std::string_view unit = {};                    // empty: a mere number
  // What none means, where there is no default: "half of votes, at most 16". Options in it are named by option_name().
  std::string automatic = {};
  std::string_view label = {};  // for a form
  std::string_view help = {};   // a sentence, with options named likewise
  bool (*concerns)(const Method& method) = nullptr;
  OptionValue (*get)(const DecodingOptions& options) = nullptr;
  void (*set)(DecodingOptions& options, const OptionValue& value) = nullptr;
  // Where the tree file has it ("method/branch/k") and what it has; empty: the file has what follows from it, if
  // anything (votes are a width or a stop rule).
  std::string_view stored = {};
  OptionValue (*get_stored)(const SearchOptions& options) = nullptr;
  void (*set_stored)(SearchOptions& options, const OptionValue& value) = nullptr;
  bool zero_is_none = false;  // in the structs and in files
  bool single = false;        // a float: a number beyond its range is infinite
  bool newer = false;         // than the tree file: files that do not have it have its default

  std::string flag_name() const;  // "tau-h"
  // A number or word of the method, that variants of it may have of their own.
  bool of_variants() const;
};

// In the order a person should read them.
std::span<const OptionInfo> decoding_options();
const OptionInfo* find_option(std::string_view name);       // null: there is none
const OptionInfo* find_option_flag(std::string_view flag);  // by flag_name()
std::vector<const OptionInfo*> options_of(std::string_view method);

// "a whole number from 1 to 100", "one of temporary, permanent".
std::string expected_text(const OptionInfo& option, const OptionRange& range);
// "1.5"; empty: none.
std::string value_text(const OptionValue& value);
// What is taken when nothing is said: "3", "1.5 nats^2", or what is chosen then, options named by option_name().
std::string default_text(const OptionInfo& option);

// Text as a value, checked against the range. "random" and "-1" are a new seed. Throws out_of_range().
OptionValue parse_option(const OptionInfo& option, std::string_view text);
OptionValue parse_option(const OptionInfo& option, std::string_view text, const OptionRange& range);

// Throws out_of_range() when the option's range does not hold it.
void check_option(std::string_view name, double value);

// Lowers the token budget to what there is room for, and with it a window that could then never fill.
void limit_tokens(SearchOptions& options, int most);

}  // namespace dts
