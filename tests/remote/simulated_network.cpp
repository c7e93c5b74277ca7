#include "remote/simulated_network.h"

#include <algorithm>
#include <cstdlib>

#include "dts/rng.h"
#include "engine/remote/answer_text.h"

namespace dts {

using namespace remote;

namespace {

struct NetworkTransport final : Transport {
  explicit NetworkTransport(SimulatedNetwork& to) : network(to) {}
  CallId start(const OutgoingRequest& request, CallListener& listener) override {
    return network.start(request, listener);
  }
  void cancel(CallId call) override { network.cancel(call); }
  void poll(double seconds) override { network.poll(seconds); }
  SimulatedNetwork& network;
};

struct NetworkClock final : Clock {
  explicit NetworkClock(const SimulatedNetwork& of) : network(of) {}
  double now() const override { return network.now(); }
  const SimulatedNetwork& network;
};

}  // namespace

SimulatedNetwork::SimulatedNetwork(const WireModel& model, NetworkOptions options)
    : model_(model),
      options_(std::move(options)),
      requests_at_(options_.endpoints.size()),
      open_at_(options_.endpoints.size()) {
  for (const SimulatedEndpoint& endpoint : options_.endpoints) caches_.emplace_back(endpoint.cache_blocks);
  for (std::size_t i = 0; i < options_.endpoints.size(); ++i) {
    for (const auto& [from, to] : options_.endpoints[i].outages) {
      at(from, [this, i] {
        std::vector<CallId> cut;
        for (const auto& [id, call] : calls_) {
          if (call->endpoint == i) cut.push_back(id);
        }
        for (const CallId id : cut) fail(id, {.text = "connection reset"});
      });
    }
  }
}

SimulatedNetwork::~SimulatedNetwork() = default;

std::unique_ptr<Transport> SimulatedNetwork::transport() { return std::make_unique<NetworkTransport>(*this); }
std::unique_ptr<Clock> SimulatedNetwork::clock() { return std::make_unique<NetworkClock>(*this); }

std::vector<std::string> SimulatedNetwork::urls() const {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < options_.endpoints.size(); ++i) urls.push_back("http://" + std::to_string(i));
  return urls;
}

double SimulatedNetwork::unit() { return to_unit(draw_bits(options_.seed, ++draws_)); }

double SimulatedNetwork::delayed(double seconds) { return seconds * (1 + options_.jitter * unit()); }

void SimulatedNetwork::at(double time, std::function<void()> action) {
  events_.emplace(std::pair(time, next_event_++), std::move(action));
}

bool SimulatedNetwork::down(std::size_t endpoint, double time) const {
  const auto& outages = options_.endpoints[endpoint].outages;
  return std::any_of(outages.begin(), outages.end(),
                     [time](const auto& outage) { return time >= outage.first && time < outage.second; });
}

CallId SimulatedNetwork::start(const OutgoingRequest& request, CallListener& listener) {
  const CallId id = next_call_++;
  auto call = std::make_shared<Call>();
  call->endpoint = static_cast<std::size_t>(std::atoi(request.url.c_str() + 7));
  call->listener = &listener;
  call->answer = std::make_unique<WireAnswer>(model_, request.body);
  ++requests_;
  ++requests_at_[call->endpoint];
  with_logprobs_ += call->answer->asks_logprobs() ? 1 : 0;
  most_candidates_ = std::max(most_candidates_, call->answer->candidates());
  if (faults_ < options_.most_faults && unit() < options_.fault_share) {
    call->fault = static_cast<Fault>(1 + static_cast<int>(unit() * 11));
    call->fault_at = static_cast<int>(unit() * 6);
  }
  const SimulatedEndpoint& endpoint = options_.endpoints[call->endpoint];
  const std::size_t cached = caches_[call->endpoint].find(call->answer->tokens());
  const std::size_t computed = call->answer->tokens().size() - cached;
  prefix_tokens_ += static_cast<std::int64_t>(call->answer->tokens().size());
  cached_tokens_ += static_cast<std::int64_t>(cached);
  caches_[call->endpoint].keep(call->answer->tokens());
  call->sent_away = endpoint.room > 0 && open_at_[call->endpoint] >= endpoint.room;
  ++open_at_[call->endpoint];
  const double arrives = now_ + delayed(endpoint.latency) + endpoint.per_prompt_token * static_cast<double>(computed);
  calls_.emplace(id, call);
  at(arrives, [this, id] { deliver(id); });
  return id;
}

