#include "engine/remote/http_asker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dts/error.h"
#include "engine/remote/answer_json.h"
#include "engine/remote/answer_text.h"

namespace dts::remote {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20U;
constexpr double kFirstWait = 0.25;  // seconds until all are asked again; doubled each time
constexpr double kLongestWait = 4;
constexpr double kRefusedPatience = 2;  // seconds for the others, when one refuses and the rest is away
constexpr double kSlice = 0.05;         // seconds until it is asked again whether to stop

struct Answer final : CallListener {
  std::string body;
  bool over = false;
  CallFailure failure;

  void data(std::string_view bytes) override {
    if (body.size() + bytes.size() > kLongestAnswer) {
      over = true;
      failure.text = fmt::format("the answer is longer than {} bytes", kLongestAnswer);
    }
    if (!over) body += bytes;
  }
  void done() override { over = true; }
  void failed(const CallFailure& why) override {
    over = true;
    failure = why;
    if (failure.text.empty()) failure.text = "the request failed";
  }
};

}  // namespace

HttpAsker::HttpAsker(AskerOptions options, std::unique_ptr<Transport> transport, std::unique_ptr<Clock> clock)
    : options_(std::move(options)), transport_(std::move(transport)), clock_(std::move(clock)) {}

nlohmann::json HttpAsker::try_one(std::size_t at, const ServerCall& call, CallFailure& failure) const {
  OutgoingRequest request;
  request.url = options_.urls[at] + call.path;
  request.post = call.post;
  request.headers = options_.headers;
  request.connect_seconds = options_.connect_seconds;
  if (call.post) request.body = call.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Answer answer;
  {
    // However it ends, nobody calls an answer that is gone.
    struct Open {
      Transport& transport;
      CallId id;
      ~Open() { transport.cancel(id); }
    } const open{*transport_, transport_->start(request, answer)};
    const double until = clock_->now() + options_.answer_seconds;
    while (!answer.over && clock_->now() < until) wait(until);
    if (!answer.over) answer.failure.text = fmt::format("no answer in {:.0f} s", options_.answer_seconds);
  }
  nlohmann::json json;
  if (answer.failure.text.empty()) {
    try {
      json = parse_answer(answer.body);
    } catch (const Error&) {
      // Said below: a page of HTML, most often.
    }
    if (!json.is_object()) answer.failure.text = "the answer is not a JSON object";
  }
  failure = answer.failure;
  if (!failure.text.empty()) {
    failure.text = without_secrets(fmt::format("{}: {}", request.url, failure.text), options_.headers);
  }
  return json;
}

void HttpAsker::wait(double until) const {
  if (options_.stopping && options_.stopping()) throw Error("interrupted while a server was waited for");
  const double left = std::max(0.0, until - clock_->now());
  transport_->poll(options_.stopping ? std::min(left, kSlice) : left);
}

nlohmann::json HttpAsker::ask(const ServerCall& call) const {
  const std::scoped_lock lock(mutex_);
  const double start = clock_->now();
  double until = start + patience_;
  std::string problem;
  std::string refusal;
  std::vector<bool> refused(options_.urls.size());
  for (double pause = kFirstWait;; pause = std::min(2 * pause, kLongestWait)) {
    for (std::size_t i = 0; i < options_.urls.size(); ++i) {
      const std::size_t at = (first_ + i) % options_.urls.size();
      if (refused[at]) continue;
      CallFailure failure;
      nlohmann::json json = try_one(at, call, failure);
      if (failure.text.empty()) {
        first_ = at;
        return json;
      }
      if (problem.empty()) problem = failure.text;
      if (!failure.permanent) continue;
      // One server's refusal; another may be of another mind.
      refused[at] = true;
      if (refusal.empty()) refusal = failure.text;
      until = std::min(until, start + kRefusedPatience);
    }
    const bool by_all = std::find(refused.begin(), refused.end(), false) == refused.end();
    const double again = clock_->now() + pause;
    if (by_all || again > until) throw Error(refusal.empty() ? problem : refusal);
    while (clock_->now() < again) wait(again);
  }
}

nlohmann::json HttpAsker::ask_one(int server, const ServerCall& call) const {
  const std::scoped_lock lock(mutex_);
  CallFailure failure;
  nlohmann::json json = try_one(static_cast<std::size_t>(server), call, failure);
  if (!failure.text.empty()) throw Error(failure.text);
  return json;
}

}  // namespace dts::remote
