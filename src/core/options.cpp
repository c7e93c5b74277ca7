#include "dts/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <random>
#include <type_traits>
#include <utility>

#include "core/words.h"
#include "dts/error.h"

namespace dts {
namespace {

constexpr double kMostInt = std::numeric_limits<int>::max();
constexpr double kMostInt64 = 0x1p63;  // INT64_MAX and one: doubles are that coarse there
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Enum, std::size_t n>
constexpr std::array<std::string_view, n> words_of(const Names<Enum, n>& names) {
  std::array<std::string_view, n> words;
  for (std::size_t i = 0; i < n; ++i) words[i] = names[i].first;
  return words;
}

constexpr std::array kCriterionWords = words_of(kCriteria);
constexpr std::array kFreezeWords = words_of(kFreezes);

std::span<const std::string_view> method_words() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> names;
    for (const MethodInfo& method : methods()) names.push_back(method.name);
    return names;
  }();
  return words;
}

// The double that a person would write for a float: 0.6F is 0.6.
double shortest(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  double nearest = 0;
  std::from_chars(digits, end.ptr, nearest);
  return static_cast<float>(nearest) == value ? nearest : static_cast<double>(value);
}

OptionValue to_value(int value) { return std::int64_t{value}; }
OptionValue to_value(std::int64_t value) { return value; }
OptionValue to_value(std::uint64_t value) { return value; }
OptionValue to_value(double value) { return value; }
OptionValue to_value(float value) { return shortest(value); }
OptionValue to_value(const std::string& value) { return value; }
OptionValue to_value(Criterion value) { return std::string(name_of(kCriteria, value)); }
OptionValue to_value(Freeze value) { return std::string(name_of(kFreezes, value)); }
template <typename T>
OptionValue to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : OptionValue();
}

template <typename T>
requires std::is_arithmetic_v<T>
void assign(T& target, const OptionValue& value) {
  std::visit(
      [&target](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) target = T{};
        if constexpr (std::is_arithmetic_v<Held>) target = static_cast<T>(held);
      },
      value);
}
void assign(std::string& target, const OptionValue& value) { target = std::get<std::string>(value); }
void assign(Criterion& target, const OptionValue& value) {
  target = value_of(kCriteria, std::get<std::string>(value)).value();
}
void assign(Freeze& target, const OptionValue& value) {
  target = value_of(kFreezes, std::get<std::string>(value)).value();
}
template <typename T>
void assign(std::optional<T>& target, const OptionValue& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    target.reset();
  } else {
    assign(target.emplace(), value);
  }
}

// Accessors of the member that an `At` finds.
template <typename At, typename Options>
OptionValue get(const Options& options) {
  return to_value(At{}(options));
}
template <typename At, typename Options>
OptionValue get_or_none(const Options& options) {
  return At{}(options) == 0 ? OptionValue() : to_value(At{}(options));
}
template <typename At, typename Options>
void set(Options& options, const OptionValue& value) {
  assign(At{}(options), value);
}

// Entries, and where each has its value: a lambda that finds the member in a struct, const or not.
class OptionTable {
 public:
  void add(const OptionInfo& info) { entries_.push_back(info); }

  template <typename At>
  void held(At /*at*/) {
    entries_.back().get = get<At, DecodingOptions>;
    entries_.back().set = set<At, DecodingOptions>;
  }
  // Of a number whose 0 stands for none.
  template <typename At>
  void held_or_none(At at) {
    held(at);
    entries_.back().zero_is_none = true;
    entries_.back().get = get_or_none<At, DecodingOptions>;
  }
  template <typename At>
  void stored(std::string_view path, At /*at*/) {
    entries_.back().stored = path;
    entries_.back().single = std::is_same_v<std::invoke_result_t<At, SearchOptions&>, float&>;
    entries_.back().get_stored = get<At, SearchOptions>;
    entries_.back().set_stored = set<At, SearchOptions>;
  }

  std::vector<OptionInfo> take() { return std::move(entries_); }

 private:
  std::vector<OptionInfo> entries_;
};

