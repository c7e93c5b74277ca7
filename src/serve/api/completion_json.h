// Completions as OpenAI's clients read them, with what is ours in `dts`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/api/choice_reader.h"
#include "serve/api/completion_request.h"
#include "serve/runs/run.h"

namespace dts::serve {

using Json = nlohmann::ordered_json;

// What every object and chunk of one completion begins with.
struct CompletionTitle {
  std::string id;
  std::int64_t created = 0;
  std::string model;
  CompletionKind kind = CompletionKind::kChat;
};

// "stop" when a trajectory finished, "tool_calls" when it called some, "length" when a budget ended them all.
const char* finish_reason(const Outcome& outcome, bool called);

// A whole completion without choices and usage; a chunk of a streamed one.
Json completion_json(const CompletionTitle& title);
Json chunk_json(const CompletionTitle& title);

// Choices. `finish` is null for a chunk that is not the last.
Json whole_choice_json(CompletionKind kind, int index, const ChoiceReader::Delta& delta, bool logprobs,
                       const Json& finish);
Json chunk_choice_json(CompletionKind kind, int index, const ChoiceReader::Delta& delta, bool logprobs, bool first,
                       const Json& finish);

// The `dts` object of a choice: while it runs, and when it is done.
Json progress_json(const Run& run);
Json result_json(const Run& run, const TreeDocument& document);

struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;      // of those, what an earlier request had left in the engine
  std::int64_t completion_tokens = 0;  // all that were generated, in whatever branch, each once
  std::int64_t content_tokens = 0;     // those of them that the client reads as content
};
Json usage_json(const Usage& usage);

}  // namespace dts::serve
