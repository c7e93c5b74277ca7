// One question put to a model that is loaded: what `dts run` and `dts compare` share.
#pragma once

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

namespace dts::cli {

struct QuestionText {
  std::string question;
  std::string system;             // empty: none
  bool raw = false;               // without the chat template
  std::vector<std::string> stop;  // each non-empty
};

// The prompt as the model sees it.
ChatPrompt make_prompt(const QuestionText& text, const Vocabulary& vocabulary);

// Tokens a branch must hold for the prompt and a trajectory; 0: as many as the model and memory allow. Throws a usage
// error when there is no room for the prompt.
int choose_context(const ModelFlags& flags, const DecodingOptions& decoding, const ModelInfo& model, int prompt_tokens);

// Decodes to the end, or until a first Ctrl-C. Of the document, the model, the question and the time to load are left
// to the caller. `max_seconds` 0: no limit.
TreeDocument decode(Engine& engine, const Vocabulary& vocabulary, const ChatPrompt& prompt,
                    const SearchOptions& options, const std::vector<std::string>& stop, double max_seconds, View& view);

}  // namespace dts::cli