bool all(const Method& /*method*/) { return true; }
bool branches(const Method& method) { return method.branch.enabled; }
bool retires(const Method& method) { return method.retire.enabled; }
bool penalises(const Method& method) { return method.select == SelectRule::kMaxLogprob; }
// Several may finish, so that answers can be compared before the end.
bool compares(const Method& method) { return method.stop.finished > 1; }
bool stops_at_some(const Method& method) { return method.stop.finished > 1 && method.stop.finished != StopRule::kAll; }
bool votes(const Method& method) { return method.width > 1 || stops_at_some(method); }
bool samples(const Method& method) { return method.width > 1 && stops_at_some(method); }

using enum OptionGroup;
using enum OptionType;

std::vector<OptionInfo> make_table() {
  OptionTable table;
  const auto at_least = [](double least) { return OptionRange{.least = least, .most = kMostInt}; };
  constexpr OptionRange kShare = {.least = 0, .most = 1};

  table.add({.name = "method",
             .type = kWord,
             .words = method_words(),
             .label = "Method",
             .help = "how to decode; see dts methods",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.method; });

  // The tree.
  table.add({.name = "criterion",
             .type = kWord,
             .words = kCriterionWords,
             .label = "Decision",
             .help = "what makes a decision token; decision: low entropy, high varentropy",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.criterion; });
  table.stored(
      "method/branch/criterion", [](auto& s) -> auto& { return s.method.branch.criterion; });

  table.add({.name = "tau_v",
             .type = kNumber,
             .range = {.least = 0, .infinite = true},
             .unit = "nats^2",
             .label = "Varentropy ≥",
             .help = "varentropy from which a token is a decision; inf never branches",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.tau_v; });
  table.stored(
      "method/branch/tau_v", [](auto& s) -> auto& { return s.method.branch.tau_v; });

  table.add({.name = "tau_h",
             .type = kNumber,
             .range = {.least = 0, .infinite = true},
             .unit = "nats",
             .label = "Entropy ≤",
             .help = "entropy up to which a token is a decision",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.tau_h; });
  table.stored(
      "method/branch/tau_h", [](auto& s) -> auto& { return s.method.branch.tau_h; });

  table.add({.name = "stat_temp",
             .type = kNumber,
             .range = {.least = 0.01, .most = 100},
             .label = "Measured at",
             .help = "temperature of the statistics; the thresholds belong to it",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.stat_temperature; });
  table.stored(
      "stat_temp", [](auto& s) -> auto& { return s.stat_temperature; });

  table.add({.name = "branch_k",
             .type = kWhole,
             .range = at_least(1),
             .label = "Children",
             .help = "children of a decision token",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.k; });
  table.stored(
      "method/branch/k", [](auto& s) -> auto& { return s.method.branch.k; });

  table.add({.name = "max_branches",
             .type = kWhole,
             .range = at_least(1),
             .label = "Branches",
             .help = "branches that live at once, at most",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.max_branches; });
  table.stored(
      "method/branch/max_branches", [](auto& s) -> auto& { return s.method.branch.max_branches; });

  table.add({.name = "freeze",
             .type = kWord,
             .words = kFreezeWords,
             .label = "At the cap",
             .help = "whether branching resumes below the cap; temporary: it does",
             .concerns = branches});
  table.held([](auto& d) -> auto& { return d.numbers.branch.freeze; });
  table.stored(
      "method/branch/freeze", [](auto& s) -> auto& { return s.method.branch.freeze; });

  table.add({.name = "branch_min_p",
             .type = kNumber,
             .range = kShare,
             .automatic = "0.02 for dts-lean, else none",
             .label = "Children ≥",
             .help = "share of the first child's probability that a child needs",
             .concerns = branches,
             .newer = true});
  table.held_or_none([](auto& d) -> auto& { return d.numbers.branch.min_p; });
  table.stored(
      "method/branch/min_p", [](auto& s) -> auto& { return s.method.branch.min_p; });

  table.add({.name = "length_alpha",
             .type = kNumber,
             .range = {.least = 0, .most = 100},
             .label = "Length alpha",
             .help = "max-logit: exponent of the length penalty ((5 + L) / 6)^alpha; 0: none",
             .concerns = penalises,
             .newer = true});
  table.held([](auto& d) -> auto& { return d.numbers.length_alpha; });
  table.stored(
      "method/length_alpha", [](auto& s) -> auto& { return s.method.length_alpha; });

  // Who votes, and when that is enough.
  table.add({.name = "votes",
             .type = kWhole,
             .range = at_least(1),
             .label = "Votes",
             .help = "finished trajectories that vote",
             .concerns = votes});
  table.held([](auto& d) -> auto& { return d.numbers.votes; });

  table.add({.name = "samples",
             .type = kWhole,
             .range = at_least(1),
             .label = "Samples",
             .help = "trajectories that short-m@k starts",
             .concerns = samples});
  table.held([](auto& d) -> auto& { return d.numbers.samples; });

  table.add({.name = "warmup",
             .type = kWhole,
             .range = at_least(1),
             .automatic = "half of " + option_name("votes") + ", at most 16",
             .label = "Warm-up",
             .help = "DeepConf: trajectories that set the bar",
             .concerns = retires});
  table.held_or_none([](auto& d) -> auto& { return d.numbers.warmup; });
  table.stored(
      "method/retire/warmup", [](auto& s) -> auto& { return s.method.retire.warmup; });

  table.add({.name = "window",
             .type = kWhole,
             .range = at_least(1),
             .unit = "tokens",
             .automatic = "an eighth of " + option_name("max_tokens") + ", at most 2048",
             .label = "Window",
             .help = "DeepConf: tokens its confidence is averaged over",
             .concerns = retires});
  table.held_or_none([](auto& d) -> auto& { return d.numbers.window; });
  table.stored(
      "method/retire/window", [](auto& s) -> auto& { return s.method.retire.window; });

  table.add({.name = "consensus",
             .type = kNumber,
             .range = kShare,
             .label = "Consensus",
             .help = "stop once an answer has this share of the votes; DeepConf's paper has 0.95, 0 never stops",
             .concerns = compares});
  table.held([](auto& d) -> auto& { return d.numbers.consensus; });
  table.stored(
      "method/stop/consensus", [](auto& s) -> auto& { return s.method.stop.consensus; });

  // Files call it by an older name.
  table.add({.name = "adaptive",
             .type = kNumber,
             .range = kShare,
             .label = "Certainty",
             .help = "stop once the majority is this certain to stand, as 0.95; 0 never stops",
             .concerns = compares});
  table.held([](auto& d) -> auto& { return d.numbers.adaptive; });
  table.stored(
      "method/stop/certainty", [](auto& s) -> auto& { return s.method.stop.adaptive; });

  table.add({.name = "seed",
             .aliases = "-s",
             .type = kSeed,
             .openai = true,
             .range = {.least = 0, .most = kMostInt64 * 2},
             .automatic = "0; a server takes a new one for every request",
             .label = "Seed",
             .help = "seed of the random numbers; the same one gives the same tree",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.seed; });
  table.stored(
      "seed", [](auto& s) -> auto& { return s.seed; });

  table.add({.name = "max_tokens",
             .flag = "predict",
             .aliases = "-n,--n-predict",
             .group = kBudget,
             .type = kWhole,
             .openai = true,
             .range = at_least(1),
             .unit = "tokens",
             .automatic = "what the context holds, at most 32768",
             .label = "Tokens",
             .help = "tokens a trajectory may have",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.max_tokens; });
  table.stored(
      "max_tokens", [](auto& s) -> auto& { return s.max_tokens; });

  table.add({.name = "max_total_tokens",
             .group = kBudget,
             .type = kWhole,
             .range = {.least = 1, .most = kMostInt64},
             .unit = "tokens",
             .automatic = "no limit",
             .label = "All tokens",
             .help = "tokens over all branches",
             .concerns = all});
  table.held_or_none([](auto& d) -> auto& { return d.max_total_tokens; });
  table.stored(
      "max_total_tokens", [](auto& s) -> auto& { return s.max_total_tokens; });

  table.add({.name = "max_seconds",
             .group = kBudget,
             .type = kNumber,
             .range = {.least = 0, .above = true},
             .unit = "seconds",
             .automatic = "no limit",
             .label = "Seconds",
             .help = "time for prompt and decoding",
             .concerns = all});
  table.held_or_none([](auto& d) -> auto& { return d.max_seconds; });

  const std::string recommended = "what the model recommends";
  table.add({.name = "temperature",
             .flag = "temp",
             .group = kSampling,
             .type = kNumber,
             .openai = true,
             .range = {.least = 0},
             .automatic = recommended,
             .label = "Temperature",
             .help = "temperature; 0 takes the most probable token",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.temperature; });
  table.stored(
      "sampling/temperature", [](auto& s) -> auto& { return s.sampling.temperature; });

  table.add({.name = "top_k",
             .group = kSampling,
             .type = kWhole,
             .openai = true,
             .range = at_least(0),
             .automatic = recommended,
             .label = "Top-k",
             .help = "sample from the N most probable tokens; 0: from all",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.top_k; });
  table.stored(
      "sampling/top_k", [](auto& s) -> auto& { return s.sampling.top_k; });

  table.add({.name = "top_p",
             .group = kSampling,
             .type = kNumber,
             .openai = true,
             .range = {.least = 0, .most = 1, .above = true},
             .automatic = recommended,
             .label = "Top-p",
             .help = "sample from the most probable tokens that make up this mass; 1: from all",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.top_p; });
  table.stored(
      "sampling/top_p", [](auto& s) -> auto& { return s.sampling.top_p; });

  table.add({.name = "min_p",
             .group = kSampling,
             .type = kNumber,
             .openai = true,
             .range = kShare,
             .automatic = recommended,
             .label = "Min-p",
             .help = "drop tokens less than this times as probable as the first; 0: none",
             .concerns = all});
  table.held([](auto& d) -> auto& { return d.min_p; });
  table.stored(
      "sampling/min_p", [](auto& s) -> auto& { return s.sampling.min_p; });
  return table.take();
}

