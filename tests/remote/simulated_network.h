// A network and a clock that exist only in the program: every delay, cut and failure is drawn from a seed, so that a
// scenario that goes wrong goes wrong again. Time passes only inside poll().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/remote/transport.h"
#include "remote/prefix_blocks.h"
#include "remote/wire_server.h"

namespace dts {

enum class Fault {
  kNone,
  kRefused,  // no connection
  kCut,      // the connection breaks inside a piece
  kHang,     // nothing comes any more
  kError500,
  kBusy429,     // with Retry-After
  kRepeat,      // a piece comes twice
  kSwap,        // two pieces change places
  kGarbage,     // a piece is not JSON
  kNan,         // a log-probability is NaN
  kEarlyEnd,    // the body ends as if all were well
  kErrorEvent,  // an error body inside the stream
};

struct SimulatedEndpoint {
  double latency = 0.01;                           // seconds
  double per_token = 0.01;                         // seconds
  double per_stream = 0;                           // seconds more a token for each stream that is open beside it
  double per_prompt_token = 0;                     // seconds for each that the prefix cache does not have
  std::size_t cache_blocks = 0;                    // of the prefix cache; 0: there is none
  int room = 0;                                    // streams at once, others are sent away; 0: as many as come
  bool refuses = false;                            // all that is asked for, for good
  bool hangs_at_end = false;                       // sends all of an answer, and does not end it
  std::vector<std::pair<double, double>> outages;  // [from, to): refuses, and what was open is cut
};

struct NetworkOptions {
  std::vector<SimulatedEndpoint> endpoints;
  std::uint64_t seed = 0;
  double fault_share = 0;  // of requests
  int most_faults = 0;     // in all: everything ends well in the end
  double jitter = 0;       // of delays, relative
};

class SimulatedNetwork {
 public:
  SimulatedNetwork(const WireModel& model, NetworkOptions options);
  ~SimulatedNetwork();

  std::unique_ptr<remote::Transport> transport();
  std::unique_ptr<remote::Clock> clock();
  std::vector<std::string> urls() const;

  // Forgets what would still happen to requests that are over.
  void settle() {
    if (calls_.empty()) events_.clear();
  }
  double now() const { return now_; }
  int open_calls() const { return static_cast<int>(calls_.size()); }
  int faults() const { return faults_; }
  // Requests that brought log-probabilities, and all.
  int with_logprobs() const { return with_logprobs_; }
  int most_candidates() const { return most_candidates_; }  // that a request asked for
  int requests() const { return requests_; }
  const std::vector<int>& requests_at() const { return requests_at_; }  // [endpoints]
  // Tokens of the requests' prefixes, and those that the endpoints' caches had.
  std::int64_t prefix_tokens() const { return prefix_tokens_; }
  std::int64_t cached_tokens() const { return cached_tokens_; }

  remote::CallId start(const remote::OutgoingRequest& request, remote::CallListener& listener);
  void cancel(remote::CallId id) { close(id); }
  void poll(double seconds);

 private:
  struct Call {
    std::size_t endpoint = 0;
    remote::CallListener* listener = nullptr;
    std::unique_ptr<WireAnswer> answer;
    Fault fault = Fault::kNone;
    int fault_at = 0;  // piece
    int piece = 0;
    std::string held;  // changes places with the next
    bool sent_away = false;
  };

  bool close(remote::CallId id);  // false: it is not open
  double unit();
  double delayed(double seconds);
  void at(double time, std::function<void()> action);
  void deliver(remote::CallId id);
  void send(remote::CallId id, const std::string& bytes);
  void fail(remote::CallId id, const remote::CallFailure& failure);
  bool down(std::size_t endpoint, double time) const;

  const WireModel& model_;
  NetworkOptions options_;
  double now_ = 0;
  std::uint64_t draws_ = 0;
  std::map<std::pair<double, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t next_event_ = 0;
  std::map<remote::CallId, std::shared_ptr<Call>> calls_;
  remote::CallId next_call_ = 1;
  int faults_ = 0;
  int with_logprobs_ = 0;
  int most_candidates_ = 0;
  int requests_ = 0;
  std::vector<int> requests_at_;
  std::vector<int> open_at_;          // [endpoints]
  std::vector<PrefixBlocks> caches_;  // [endpoints]
  std::int64_t prefix_tokens_ = 0;
  std::int64_t cached_tokens_ = 0;
};

}  // namespace dts
