#include "eval/run/variants.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

struct Target {
  MethodOptions& numbers;
  SearchOptions& base;
};

constexpr std::array<std::string_view, 3> kCriteria = {"decision", "high-entropy", "either"};
constexpr std::array<std::string_view, 2> kFreezes = {"temporary", "permanent"};

// "tau-h=1.2" of a spec.
struct Given {
  std::string_view spec, name, text;

  template <typename T>
  T number() const {
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (stop != end || status != std::errc() || text.empty()) fail("a number");
    return value;
  }

  template <typename T, std::size_t n>
  T word(const std::array<std::string_view, n>& words) const {
    std::string known;
    for (std::size_t i = 0; i < n; ++i) {
      if (text == words[i]) return static_cast<T>(i);
      known += fmt::format("{}{}", known.empty() ? "one of " : ", ", words[i]);
    }
    fail(known);
  }

  [[noreturn]] void fail(std::string_view should_be) const {
    throw usage_error(
        fmt::format("--methods has {}: {} is {}: it must be {}", in_quotes(spec), name, in_quotes(text), should_be));
  }
};

// One name of a spec: how its text becomes a number of the method.
struct Setting {
  std::string_view name;
  void (*set)(Target, const Given&);
};

constexpr std::array kSettings = {
    Setting{"votes", [](Target t, const Given& given) { t.numbers.votes = given.number<int>(); }},
    Setting{"samples", [](Target t, const Given& given) { t.numbers.samples = given.number<int>(); }},
    Setting{"branch-k", [](Target t, const Given& given) { t.numbers.branch.k = given.number<int>(); }},
    Setting{"max-branches", [](Target t, const Given& given) { t.numbers.branch.max_branches = given.number<int>(); }},
    Setting{"tau-v", [](Target t, const Given& given) { t.numbers.branch.tau_v = given.number<double>(); }},
    Setting{"tau-h", [](Target t, const Given& given) { t.numbers.branch.tau_h = given.number<double>(); }},
    Setting{"stat-temp", [](Target t, const Given& given) { t.base.stat_temperature = given.number<float>(); }},
    Setting{"criterion",
            [](Target t, const Given& given) { t.numbers.branch.criterion = given.word<Criterion>(kCriteria); }},
    Setting{"freeze", [](Target t, const Given& given) { t.numbers.branch.freeze = given.word<Freeze>(kFreezes); }},
    Setting{"warmup", [](Target t, const Given& given) { t.numbers.warmup = given.number<int>(); }},
    Setting{"window", [](Target t, const Given& given) { t.numbers.window = given.number<int>(); }},
    Setting{"consensus", [](Target t, const Given& given) { t.numbers.consensus = given.number<double>(); }},
    Setting{"adaptive", [](Target t, const Given& given) { t.numbers.certainty = given.number<double>(); }},
};

void set(Target target, const Given& given) {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) {
    if (setting.name == given.name) return setting.set(target, given);
    names.emplace_back(setting.name);
  }
  throw usage_error(fmt::format("--methods has {}: there is no {}; there are {}", in_quotes(given.spec),
                                in_quotes(given.name), list_in_quotes(names)));
}

}  // namespace

SearchOptions parse_variant(const std::string& spec, MethodOptions numbers, SearchOptions base) {
  std::string_view rest = spec;
  const std::size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string_view item = rest.substr(0, end);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw usage_error(fmt::format("--methods has {}: after a colon it must be as tau-h=1.2", in_quotes(spec)));
    }
    set({numbers, base}, {spec, item.substr(0, equals), item.substr(equals + 1)});
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  base.method = make_method(name, numbers);
  validate(base, std::numeric_limits<int>::max());
  return base;
}

nlohmann::json settings_of(const SearchOptions& options) {
  const Method& method = options.method;
  // A float is written as the number a person gave for it, not as the double nearest to it.
  const auto shortest = [](float value) { return nlohmann::json::parse(fmt::format("{}", value)); };
  nlohmann::json out = {{"method", method.name},
                        {"width", method.width},
                        {"stop_finished", method.stop.finished == StopRule::kAll ? 0 : method.stop.finished},
                        {"temperature", shortest(options.sampling.temperature)},
                        {"top_k", options.sampling.top_k},
                        {"top_p", shortest(options.sampling.top_p)},
                        {"min_p", shortest(options.sampling.min_p)},
                        {"max_tokens", options.max_tokens},
                        {"max_total_tokens", options.max_total_tokens}};
  if (method.stop.consensus > 0) out["consensus"] = method.stop.consensus;
  if (method.stop.certainty > 0) out["certainty"] = method.stop.certainty;
  if (method.retire.enabled) {
    out["warmup"] = method.retire.warmup;
    out["keep"] = method.retire.keep;
    out["window"] = method.retire.window > 0 ? fmt::format("{}", method.retire.window) : "an eighth of the budget";
  }
  if (method.branch.enabled) {
    out["stat_temperature"] = shortest(options.stat_temperature);
    out["tau_v"] = fmt::format("{}", method.branch.tau_v);  // may be infinite, for which JSON has no word
    out["tau_h"] = fmt::format("{}", method.branch.tau_h);
    out["branch_k"] = method.branch.k;
    out["max_branches"] = method.branch.max_branches;
    out["criterion"] = kCriteria[static_cast<std::size_t>(method.branch.criterion)];
    out["freeze"] = kFreezes[static_cast<std::size_t>(method.branch.freeze)];
  }
  return out;
}

}  // namespace dts::eval
