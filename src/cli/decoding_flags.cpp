#include "cli/decoding_flags.h"

#include <fmt/format.h>

#include <array>

#include "cli/arguments.h"
#include "cli/spelling.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

constexpr std::array kGroups = {"Method", "Budget", "Sampling (defaults: what the model recommends)"};

// "-n,--predict,--n-predict"
std::string names_of(const OptionInfo& option) {
  const std::string flag = "--" + option.flag_name();
  if (option.aliases.empty()) return flag;
  const std::size_t comma = option.aliases.find(',');
  std::string names = fmt::format("{},{}", option.aliases.substr(0, comma), flag);
  if (comma != std::string_view::npos) names += option.aliases.substr(comma);
  return names;
}

std::string value_name(const OptionInfo& option) {
  if (option.name == "method") return "NAME";  // too many to list
  if (option.type == OptionType::kWord) return fmt::format("{}", fmt::join(option.words, "|"));
  return option.type == OptionType::kNumber ? "X" : "N";
}

std::string description_of(const OptionInfo& option) {
  std::string text(option.help);
  if (option.type == OptionType::kSeed) text += "; 'random' takes a new one";
  const bool chosen = !option.automatic.empty();
  if (option.group != OptionGroup::kSampling) {
    text += fmt::format(" (default{} {})", chosen ? ":" : "", default_text(option));
  }
  return Error(text).spelled(flag_of);
}

}  // namespace

void add_decoding_options(CLI::App& app, DecodingOptions& options) {
  for (const OptionInfo& option : decoding_options()) {
    app.option_defaults()->group(kGroups[static_cast<std::size_t>(option.group)]);
    add_value(app, names_of(option), value_name(option), description_of(option),
              [&option, &options](const std::string& text) { option.set(options, parse_option(option, text)); });
  }
}

void add_answer_option(CLI::App& app, std::optional<AnswerForm>& form, const std::string& by_default) {
  add_value(
      app, "--answer", "auto|boxed|letter|text",
      fmt::format("ask for the answer in this form, and vote by it; auto: letter where the question lists options, "
                  "boxed where it asks for a number, else text (default: {})",
                  by_default),
      [&form](const std::string& text) {
        form = value_of(kAnswerForms, text);
        if (!form) throw usage_error(fmt::format("--answer is '{}': it must be auto, boxed, letter or text", text));
      });
}

SearchOptions checked_search(const DecodingOptions& options, int most_branches) {
  SearchOptions search = options.search();
  if (search.method.max_live() > most_branches) {
    const bool samples = options.method == "short-m@k";
    const char* wide = search.method.branch.enabled ? "max_branches" : (samples ? "samples" : "votes");
    throw usage_error(fmt::format("{} {}: must be at most {}, the branches that this model's engine can keep",
                                  option_name(wide), search.method.max_live(), most_branches));
  }
  return search;
}

std::string sampling_source(const DecodingOptions& options, const std::string& recommended) {
  std::string given;
  for (const OptionInfo& option : decoding_options()) {
    if (option.group != OptionGroup::kSampling) continue;
    if (std::holds_alternative<std::monostate>(option.get(options))) continue;
    given += (given.empty() ? "" : " ") + flag_of(option.name);
  }
  return given.empty() ? recommended : given + ", else " + recommended;
}

}  // namespace dts::cli
