// Several endpoints as one: where a question's branches go, which endpoints can be asked, and when again.
//
// Branches of one question stay together, for the prefix cache; questions go where the fewest branches are. An endpoint
// that fails is left alone for a while that doubles with every failure in a row, with jitter so that not everybody
// comes back at once, and is taken back by the first token it gives. Pure bookkeeping over a clock: no network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/remote/transport.h"

namespace dts::remote {

struct FleetOptions {
  double first_backoff = 0.25;  // seconds
  double most_backoff = 30;     // seconds; also the most that a server's Retry-After is heeded
  std::uint64_t seed = 0;       // of the jitter
};

// A question and the endpoint its branches are at.
struct SharedPrompt {
  int home = -1;  // -1: not placed yet
  // Since the beginning: what its branches were asked for with, failures aside, and the children they are.
  std::int64_t requests = 0;
  std::int64_t children = 0;
};

class Fleet {
 public:
  Fleet(std::vector<std::string> urls, const Clock& clock, FleetOptions options);

  int size() const { return static_cast<int>(endpoints_.size()); }
  const std::string& url(int endpoint) const { return at(endpoint).url; }

  // Where a branch of the question should be asked for now; none when every endpoint is being left alone. `without`:
  // not of these.
  std::optional<int> choose(SharedPrompt& question, std::span<const int> without = {}) const;
  double next_up(std::span<const int> without = {}) const;  // when the first endpoint can be asked again

  void opened(int endpoint);
  void closed(int endpoint);
  void progressed(int endpoint);  // it gave a token
  // Failures of requests that were opened before the last failure are of the same incident.
  void failed(int endpoint, double opened_at, double retry_after);
  double progressed_at(int endpoint) const { return at(endpoint).progressed_at; }  // its last token's time; 0: none yet
  // Seconds to wait after so many failures in a row: doubled with each up to a bound, with jitter.
  double backoff(int failures);

  int streams(int endpoint) const { return at(endpoint).streams; }
  bool up(int endpoint) const;

 private:
  struct Endpoint {
    std::string url;
    int streams = 0;        // open
    int failures = 0;       // in a row
    double down_until = 0;  // left alone until then
    double failed_at = -1;
    double progressed_at = 0;
  };

  const Endpoint& at(int endpoint) const { return endpoints_[static_cast<std::size_t>(endpoint)]; }
  Endpoint& at(int endpoint) { return endpoints_[static_cast<std::size_t>(endpoint)]; }

  const Clock& clock_;
  FleetOptions options_;
  std::vector<Endpoint> endpoints_;
  std::uint64_t incidents_ = 0;
};

}  // namespace dts::remote
