#include "serve/runs/run_cost.h"

#include <algorithm>

namespace dts::serve {

std::int64_t most_bytes(const SearchOptions& search, std::size_t prompt_tokens, int top_logprobs) {
  // A token's text and numbers as events and in the document.
  constexpr std::int64_t kEventBytes = 64;
  const Method& method = search.method;
  const std::int64_t live = method.max_live();
  // Branches grow in lockstep, so the tree is as deep as one of them; after a warm-up others start once more.
  const std::int64_t phases = method.retire.enabled ? 2 : 1;
  std::int64_t tokens = live * phases * search.max_tokens;
  if (search.max_total_tokens > 0) tokens = std::min(tokens, search.max_total_tokens + live);
  const std::int64_t candidates =
      top_logprobs > 0 ? static_cast<std::int64_t>(sizeof(std::vector<Candidate>)) +
                             static_cast<std::int64_t>(sizeof(Candidate)) * std::max(search.top_k, top_logprobs)
                       : 0;
  const std::int64_t window = method.retire.enabled ? method.retire.window : 1;
  // A branch that splits has its window copied, and the step being made has its own.
  const std::int64_t windows = 2 * live * window * static_cast<std::int64_t>(sizeof(float));
  return tokens * (static_cast<std::int64_t>(sizeof(TokenRecord)) + kEventBytes + candidates) + windows +
         static_cast<std::int64_t>(prompt_tokens * sizeof(Token));
}

}  // namespace dts::serve
