#include "host/host_question.h"

#include <fmt/format.h>

#include "dts/error.h"

namespace dts::host {

void set_option(DecodingOptions& options, std::string_view name, std::string_view value) {
  const OptionInfo* option = find_option(name);
  if (option == nullptr) {
    std::string all;
    for (const OptionInfo& known : decoding_options()) all += (all.empty() ? "" : ", ") + std::string(known.name);
    throw usage_error(fmt::format("there is no option '{}'; there are {}", name, all));
  }
  option->set(options, parse_option(*option, value));
}

ChatPrompt prompt_of(const HostQuestion& question, const Vocabulary& vocabulary) {
  if (!question.messages.empty()) return vocabulary.chat(question.messages);
  const std::string_view text = question.raw;
  if (text.empty()) throw usage_error("the question is empty: it must have at least one character");
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return {question.raw, vocabulary.tokenize_prompt(text), text.substr(0, end + 1).ends_with("<think>")};
}

SearchOptions options_of(const HostQuestion& question, const Model& model) {
  for (const std::string& text : question.stop) {
    if (text.empty())
      throw usage_error(fmt::format("{} is '': it must have at least one character", option_name("stop")));
  }
  SearchOptions options = question.decoding.search(model.recommended_sampling().options);
  validate(options, model.vocabulary().size());
  const int most = model.info().most_branches;
  if (most > 0 && options.method.max_live() > most) {
    throw usage_error(fmt::format("{} would keep {} branches: this model's engine can keep {}", options.method.name,
                                  options.method.max_live(), most));
  }
  return options;
}

}  // namespace dts::host
