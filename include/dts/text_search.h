// A search over text: what stands between a model's vocabulary and the search, which knows only tokens.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/scheduler.h"
#include "dts/search.h"
#include "dts/tree_file.h"
#include "dts/vocabulary.h"

namespace dts {

// The text of one token as a reader of the trajectory should see it: control tokens by name, the end token not at all.
std::string shown_piece(const Vocabulary& vocabulary, Token token);

// From a trajectory's text to the answer it votes for; empty: none.
using AnswerReader = std::function<std::string(std::string_view text)>;

struct TextSearchOptions {
  AnswerReader read_answer = nullptr;  // default: extract_answer (answer.h)
  SameAnswer same_answer = nullptr;    // which answers are one vote; default: equivalent (answer.h)
  // A trajectory ends where its text comes to one of these, each non-empty; what it votes for stands before it. They
  // are looked for in what follows the thinking, never in the thinking itself.
  std::vector<std::string> stop = {};
  bool split_thinking = true;  // false: all of the text is the answer, and stop strings are looked for everywhere
  std::shared_ptr<const LogitsFilter> filter = nullptr;  // what a trajectory may say (SearchText)
};

// A search of `prompt`. `vocabulary` must outlive the search.
std::shared_ptr<Search> make_text_search(const Vocabulary& vocabulary, const ChatPrompt& prompt, SearchOptions options,
                                         TextSearchOptions text = {});

// Everything a done search leaves behind, but for the model's name, the question and the engine's own times.
TreeDocument document_of(const Search& search, const Vocabulary& vocabulary, const ChatPrompt& prompt,
                         const EngineInfo& info, const JobTimes& times);

}  // namespace dts
