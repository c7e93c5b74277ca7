#include "bench/plain_streams.h"

#include <sys/resource.h>

#include <chrono>
#include <memory>

#include "dts/error.h"

namespace dts::bench {
namespace {

// Counts events; a line that is cut is not one.
struct CountingListener final : remote::CallListener {
  void data(std::string_view bytes) override {
    received += static_cast<std::int64_t>(bytes.size());
    for (std::size_t at = 0; (at = bytes.find("data:", at)) != std::string_view::npos; ++at) ++events;
  }
  void done() override { over = true; }
  void failed(const remote::CallFailure& why) override {
    over = true;
    problem = why.text.empty() ? "the request failed" : why.text;
  }
  std::int64_t received = 0;
  std::int64_t events = 0;
  bool over = false;
  std::string problem;
};

struct NoPieces final : remote::PieceSink {
  void learn(Token, std::string_view) override {}
  void learn_end(Token) override {}
  Token token_of(std::string_view) override { return 0; }
  std::vector<Token> words_of(std::string_view) override { return {0}; }
  std::string text_of(Token) override { return {}; }
  Token end_token() override { return 0; }
};

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

StreamCost run_plain_streams(const remote::Protocol& protocol, remote::Transport& transport,
                             const PlainStreamsOptions& options, const std::vector<PlainStream>& streams) {
  NoPieces pieces;
  std::vector<std::unique_ptr<CountingListener>> listeners;
  StreamCost cost;
  const double cpu = cpu_seconds();
  const double start = wall_seconds();
  for (const PlainStream& stream : streams) {
    if (stream.tokens <= 0) continue;
    remote::GenerationRequest request;
    request.prefix = stream.prefix;
    request.sampling = options.sampling;
    request.max_tokens = stream.tokens;
    remote::ServerCall call = protocol.generate(request, pieces);
    // As many tokens as the tree's branch had, whatever is drawn. SGLang has it among the sampling parameters.
    (call.body.contains("sampling_params") ? call.body["sampling_params"] : call.body)["ignore_eos"] = true;
    remote::OutgoingRequest http;
    http.url = options.url + call.path;
    http.headers = options.headers;
    http.body = call.body.dump();
    listeners.push_back(std::make_unique<CountingListener>());
    transport.start(http, *listeners.back());
    cost.tokens += stream.tokens;
    ++cost.requests;
  }
  for (const auto& listener : listeners) {
    while (!listener->over) transport.poll(1.0);
  }
  cost.seconds = wall_seconds() - start;
  cost.cpu_seconds = cpu_seconds() - cpu;
  for (const auto& listener : listeners) {
    if (!listener->problem.empty()) throw Error(options.url + ": " + listener->problem);
    cost.bytes += listener->received;
  }
  return cost;
}

}  // namespace dts::bench
