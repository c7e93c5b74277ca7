// The tree file: one decoded question with everything it took, so that it can be drawn, compared token for token with
// another implementation, and counted again without the model. docs/tree-file.md describes the JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dts/engine.h"
#include "dts/prediction.h"
#include "dts/search.h"
#include "dts/tree.h"

namespace dts {

// The text of one segment's tokens. A character that several tokens spell belongs to the one that completes it.
struct SegmentText {
  std::string text;                 // valid UTF-8: what is not was replaced by U+FFFD
  std::vector<std::uint32_t> ends;  // [tokens] one past the last byte of each token's piece in `text`

  std::string_view piece(std::size_t token) const {
    const std::size_t begin = token == 0 ? 0 : ends[token - 1];
    return std::string_view(text).substr(begin, ends[token] - begin);
  }
};

// Seconds. Zero where nothing was measured.
struct TreeTimes {
  double load = 0;     // the model
  double queued = 0;   // submitted -> admitted
  double prefill = 0;  // admitted -> first step
  double decode = 0;   // first step -> done
  // What prefill and decoding were spent on:
  double model = 0;        // model evaluation
  double statistics = 0;   // logits -> predictions
  double forks = 0;        // copying, moving and growing KV
  double bookkeeping = 0;  // planning, trees, votes
};

// What decoded it, and what could be relied on there.
struct EngineRecord {
  std::string kind;  // "llama.cpp"; empty: not recorded
  EngineCapabilities capabilities;
};

struct TreeDocument {
  std::string model;     // as a person would name it
  std::string question;  // as it was asked
  std::string prompt;    // as the model saw it, chat template applied
  std::vector<Token> prompt_tokens;
  bool opens_thinking = false;    // the prompt ends inside an opened <think>
  std::vector<std::string> stop;  // strings that ended trajectories (text_search.h)
  SearchOptions options;          // as they took effect
  Tree tree;
  std::vector<SegmentText> texts;  // [tree.segments()]
  Outcome outcome;
  EngineRecord engine;
  TreeTimes times;
  double flops = 0;  // estimated floating-point operations; 0: not known
};

// The texts of all segments of a tree; `piece` gives the bytes of one token.
std::vector<SegmentText> segment_texts(const Tree& tree, const std::function<std::string(Token)>& piece);

// The text of the whole trajectory that ends with `leaf`.
std::string trajectory_text(const TreeDocument& document, SegmentId leaf);

// JSON, a line for each segment. Strings that are not valid UTF-8 are made so; nothing else is lost: numbers come back
// bit for bit. Cost: about 60 bytes a token.
std::string to_json_text(const TreeDocument& document);

// The reverse. `name` is what errors call the document. Throws dts::Error naming the field, the value seen and what
// would be right. Whatever it accepts is consistent: the drawings need no further checks.
TreeDocument tree_from_json_text(std::string_view json, const std::string& name);

// `path` "-" is standard output or input. An existing file is replaced at once, or, when anything fails, left as it
// was. Throws dts::Error naming the file.
void save_tree(const std::string& path, const TreeDocument& document);
TreeDocument load_tree(const std::string& path);

}  // namespace dts
