#include "engine/remote/logprobs_scale.h"

#include <cmath>
#include <utility>
#include <vector>

#include "dts/error.h"

namespace dts::remote {
namespace {

// The candidates of the first token after `prefix`.
std::vector<Candidate> first_candidates(const Protocol& protocol, const Asker& server, std::span<const Token> prefix,
                                        PieceSink& pieces, int candidates, float temperature) {
  GenerationRequest request;
  request.prefix = prefix;
  request.sampling = {.temperature = temperature};
  request.max_tokens = 1;
  request.top_n = candidates;
  ServerCall call = protocol.generate(request, pieces);
  call.body["stream"] = false;
  call.body.erase("stream_options");
  std::vector<DrawnToken> drawn;
  protocol.reader(request, pieces)->read(server.ask(call).dump(), drawn);
  return drawn.empty() ? std::vector<Candidate>() : std::move(drawn.front().top);
}

}  // namespace

FoundScale compare_scales(std::span<const Candidate> at_one, std::span<const Candidate> at_half) {
  std::vector<std::pair<double, double>> common;
  double mean_one = 0;
  double mean_half = 0;
  for (const Candidate& one : at_one) {
    for (const Candidate& half : at_half) {
      // What is far down may stand for minus infinity.
      if (one.token != half.token || !(one.logprob > -50) || !(half.logprob > -100)) continue;
      common.emplace_back(one.logprob, half.logprob);
      mean_one += static_cast<double>(one.logprob);
      mean_half += static_cast<double>(half.logprob);
    }
  }
  if (common.size() < 2) return FoundScale::kUnclear;
  mean_one /= static_cast<double>(common.size());
  mean_half /= static_cast<double>(common.size());
  double spread = 0;
  double together = 0;
  for (const auto& [one, half] : common) {
    spread += (one - mean_one) * (one - mean_one);
    together += (one - mean_one) * (half - mean_half);
  }
  if (spread < 0.05) return FoundScale::kUnclear;  // all alike: they are so at any temperature
  const double slope = together / spread;
  // The line must be one: noise, or candidates that a filter has moved, say nothing.
  double off = 0;
  for (const auto& [one, half] : common) {
    const double error = half - mean_half - slope * (one - mean_one);
    off += error * error;
  }
  if (off > 0.02 * spread) return FoundScale::kUnclear;
  if (std::abs(slope - 1) < 0.2) return FoundScale::kBefore;
  return std::abs(slope - 2) < 0.4 ? FoundScale::kAfter : FoundScale::kUnclear;
}

LogprobsFound find_logprobs(const Protocol& protocol, const Asker& server, const Vocabulary& vocabulary,
                            PieceSink& pieces, int candidates) {
  LogprobsFound found;
  for (const char* prompt : {"One, two, three", "The", "Q: What is 2 + 3?\nA:"}) {
    try {
      const std::vector<Token> prefix = vocabulary.tokenize_prompt(prompt);
      if (prefix.empty()) continue;
      const auto at = [&](float temperature) {
        return first_candidates(protocol, server, prefix, pieces, candidates, temperature);
      };
      const std::vector<Candidate> at_one = at(1.0F);
      if (at_one.size() < 2) continue;
      found.scale = compare_scales(at_one, at(0.5F));
      if (found.scale != FoundScale::kUnclear) return found;
    } catch (const NoLogprobs& error) {
      found.none = error.what();
      return found;
    } catch (const Error&) {
      return found;
    }
  }
  return found;
}

}  // namespace dts::remote
