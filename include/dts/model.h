// A model as commands know it, whatever decodes it: its facts, its vocabulary, and engines for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dts/engine.h"
#include "dts/prediction.h"
#include "dts/vocabulary.h"

namespace dts {

struct ModelInfo {
  std::string name;          // as a person would name it
  std::string architecture;  // "qwen2", "qwen3", "phi3", "llama", ...; empty: not known
  std::string description;   // one line; may be empty
  int training_context = 0;  // tokens; 0: not known
  std::int64_t parameters = 0;
  std::int64_t size_bytes = 0;  // of the weights
  int most_branches = 0;        // that one engine can keep
};

struct RecommendedSampling {
  SamplingOptions options;
  std::string source;  // where they come from: "model file", "Qwen3 family", "defaults"
};

struct EngineRequest {
  int max_branches = 48;   // branches open at once, over all searches
  int context_length = 0;  // tokens a branch may hold; 0: as many as the model was trained for and memory allows
  // Many searches at once, none of which anybody waits for (an evaluation): all rows go through the model together.
  // Else a search's only row goes alone, as fast as it can, where the engine would have to pad it (LlamaEngineOptions).
  bool throughput = false;
};

// An engine before it is made: what it will be and take.
struct EnginePlan {
  int context_length = 0;            // tokens a branch may hold
  std::int64_t needed_bytes = 0;     // at most; 0: none of this machine's
  std::int64_t available_bytes = 0;  // on the device that holds the KV, beside the weights
  int parallel = 0;                  // branches that are decoded at once, where more would wait; 0: not known
  // How logits are computed, as far as it decides their last bits, and so tokens: names and values for a record.
  std::vector<std::pair<std::string, std::string>> settings;
  std::string description;  // for people, several lines
  std::function<std::unique_ptr<Engine>()> make;
};

// Read only, shared by any number of engines, which it must outlive.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  virtual RecommendedSampling recommended_sampling() const = 0;

  // Throws dts::Error with what is needed, what there is and what would shrink it, when it cannot be.
  virtual EnginePlan plan_engine(const EngineRequest& request) const = 0;
  std::unique_ptr<Engine> make_engine(const EngineRequest& request) const { return plan_engine(request).make(); }
};

}  // namespace dts
