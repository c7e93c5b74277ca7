#include "eval/variants.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dts/error.h"
#include "eval/text.h"

namespace dts::eval {
namespace {

struct Target {
  MethodOptions& numbers;
  SearchOptions& base;
};

template <typename T>
T parse(std::string_view spec, std::string_view name, std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (stop == end && status == std::errc() && !text.empty()) return value;
  throw usage_error(
      fmt::format("--methods has {}: {} is {}: it must be a number", in_quotes(spec), name, in_quotes(text)));
}

constexpr std::array kCriteria = {"decision", "high-entropy", "either"};
constexpr std::array kFreezes = {"temporary", "permanent"};

template <typename Names>
int parse_word(std::string_view spec, std::string_view name, std::string_view text, const Names& words) {
  std::string known;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (text == words[i]) return static_cast<int>(i);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", words[i]);
  }
  throw usage_error(
      fmt::format("--methods has {}: {} is {}: it must be one of {}", in_quotes(spec), name, in_quotes(text), known));
}

void set(Target target, std::string_view spec, std::string_view name, std::string_view text) {
  MethodOptions& numbers = target.numbers;
  BranchRule& branch = numbers.branch;
  const auto whole = [&] { return parse<int>(spec, name, text); };
  const auto number = [&] { return parse<double>(spec, name, text); };
  if (name == "votes") {
    numbers.votes = whole();
  } else if (name == "samples") {
    numbers.samples = whole();
  } else if (name == "branch-k") {
    branch.k = whole();
  } else if (name == "max-branches") {
    branch.max_branches = whole();
  } else if (name == "tau-v") {
    branch.tau_v = number();
  } else if (name == "tau-h") {
    branch.tau_h = number();
  } else if (name == "stat-temp") {
    target.base.stat_temperature = static_cast<float>(number());
  } else if (name == "criterion") {
    branch.criterion = static_cast<Criterion>(parse_word(spec, name, text, kCriteria));
  } else if (name == "freeze") {
    branch.freeze = static_cast<Freeze>(parse_word(spec, name, text, kFreezes));
  } else if (name == "warmup") {
    numbers.warmup = whole();
  } else if (name == "window") {
    numbers.window = whole();
  } else if (name == "consensus") {
    numbers.consensus = number();
  } else if (name == "adaptive") {
    numbers.certainty = number();
  } else {
    throw usage_error(fmt::format(
        "--methods has {}: there is no {}; there are votes, samples, branch-k, max-branches, tau-v, tau-h, stat-temp, "
        "criterion, freeze, warmup, window, consensus and adaptive",
        in_quotes(spec), in_quotes(name)));
  }
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
    set({numbers, base}, spec, item.substr(0, equals), item.substr(equals + 1));
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
