// Questions to the servers themselves, of their model and its text: one at a time, waited for, any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/remote/server_protocol.h"
#include "engine/remote/transport.h"

namespace dts::remote {

struct AskerOptions {
  std::vector<std::string> urls;  // tried in turn
  std::vector<std::string> headers;
  double connect_seconds = 10;
  double answer_seconds = 60;
  std::function<bool()> stopping = nullptr;  // looked at while an answer is waited for: true ends that with an error
};

class HttpAsker final : public Asker {
 public:
  HttpAsker(AskerOptions options, std::unique_ptr<Transport> transport, std::unique_ptr<Clock> clock);
  nlohmann::json ask(const ServerCall& call) const override;
  // Seconds for which servers that fail are asked again, as streams are. Not while a model is loaded: whoever mistypes
  // an address is told at once.
  void set_patience(double seconds) {
    const std::scoped_lock lock(mutex_);
    patience_ = seconds;
  }
  int servers() const override { return static_cast<int>(options_.urls.size()); }
  nlohmann::json ask_one(int server, const ServerCall& call) const override;

 private:
  // `failure`: empty when the answer is one.
  nlohmann::json try_one(std::size_t at, const ServerCall& call, CallFailure& failure) const;
  // Lets the transport work for a moment, at most until then. Throws when it is to stop.
  void wait(double until) const;

  AskerOptions options_;
  mutable std::mutex mutex_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Clock> clock_;
  mutable std::size_t first_ = 0;  // the address that answered last
  double patience_ = 0;
};

}  // namespace dts::remote
