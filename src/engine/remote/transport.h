// What the fleet needs of the outside world: requests whose answers arrive in pieces, and the time. Tests replace both,
// so that the same code runs under a simulated network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::remote {

using CallId = std::uint64_t;

struct OutgoingRequest {
  std::string url;                   // whole
  bool post = true;                  // else a GET
  std::string body;                  // JSON
  std::vector<std::string> headers;  // "Name: value"; may hold secrets, so they are never shown
  double connect_seconds = 10;       // until the connection stands
};

// How a call went wrong. What a server says is untrusted: `text` is one line, cut short.
struct CallFailure {
  bool permanent = false;  // it will not go better elsewhere or later: the request itself is refused
  bool busy = false;       // the server is well, and has no room for this request now
  double retry_after = 0;  // seconds the server asked for; 0: nothing said
  std::string text = {};
};

// Called inside Transport::poll() only. A call ends with exactly one done() or failed(), unless it was cancelled.
class CallListener {
 public:
  CallListener() = default;
  CallListener(const CallListener&) = delete;
  CallListener& operator=(const CallListener&) = delete;
  virtual ~CallListener() = default;

  virtual void data(std::string_view bytes) = 0;  // of a body with status 200
  virtual void done() = 0;                        // the body is complete
  virtual void failed(const CallFailure& failure) = 0;
};

// One thread. `listener` must outlive its call.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual CallId start(const OutgoingRequest& request, CallListener& listener) = 0;
  // Hears nothing more of it. Unknown ids are ignored. May be called by a listener, also for its own call.
  virtual void cancel(CallId call) = 0;
  // Delivers what has arrived; waits up to `seconds` for something to arrive.
  virtual void poll(double seconds) = 0;
};

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual double now() const = 0;  // seconds, never backwards
};

}  // namespace dts::remote
