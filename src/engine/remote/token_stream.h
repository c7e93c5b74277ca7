// The tokens of one branch as servers send them, ahead of who takes them. A stream outlives the requests that feed it:
// when one breaks, the next is asked for what follows the tokens there are, here or elsewhere, so none is lost and none
// comes twice.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dts/prediction.h"
#include "engine/remote/event_lines.h"
#include "engine/remote/fleet.h"
#include "engine/remote/server_protocol.h"
#include "engine/remote/transport.h"

namespace dts::remote {

struct StreamOptions {
  double connect_seconds = 10;
  double first_token_seconds = 300;  // from the request to its first token: the queue and the prompt
  double stall_seconds = 60;         // between tokens
  // Until a branch is given up: requests in a row without a token, and seconds since the last one.
  int attempts = 12;
  double give_up_seconds = 30;
  // How far a branch is read ahead: so many tokens and candidates. A request that is further is ended, and asked for
  // again from there once they are taken.
  std::size_t most_ahead = std::size_t{1} << 20U;
  std::vector<std::string> headers;  // of every request; secrets
};

// Counted over an engine's life.
struct Traffic {
  std::int64_t requests = 0;
  std::int64_t retries = 0;  // of them, after a failure
  std::int64_t received_bytes = 0;
  std::int64_t received_tokens = 0;
  std::int64_t overshoot_tokens = 0;  // received and never taken
  std::int64_t given_up = 0;          // branches that were not waited for any longer
};

class TokenStream;

// What streams share. Outlives them.
struct StreamContext {
  const Protocol& protocol;
  Transport& transport;
  const Clock& clock;
  Fleet& fleet;
  PieceSink& pieces;
  StreamOptions options;
  Traffic traffic;
  // Streams that something happened to which pump() must see to.
  std::vector<TokenStream*> attention = {};
};

// What a stream asks for.
struct StreamSpec {
  SamplingOptions sampling;
  int top_n = 0;        // log-probabilities a token; 0: none
  int most_tokens = 0;  // that may be drawn
  std::uint32_t seed = 0;
  std::optional<DecisionWatch> watch;  // where servers tell decision tokens
  std::string refusal;                 // why it cannot be, known before anything is asked for; empty: it can
};

class TokenStream final : public CallListener, public std::enable_shared_from_this<TokenStream> {
 public:
  // What follows `prefix`.
  TokenStream(StreamContext& context, std::shared_ptr<SharedPrompt> question, std::vector<Token> prefix,
              StreamSpec spec);
  ~TokenStream() override;

  // Asks, and asks again after a failure, when it is time. Returns when it should be called again at the latest.
  double pump();

  std::size_t first() const { return first_; }  // position of the first token drawn: the prefix's length
  Token last_of_prefix() const { return tokens_[first_ - 1]; }
  bool has(std::size_t position) const { return position >= first_ + forgotten_ && position < tokens_.size(); }
  const DrawnToken& at(std::size_t position) const { return drawn_[position - first_ - forgotten_]; }
  // The token at `position` is taken: those before it will not be asked for any more.
  const DrawnToken& take(std::size_t position);
  // Nothing more will come: an end token was drawn, or it failed for good.
  bool over() const { return ended_ || !error_.empty(); }
  const std::string& error() const { return error_; }

  // Nobody looks at anything but tokens any more: the next request does without the rest. `at_once`: what follows is
  // asked for again now; the tokens that have come stay.
  void forgo_statistics(bool at_once);
  // A request that is open, and would have to be made again to do without them.
  bool streams_statistics() const { return has_statistics_ && endpoint_ >= 0 && !broken_ && !over(); }
  bool has_statistics() const { return has_statistics_; }  // the request that is open, or the next

  // Who takes from it in a step: the first that claims it, once a step.
  bool claimed(std::uint64_t step) const { return claimed_in_ == step; }
  void claim(std::uint64_t step) { claimed_in_ = step; }

  // CallListener
  void data(std::string_view bytes) override;
  void done() override;
  void failed(const CallFailure& failure) override;

 private:
  void ask(int endpoint);
  void start(int endpoint);
  void read(std::string_view event);
  void read_lines(std::string_view bytes);
  bool answered() const;  // all that this request will bring has come
  template <typename Work>
  void guarded(Work work);  // what it throws breaks the request off
  void close();
  void fail_over(const CallFailure& failure);
  // Whether a branch that some endpoints have refused is believed to be refused by all.
  bool refused_for_good(double now) const;
  void break_off(CallFailure failure);
  void need_attention();
  int left() const { return spec_.most_tokens - static_cast<int>(tokens_.size() - first_); }

  StreamContext& context_;
  std::shared_ptr<SharedPrompt> question_;
  StreamSpec spec_;
  std::uint64_t claimed_in_ = 0;
  std::size_t first_;
  std::vector<Token> tokens_;     // prefix and all that was drawn
  std::deque<DrawnToken> drawn_;  // those not forgotten
  std::size_t forgotten_ = 0;     // of those drawn
  std::size_t used_ = 0;          // position after the last that was taken
  std::size_t ahead_ = 0;         // tokens and candidates in `drawn_`
  bool rests_ = false;            // far enough ahead
  double resumes_at_ = 0;         // not asked for before: the server was busy
  bool ended_ = false;
  std::string error_;

  // The request that is open, if one is.
  int endpoint_ = -1;
  CallId call_ = 0;
  double opened_at_ = 0;
  double heard_at_ = 0;
  bool any_token_ = false;  // of this request
  std::unique_ptr<AnswerReader> reader_;
  EventLines lines_;
  std::string whole_;                // body of an answer that is no stream
  std::vector<DrawnToken> arrived_;  // reused
  bool has_statistics_;
  bool asked_whole_ = false;
  bool began_ = false;        // something of the body has come
  bool comes_whole_ = false;  // the body is one object, no stream
  int missing_ = 0;           // tokens to ask for at once, next
  bool decision_ = false;     // the next token to come is a decision token: a server has ended a request before it
  bool noticed_ = false;      // is in the context's list
  int fruitless_ = 0;         // requests in a row without a token
  double progressed_at_ = 0;
  std::vector<int> refused_;  // endpoints that will not have this branch
  std::string refusal_;       // what the first of them said
  double refused_at_ = 0;     // by the last of them
  bool broken_ = false;       // to be failed over by pump()
  CallFailure failure_;
};

}  // namespace dts::remote
