// What an engine says about the next token of one branch. Never raw logits: that is what lets a GPU or a remote
// engine compute a prediction where its logits are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dts {

using Token = std::int32_t;

struct BranchRule;  // method.h

// How a token is drawn when a branch does not branch. Applied in this order: temperature, top-k, top-p, min-p (the
// order of vLLM and Hugging Face, for which the models' recommended values were published). docs/algorithm.md has it
// to the letter.
struct SamplingOptions {
  float temperature = 0.6F;  // 0 takes the most probable token
  int top_k = 0;             // keep the k most probable; 0 keeps all
  float top_p = 1.0F;        // keep the smallest set of the most probable whose mass reaches top_p; 1 keeps all
  float min_p = 0.0F;        // keep those at least min_p times as probable as the most probable; 0 keeps all
};

// What to compute from one row of logits. Shared by all branches of a search; must outlive the step that uses it.
struct PredictionSpec {
  float stat_temperature = 0.6F;  // T_stat: entropy and varentropy are those of softmax(z / T_stat)
  int top_k = 3;                  // how many candidates to return; capped at the vocabulary
  int confidence_k = 20;          // DeepConf's k; capped at the vocabulary
  SamplingOptions sampling;
  // Whether anybody looks at H, VE, the candidates, the confidence or log-probabilities. Where they cost something, an
  // engine then leaves them out: NaN, and no candidates.
  bool statistics = true;
  // What makes a decision token, for an engine that can tell while it draws, so that nobody needs H and VE. Not owned.
  // Null: nobody branches, or somebody looks at more than that.
  const BranchRule* decides = nullptr;
  int most_tokens = 0;  // that a branch can come to hold, prompt included, for who reads ahead; 0: not known
};

struct Candidate {
  Token token = 0;
  float logprob = 0.0F;  // log softmax(z), temperature 1, nothing truncated

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Reused from step to step: `top` keeps its capacity, so that a step allocates nothing.
struct Prediction {
  // Nothing else in the prediction is meaningful unless it is kOk, and no token was drawn.
  enum class Status : std::uint8_t {
    kOk,
    kNotANumber,  // the logits held a NaN or +infinity, or were all -infinity
    kFailed,      // this row could not be computed: see `error`
    kPending,     // not yet: the branch is as it was (EngineCapabilities::steps_apart)
  };

  Status status = Status::kOk;
  float entropy = 0.0F;     // H,  nats, at T_stat
  float varentropy = 0.0F;  // VE, nats^2, at T_stat
  // Where an engine sees only a part of the distribution, H and VE are what it takes them for, and these are how far
  // they can be from it; 0: exact.
  float entropy_margin = 0.0F;
  float varentropy_margin = 0.0F;
  // What an engine says that was told what makes a decision token, and saw all of the distribution.
  enum class Decision : std::uint8_t {
    kByStatistics,  // nothing: H and VE decide
    kYes,
    kNo,
  };
  Decision decision = Decision::kByStatistics;
  float confidence = 0.0F;       // DeepConf: -mean log-probability of the confidence_k most probable, temperature 1
  Token sampled = 0;             // drawn with the request's random bits
  float sampled_logprob = 0.0F;  // log softmax(z)[sampled], temperature 1, nothing truncated
  std::vector<Candidate> top;    // [spec.top_k], by logit descending; ties: lower id first
  std::string error;             // kFailed only, one line
};

}  // namespace dts