std::uint64_t random_seed() {
  std::random_device entropy;
  return (static_cast<std::uint64_t>(entropy()) << 32U) | entropy();
}

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || status != std::errc()) return std::nullopt;
  return value;
}

// 20, and as JSON has it 20.0 or 2e1.
std::optional<std::int64_t> whole_in(std::string_view text) {
  if (const auto value = number_in<std::int64_t>(text)) return value;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto value = number_in<double>(text);
  if (!value || !(std::fabs(*value) <= kExact) || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

// Numbers as they are, anything else in quotes.
std::string shown(std::string_view text) {
  const bool number = number_in<double>(text).has_value();
  return number ? std::string(text) : fmt::format("'{}'", text);
}

}  // namespace

SamplingOptions DecodingOptions::sampling(SamplingOptions recommended) const {
  recommended.temperature = temperature.value_or(recommended.temperature);
  recommended.top_k = top_k.value_or(recommended.top_k);
  recommended.top_p = top_p.value_or(recommended.top_p);
  recommended.min_p = min_p.value_or(recommended.min_p);
  return recommended;
}

void DecodingOptions::set_sampling(const SamplingOptions& sampling) {
  temperature = sampling.temperature;
  top_k = sampling.top_k;
  top_p = sampling.top_p;
  min_p = sampling.min_p;
}

SearchOptions DecodingOptions::search(const SamplingOptions& recommended) const {
  SearchOptions search;
  search.method = make_method(method, numbers);
  search.sampling = sampling(recommended);
  search.stat_temperature = stat_temperature;
  search.seed = seed.value_or(search.seed);
  search.max_tokens = max_tokens.value_or(search.max_tokens);
  search.max_total_tokens = max_total_tokens;
  validate(search, std::numeric_limits<int>::max());
  return search;
}

bool OptionRange::holds(double value) const {
  if (std::isinf(value) && value > 0) return infinite;
  return above ? value > least && value <= most : value >= least && value <= most;
}

std::string OptionInfo::flag_name() const {
  std::string text(flag.empty() ? name : flag);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

bool OptionInfo::of_variants() const { return group == kMethod && type != kSeed && name != "method"; }

std::span<const OptionInfo> decoding_options() {
  static const std::vector<OptionInfo> table = make_table();
  return table;
}

const OptionInfo* find_option(std::string_view name) {
  for (const OptionInfo& option : decoding_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

const OptionInfo* find_option_flag(std::string_view flag) {
  for (const OptionInfo& option : decoding_options()) {
    if (option.flag_name() == flag) return &option;
  }
  return nullptr;
}

std::vector<const OptionInfo*> options_of(std::string_view method) {
  const Method usual = make_method(method);
  std::vector<const OptionInfo*> out;
  for (const OptionInfo& option : decoding_options()) {
    if (option.concerns(usual)) out.push_back(&option);
  }
  return out;
}

std::string expected_text(const OptionInfo& option, const OptionRange& range) {
  switch (option.type) {
    case kWord: {
      std::string words;
      for (const std::string_view word : option.words) words += fmt::format("{}{}", words.empty() ? "" : ", ", word);
      return "one of " + words;
    }
    case kSeed:
      return fmt::format("a whole number from 0 to {}, or 'random'", std::numeric_limits<std::uint64_t>::max());
    case kWhole:
      return range.most < kMostInt ? fmt::format("a whole number from {:.0f} to {:.0f}", range.least, range.most)
                                   : fmt::format("a whole number of at least {:.0f}", range.least);
    case kNumber:
      break;
  }
  const bool bounded = range.most < kInfinity;
  if (range.above) {
    return bounded ? fmt::format("a number above {} and at most {}", range.least, range.most)
                   : fmt::format("a finite number above {}", range.least);
  }
  if (bounded) return fmt::format("a number from {} to {}", range.least, range.most);
  return range.infinite ? fmt::format("a number of at least {}, or inf", range.least)
                        : fmt::format("a finite number of at least {}", range.least);
}

std::string value_text(const OptionValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return "";
        else
          return fmt::format("{}", held);
      },
      value);
}

std::string default_text(const OptionInfo& option) {
  const std::string usual = value_text(option.get(DecodingOptions{}));
  if (usual.empty()) return option.automatic;
  return option.unit.empty() ? usual : fmt::format("{} {}", usual, option.unit);
}

OptionValue parse_option(const OptionInfo& option, std::string_view text) {
  return parse_option(option, text, option.range);
}

OptionValue parse_option(const OptionInfo& option, std::string_view text, const OptionRange& range) {
  switch (option.type) {
    case kWord:
      if (std::find(option.words.begin(), option.words.end(), text) != option.words.end()) return std::string(text);
      break;
    case kSeed:
      if (text == "random" || text == "-1") return random_seed();
      if (const auto seed = number_in<std::uint64_t>(text)) return *seed;
      break;
    case kWhole:
      if (const auto value = whole_in(text); value && range.holds(static_cast<double>(*value))) return *value;
      break;
    case kNumber:
      if (const auto value = number_in<double>(text); value && range.holds(*value)) return *value;
      break;
  }
  throw out_of_range(option.name, shown(text), expected_text(option, range));
}

void check_option(std::string_view name, double value) {
  const OptionInfo* option = find_option(name);
  const double given = option->single ? shortest(static_cast<float>(value)) : value;
  if (!option->range.holds(given)) {
    throw out_of_range(name, fmt::format("{}", given), expected_text(*option, option->range));
  }
}

void limit_tokens(SearchOptions& options, int most) {
  options.max_tokens = std::min(options.max_tokens, most);
  RetireRule& retire = options.method.retire;
  if (retire.enabled) retire.window = std::min(retire.window, options.max_tokens);
}

}  // namespace dts