bool SimulatedNetwork::close(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return false;
  const Call& call = *found->second;
  --open_at_[call.endpoint];
  caches_[call.endpoint].keep(call.answer->tokens());
  calls_.erase(found);
  return true;
}

void SimulatedNetwork::fail(CallId id, const CallFailure& failure) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  CallListener& listener = *found->second->listener;
  close(id);
  listener.failed(failure);
}

// In two parts, cut anywhere: lines and characters do not arrive whole.
void SimulatedNetwork::send(CallId id, const std::string& bytes) {
  const auto cut = static_cast<std::size_t>(unit() * static_cast<double>(bytes.size()));
  for (const std::string_view part : {std::string_view(bytes).substr(0, cut), std::string_view(bytes).substr(cut)}) {
    const auto found = calls_.find(id);
    if (found != calls_.end() && !part.empty()) found->second->listener->data(part);
  }
}

void SimulatedNetwork::deliver(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> call = found->second;
  if (down(call->endpoint, now_)) return fail(id, {.text = "connection refused"});
  if (options_.endpoints[call->endpoint].refuses) return fail(id, {.permanent = true, .text = complaint_of(400, "no")});
  if (call->sent_away) return fail(id, {.busy = true, .text = complaint_of(429, R"({"message":"no room"})")});
  const bool now = call->fault != Fault::kNone && call->piece == call->fault_at;
  const bool first = call->piece == 0;
  if (call->fault != Fault::kNone && first) {
    switch (call->fault) {
      case Fault::kRefused:
        ++faults_;
        return fail(id, {.text = "connection refused"});
      case Fault::kError500:
        ++faults_;
        return fail(id, {.text = complaint_of(500, R"({"error":{"message":"boom","code":500}})")});
      case Fault::kBusy429:
        ++faults_;
        return fail(id,
                    {.busy = true, .retry_after = 1 + 3 * unit(), .text = complaint_of(429, R"({"message":"busy"})")});
      default:
        break;
    }
  }
  std::optional<std::string> piece = call->answer->next();
  if (!piece) {
    if (!call->held.empty()) send(id, std::exchange(call->held, {}));
    if (options_.endpoints[call->endpoint].hangs_at_end) return;
    if (close(id)) call->listener->done();
    return;
  }
  ++call->piece;
  if (now) {
    ++faults_;
    switch (call->fault) {
      case Fault::kCut:
        send(id, piece->substr(0, static_cast<std::size_t>(unit() * static_cast<double>(piece->size()))));
        return fail(id, {.text = "connection reset"});
      case Fault::kHang:
        return;
      case Fault::kRepeat:
        send(id, *piece);
        break;
      case Fault::kSwap:
        call->held = std::exchange(*piece, std::string());
        break;
      case Fault::kGarbage:
        piece = "data: {\"choices\": [{\"text\n\n";
        break;
      case Fault::kNan:
        if (const std::size_t number = piece->find("-0."); number != std::string::npos)
          piece->replace(number, 3, "NaN");
        break;
      case Fault::kEarlyEnd:
        close(id);
        return call->listener->done();
      case Fault::kErrorEvent:
        piece = "data: {\"error\":{\"message\":\"engine died\",\"code\":500}}\n\n";
        break;
      default:
        break;
    }
  } else if (!call->held.empty()) {
    *piece += std::exchange(call->held, {});
  }
  if (!piece->empty()) send(id, *piece);
  const SimulatedEndpoint& endpoint = options_.endpoints[call->endpoint];
  const double interval = endpoint.per_token + endpoint.per_stream * (open_at_[call->endpoint] - 1);
  at(now_ + delayed(interval), [this, id] { deliver(id); });
}

void SimulatedNetwork::poll(double seconds) {
  const double until = now_ + seconds;
  if (events_.empty() || events_.begin()->first.first > until) {
    now_ = until;
    return;
  }
  now_ = std::max(now_, events_.begin()->first.first);
  // All that happens at this moment.
  while (!events_.empty() && events_.begin()->first.first <= now_) {
    const std::function<void()> action = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    action();
  }
}

}  // namespace dts
