#include "engine/remote/http_asker.h"

#include <fmt/format.h>

#include <utility>

#include "dts/error.h"

namespace dts::remote {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20U;

struct Answer final : CallListener {
  std::string body;
  bool over = false;
  CallFailure failure;

  void data(std::string_view bytes) override {
    if (body.size() + bytes.size() <= kLongestAnswer) body += bytes;
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
  const CallId id = transport_->start(request, answer);
  const double until = clock_->now() + options_.answer_seconds;
  while (!answer.over && clock_->now() < until) transport_->poll(until - clock_->now());
  if (!answer.over) {
    transport_->cancel(id);
    answer.failure.text = fmt::format("no answer in {:.0f} s", options_.answer_seconds);
  }
  nlohmann::json json;
  if (answer.failure.text.empty()) {
    json = nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) answer.failure.text = "the answer is not a JSON object";
  }
  failure = answer.failure;
  if (!failure.text.empty()) failure.text = fmt::format("{}: {}", request.url, failure.text);
  return json;
}

nlohmann::json HttpAsker::ask(const ServerCall& call) const {
  const std::scoped_lock lock(mutex_);
  std::string problem;
  for (std::size_t i = 0; i < options_.urls.size(); ++i) {
    const std::size_t at = (first_ + i) % options_.urls.size();
    CallFailure failure;
    nlohmann::json json = try_one(at, call, failure);
    if (failure.text.empty()) {
      first_ = at;
      return json;
    }
    if (problem.empty() || failure.permanent) problem = failure.text;
    if (failure.permanent) break;
  }
  throw Error(problem);
}

nlohmann::json HttpAsker::ask_one(int server, const ServerCall& call) const {
  const std::scoped_lock lock(mutex_);
  CallFailure failure;
  nlohmann::json json = try_one(static_cast<std::size_t>(server), call, failure);
  if (!failure.text.empty()) throw Error(failure.text);
  return json;
}

}  // namespace dts::remote
