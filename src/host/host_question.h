// A question as a program asks it, and the prompt that the model sees.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dts/model.h"
#include "dts/options.h"
#include "dts/text_search.h"
#include "dts/vocabulary.h"
#include "question/answer_form.h"

namespace dts::host {

struct HostQuestion {
  std::vector<ChatMessage> messages;  // the conversation so far; the last is the question. Empty: see `raw`
  std::string raw;                    // in their place: the prompt as it is, without the model's chat template
  std::vector<std::string> stop;      // strings that end a trajectory (text_search.h), each non-empty
  // In which form the last message is asked and the answers vote; none: as it is, and by their last lines. Not for raw.
  std::optional<AnswerForm> form;
  DecodingOptions decoding;
  bool events = false;  // somebody will read them

  // As the tree file shows it.
  const std::string& text() const { return messages.empty() ? raw : messages.back().content; }
};

// The option of that name, from text. Throws a usage error when there is none, or the value is not one of its own.
void set_option(DecodingOptions& options, std::string_view name, std::string_view value);

// "auto", "boxed", ...: as for set_option.
AnswerForm parse_answer_form(std::string_view word);

// What a profile (settings/profile.h) sets. Throws a usage error naming the file and the line.
void apply_profile(HostQuestion& question, const std::string& path);

ChatPrompt prompt_of(const HostQuestion& question, const Vocabulary& vocabulary);

// The search's options for that model, but for what the engine's context allows. Throws a usage error for whatever is
// wrong with the question.
SearchOptions options_of(const HostQuestion& question, const Model& model);

// How its trajectories are read.
TextSearchOptions reading_of(const HostQuestion& question, const ChatPrompt& prompt);

}  // namespace dts::host
