// Clients that hold connections without using them: those that have a key get in all the same.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "serve/http/http_server.h"
#include "support/serve_client.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

constexpr std::size_t kConnections = 24;
constexpr const char* kKey = "Authorization: Bearer secret\r\n";

struct Server {
  explicit Server(ServiceOptions options = {}) : scripted(ScriptedService::random(3), sized(std::move(options))) {}

  static ServiceOptions sized(ServiceOptions options) {
    options.limits.connections = kConnections;
    options.access.keys = {"secret"};
    return options;
  }
  RawResponse ask_with_key(RawClient& client) { return client.ask(http_get("/v1/models", kKey)); }

  ScriptedService scripted;
  HttpServer http{{"127.0.0.1", 0, 2}, scripted.service};
};

using Clients = std::vector<std::unique_ptr<RawClient>>;

// Three times as many as there may be, each of which does `hold` and then nothing.
Clients crowd(const Server& server, const std::function<void(RawClient&)>& hold) {
  Clients clients;
  for (std::size_t i = 0; i < 3 * kConnections; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.http.port()));
    hold(*clients.back());
  }
  return clients;
}

TEST(HostileConnections, IdleOnesGiveWay) {
  const std::vector<std::function<void(RawClient&)>> holds = {
      [](RawClient& client) { client.ask(http_get("/health")); },             // asked what everybody may ask
      [](RawClient&) {},                                                      // says nothing
      [](RawClient& client) { client.send("GET /v1/models HTTP/1.1\r\n"); },  // never ends its headers
      [](RawClient& client) {                                                 // never ends a body that nobody wants
        client.send("POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx");
      },
      [](RawClient& client) { client.ask(http_get("/v1/models")); },  // has been refused
      [](RawClient& client) {                                         // has a key, and never ends its body
        client.send(std::string("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n") + kKey +
                    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
      },
  };
  for (std::size_t i = 0; i < holds.size(); ++i) {
    Server server;
    // Somebody with a key was there before, and keeps its connection: it is the last to go.
    RawClient friendly(server.http.port());
    EXPECT_EQ(server.ask_with_key(friendly).status, 200);
    const Clients clients = crowd(server, holds[i]);
    EXPECT_EQ(server.ask_with_key(friendly).status, 200) << "hold " << i;
    for (int again = 0; again < 5; ++again) {
      RawClient client(server.http.port());
      EXPECT_EQ(server.ask_with_key(client).status, 200) << "hold " << i;
    }
  }
}

TEST(HostileConnections, WhoeverIsAtWorkStays) {
  Server server;
  server.scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Clients busy;
  for (std::size_t i = 0; i < kConnections / 2; ++i) {
    busy.push_back(std::make_unique<RawClient>(server.http.port()));
    busy.back()->send(
        http_post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":40})", kKey));
  }
  const Clients idle = crowd(server, [](RawClient& client) { client.ask(http_get("/health")); });
  for (const auto& client : busy) EXPECT_EQ(client->response().status, 200);
}

}  // namespace
}  // namespace dts::serve
