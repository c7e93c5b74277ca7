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
    while (!answer.over && clock_->now() < until) transport_->poll(until - clock_->now());
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

nlohmann::json HttpAsker::ask(const ServerCall& call) const {
  const std::scoped_lock lock(mutex_);
  const double until = clock_->now() + patience_;
  std::string problem;
  for (double wait = kFirstWait;; wait = std::min(2 * wait, kLongestWait)) {
    for (std::size_t i = 0; i < options_.urls.size(); ++i) {
      const std::size_t at = (first_ + i) % options_.urls.size();
      CallFailure failure;
      nlohmann::json json = try_one(at, call, failure);
      if (failure.text.empty()) {
        first_ = at;
        return json;
      }
      if (problem.empty() || failure.permanent) problem = failure.text;
      if (failure.permanent) throw Error(problem);
    }
    const double again = clock_->now() + wait;
    if (again > until) throw Error(problem);
    while (clock_->now() < again) transport_->poll(again - clock_->now());
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
