// One question put to a model that is loaded: what `dts run` and `dts compare` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/view.h"
#include "dts/engine.h"
#include "dts/model.h"
#include "dts/options.h"
#include "dts/search.h"
#include "dts/tree_file.h"
#include "dts/vocabulary.h"
#include "question/answer_form.h"

namespace dts::cli {

struct QuestionText {
  std::string question;
  std::string system;             // empty: none
  bool raw = false;               // without the chat template
  std::vector<std::string> stop;  // each non-empty
  // In which form the question is asked and the answers vote; none: as it is, and by their last lines.
  std::optional<AnswerForm> form;
};

// The form that was asked for; without one, none for the built-in model and raw text, and what suits the question else.
std::optional<AnswerForm> answer_form(const ModelFlags& model, bool raw, std::optional<AnswerForm> asked,
                                      const std::string& question);

// The prompt as the model sees it.
ChatPrompt make_prompt(const QuestionText& text, const Vocabulary& vocabulary);

// Tokens a branch must hold for the prompt and a trajectory; 0: as many as the model and memory allow. Throws a usage
// error when there is no room for the prompt.
int choose_context(const ModelFlags& flags, const DecodingOptions& decoding, const ModelInfo& model, int prompt_tokens);

// Decodes to the end, or until a first Ctrl-C. Of the document, the model, the question and the time to load are left
// to the caller. `max_seconds` 0: no limit.
TreeDocument decode(Engine& engine, const Vocabulary& vocabulary, const ChatPrompt& prompt,
                    const SearchOptions& options, const QuestionText& text, double max_seconds, View& view);

}  // namespace dts::cli
