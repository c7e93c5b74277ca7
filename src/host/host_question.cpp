#include "host/host_question.h"

#include <fmt/format.h>

#include "dts/error.h"
#include "settings/profile.h"

namespace dts::host {
namespace {

// What the form comes to for this question; none: there is nobody to ask for it.
std::optional<AnswerForm> form_asked(const HostQuestion& question) {
  if (!question.form || question.messages.empty() || question.messages.back().role != "user") return std::nullopt;
  return form_of(*question.form, question.messages.back().content);
}

}  // namespace

void set_option(DecodingOptions& options, std::string_view name, std::string_view value) {
  const OptionInfo* option = find_option(name);
  if (option == nullptr) {
    std::string all;
    for (const OptionInfo& known : decoding_options()) all += (all.empty() ? "" : ", ") + std::string(known.name);
    throw usage_error(fmt::format("there is no option '{}'; there are {}", name, all));
  }
  option->set(options, parse_option(*option, value));
}

AnswerForm parse_answer_form(std::string_view word) {
  if (const std::optional<AnswerForm> form = value_of(kAnswerForms, word)) return *form;
  std::string known;
  for (const auto& [name, form] : kAnswerForms) known += (known.empty() ? "" : ", ") + std::string(name);
  throw out_of_range("answer", fmt::format("'{}'", word), "one of " + known);
}

void apply_profile(HostQuestion& question, const std::string& path) {
  for (const ProfileSetting& setting : read_profile(path)) {
    try {
      if (setting.name == "answer") {
        question.form = parse_answer_form(setting.value);
      } else {
        set_option(question.decoding, setting.name, setting.value);
      }
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}: {}", setting.origin, unspelled(error)));
    }
  }
}

ChatPrompt prompt_of(const HostQuestion& question, const Vocabulary& vocabulary) {
  if (!question.messages.empty()) {
    const std::optional<AnswerForm> form = form_asked(question);
    if (!form) return vocabulary.chat(question.messages);
    std::vector<ChatMessage> messages = question.messages;
    messages.back().content = asked_in(*form, messages.back().content);
    return vocabulary.chat(messages);
  }
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

TextSearchOptions reading_of(const HostQuestion& question, const ChatPrompt& prompt) {
  TextSearchOptions reading;
  reading.stop = question.stop;
  if (const std::optional<AnswerForm> form = form_asked(question)) {
    reading.read_answer = form_reader(*form, question.messages.back().content, prompt.opens_thinking);
    reading.same_answer = form_equality(*form);
  }
  return reading;
}

}  // namespace dts::host
