// How one kind of server is spoken to. A protocol knows requests and answers; it knows nothing of endpoints, retries or
// branches.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/vocabulary.h"

namespace dts::remote {

// A token as a server gave it: what was drawn at one position, and what is known of the distribution there.
struct DrawnToken {
  Token token = 0;
  float logprob = std::numeric_limits<float>::quiet_NaN();  // NaN: not known
  std::vector<Candidate> top =
      {};  // the most probable there are, descending; ties: lower id first; empty: not asked for
  Prediction::Decision decision = Prediction::Decision::kByStatistics;
};

// What a server that can tell decision tokens ends a request at.
struct DecisionWatch {
  BranchRule rule;
  double stat_temperature = 0.6;
};

// What a protocol tells of tokens' text, if it does: learned once, used for ever.
class PieceSink {
 public:
  PieceSink() = default;
  PieceSink(const PieceSink&) = delete;
  PieceSink& operator=(const PieceSink&) = delete;
  virtual ~PieceSink() = default;

  virtual void learn(Token token, std::string_view bytes) = 0;
  virtual void learn_end(Token token) = 0;
  // For servers that name tokens by text only: one id for each text.
  virtual Token token_of(std::string_view bytes) = 0;
  virtual std::vector<Token> words_of(std::string_view text) = 0;  // of more than a token
  virtual std::string text_of(Token token) = 0;                    // the way back
  // Stands for an end that has no token of its own.
  virtual Token end_token() = 0;
};

struct GenerationRequest {
  std::span<const Token> prefix = {};
  SamplingOptions sampling = {};
  int max_tokens = 0;
  int top_n = 0;                         // candidates to ask for; 0: no log-probabilities at all
  std::uint32_t seed = 0;                // 31 bits
  const DecisionWatch* watch = nullptr;  // end at the first decision token, where the protocol can; null: do not
  int unwatched = 0;                     // the first so many tokens are drawn whatever they are
  bool whole = false;                    // the answer at once instead of a stream, for tokens that a stream leaves out
};

// What a server gives is not what is needed, and will not be: there is no use in asking again.
class CannotServe : public Error {
 public:
  using Error::Error;
};

// The same, because it has no log-probabilities to give.
class NoLogprobs final : public CannotServe {
 public:
  using CannotServe::CannotServe;
};

// Reads the events of one answer. Throws dts::Error for anything that is not what the protocol says.
class AnswerReader {
 public:
  AnswerReader() = default;
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;
  virtual ~AnswerReader() = default;

  // Appends the tokens that `data` brings.
  virtual void read(std::string_view data, std::vector<DrawnToken>& out) = 0;

  enum class End {
    kNone,      // the server is not done
    kStopped,   // by an end token, which is the last token given
    kLength,    // max_tokens or the context
    kDecision,  // what would come next is a decision token: it has not been drawn
  };
  End end() const { return end_; }
  // Tokens that the stream left out here; what follows them is not read. 0: none.
  int missing() const { return missing_; }

 protected:
  int missing_ = 0;
  End end_ = End::kNone;
};

// A request below an endpoint's address.
struct ServerCall {
  std::string path;  // "/v1/completions"
  bool post = true;
  nlohmann::json body = nullptr;
};

// Sends and waits; used while a model is loaded and for text, never inside a step.
class Asker {
 public:
  Asker() = default;
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  virtual ~Asker() = default;
  // Of whichever server answers. Throws dts::Error naming the address and what went wrong.
  virtual nlohmann::json ask(const ServerCall& call) const = 0;
  // Of one of them, 0 <= server < servers().
  virtual int servers() const = 0;
  virtual nlohmann::json ask_one(int server, const ServerCall& call) const = 0;
};

// What a server says of its model.
struct ServerModel {
  std::string name;
  std::string owner;       // "owned_by": which software serves it, where it says so
  int n_vocab = 0;         // 0: not known
  int context_length = 0;  // tokens; 0: not known
  int parallel = 0;        // branches an endpoint decodes at once; 0: not known
  std::int64_t parameters = 0;
  std::int64_t size_bytes = 0;
  std::string bos_text;  // empty: not known
  std::string eos_text;
};

class Protocol {
 public:
  explicit Protocol(std::string served_model) : served_model_(std::move(served_model)) {}
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  virtual const char* kind() const = 0;     // "llama-server"
  virtual int most_candidates() const = 0;  // what a request may ask for
  virtual int default_candidates() const { return 20; }
  virtual bool knows_tokens() const { return true; }  // else text goes in and out

  // Its tokenizer can take the names of control tokens for plain text.
  virtual bool tells_control_tokens() const { return true; }

  // Whether log-probabilities are before or after the temperature depends on how the server was started.
  virtual bool scale_of_logprobs_varies() const { return true; }

  // Finds out whether every server tells decision tokens; called once, before any request is made.
  virtual void find_decisions(const Asker&) {}
  // Requests may have a watch.
  virtual bool tells_decisions() const { return false; }

  virtual ServerCall generate(const GenerationRequest& request, PieceSink& pieces) const = 0;
  virtual std::unique_ptr<AnswerReader> reader(const GenerationRequest& request, PieceSink& pieces) const = 0;

  virtual ServerModel model(const Asker& server) const = 0;
  virtual std::vector<Token> tokenize(const Asker& server, std::string_view text, bool special, bool bos) const = 0;
  // Bytes as far as JSON can carry them; what it cannot is U+FFFD.
  virtual std::string detokenize(const Asker& server, std::span<const Token> tokens) const = 0;
  // Throws when the server cannot apply a template.
  virtual ChatPrompt chat(const Asker& server, std::span<const ChatMessage> messages) const = 0;

 protected:
  const std::string& served_model() const { return served_model_; }

 private:
  std::string served_model_;
};

// From GET /v1/models: the one called `name`, or the first.
ServerModel first_model(const Asker& server, const std::string& name);

// Throws a usage error when a server says that it is of another kind than `kind`.
void check_owner(std::string_view kind, std::string_view owner);

std::unique_ptr<Protocol> make_llama_server_protocol(std::string served_model);
std::unique_ptr<Protocol> make_vllm_protocol(std::string served_model);
std::unique_ptr<Protocol> make_sglang_protocol(std::string served_model);
std::unique_ptr<Protocol> make_openai_protocol(std::string served_model);

}  // namespace dts::remote
