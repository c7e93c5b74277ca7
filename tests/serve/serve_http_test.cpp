// The server over real sockets: slow, rude, broken and leaving clients.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "dts/error.h"
#include "serve/http/http_server.h"
#include "serve/http/server_log.h"
#include "support/serve_client.h"
#include "support/serve_support.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kQuestion = R"({"messages":[{"role":"user","content":"hi"}],"seed":5,"max_tokens":400})";
constexpr const char* kStreamed =
    R"({"messages":[{"role":"user","content":"hi"}],"seed":5,"max_tokens":400,"stream":true})";

struct Server {
  explicit Server(LogitsScript script, ServiceOptions options = {})
      : scripted(std::move(script), std::move(options)), http({"127.0.0.1", 0, 2}, scripted.service) {}

  std::uint16_t port() const { return http.port(); }
  Service& service() { return scripted.service; }

  ScriptedService scripted;
  HttpServer http;
};

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(milliseconds(1));
}

// A step takes its time, so that there is time to leave.
void slow_down(Server& server) {
  server.scripted.engine.before_step = [] { std::this_thread::sleep_for(milliseconds(2)); };
}

TEST(HttpServer, ServesSeveralRequestsOnOneConnection) {
  Server server(ScriptedService::random(3));
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.ask(http_get("/health")).status, 200);
    const RawResponse reply = client.ask(http_post(kChat, kQuestion));
    EXPECT_EQ(reply.status, 200);
    const json body = json::parse(reply.body);
    EXPECT_NE(reply.head.find("X-Request-Id: " + body["id"].get<std::string>() + "\r\n"), std::string::npos);
    const RawResponse streamed = client.ask(http_post(kChat, kStreamed));
    EXPECT_TRUE(streamed.body.ends_with("data: [DONE]\n\n"));
  }
  const RawResponse last = client.ask(http_get("/health", "Connection: close\r\n"));
  EXPECT_NE(last.head.find("Connection: close"), std::string::npos);
  EXPECT_EQ(client.receive_all(), "");
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  Server server(ScriptedService::random(3));
  RawClient client(server.port());
  client.send(http_post(kChat, kQuestion) + http_get("/v1/models") + http_post(kChat, kStreamed) + http_get("/health"));
  EXPECT_EQ(json::parse(client.response().body)["object"], "chat.completion");
  EXPECT_EQ(json::parse(client.response().body)["object"], "list");
  EXPECT_TRUE(client.response().body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(client.response().body, R"({"status":"ok"})");
}

TEST(HttpServer, OldClientsGetNoChunks) {
  Server server(ScriptedService::random(3));
  RawClient client(server.port());
  const std::string body = kStreamed;
  client.send(
      "POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string all = client.receive_all();
  EXPECT_EQ(all.find("chunked"), std::string::npos);
  EXPECT_TRUE(all.ends_with("data: [DONE]\n\n"));
}

TEST(HttpServer, BytesOneByOneAreFineWithinTheDeadline) {
  Server server(ScriptedService::random(3));
  RawClient client(server.port());
  for (const char byte : http_post(kChat, kQuestion)) client.send(std::string_view(&byte, 1));
  EXPECT_EQ(client.response().status, 200);
}

TEST(HttpServer, SlowClientsAreTurnedAway) {
  ServiceOptions options;
  options.limits.header_time = milliseconds(100);
  options.limits.body_time = milliseconds(100);
  options.limits.idle_time = milliseconds(150);
  Server server(ScriptedService::random(3), options);
  // However regularly the bytes come: the deadline is the whole request's.
  RawClient headers(server.port());
  std::thread dripping([&] {
    for (int i = 0; i < 40 && headers.send(i == 0 ? "GET / HTTP/1.1\r\nX: " : "x"); ++i) {
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  EXPECT_EQ(headers.response().status, 408);
  dripping.join();
  RawClient body(server.port());
  body.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_EQ(body.response().status, 408);
  RawClient idle(server.port());
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_EQ(idle.response().status, 0);
  wait_until([&] { return server.http.connections() == 0; });
}

TEST(HttpServer, AClientThatDoesNotReadIsLeft) {
  ServiceOptions options;
  options.limits.write_time = milliseconds(200);
  options.limits.seconds = 1000;
  Server server(endless, options);
  slow_down(server);
  // One that asks for much and reads nothing: its socket fills, its deadline passes, its run is cancelled.
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 4000; ++i) requests += http_get("/v1/models");
  requests += http_post(kChat, kStreamed);
  std::thread sender([&] { client.send(requests); });
  wait_until([&] { return server.http.connections() == 0; });
  sender.join();
  EXPECT_EQ(server.service().active_runs(), 0);
}

TEST(HttpServer, LimitsAreCheckedBeforeTheBodyIsRead) {
  ServiceOptions options;
  options.limits.header_bytes = 1000;
  options.limits.body_bytes = 1000;
  options.access.keys = {"secret"};
  Server server(ScriptedService::random(3), options);
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/", "X: " + std::string(2000, 'x') + "\r\n")).status, 431);
  const std::string key = "Authorization: Bearer secret\r\n";
  const std::string start =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(RawClient(server.port()).ask(start + key + "Content-Length: 1001\r\n\r\n").status, 413);
  EXPECT_EQ(RawClient(server.port()).ask(start + key + "Content-Length: 99999999999999999999\r\n\r\n").status, 400);
  const std::string chunk = "200\r\n" + std::string(0x200, ' ') + "\r\n";
  EXPECT_EQ(RawClient(server.port())
                .ask(start + key + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk + "0\r\n\r\n")
                .status,
            413);
  // Without a key nobody waits for the rest of the body.
  EXPECT_EQ(RawClient(server.port()).ask(start + "Content-Length: 900\r\n\r\n").status, 401);
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/v1/models")).status, 401);
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/v1/models", key)).status, 200);
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
  // A client that asks before it sends is told to go on, or not.
  RawClient polite(server.port());
  polite.send(start + key + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(polite.response().status, 100);
  EXPECT_EQ(polite.ask("{}").status, 400);
  EXPECT_EQ(RawClient(server.port()).ask(start + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n").status, 401);
}

// What is sent beside the body has a limit, too.
TEST(HttpServer, ChunkExtensionsAndTrailersAreBounded) {
  ServiceOptions options;
  options.limits.body_bytes = 1000;
  Server server(ScriptedService::random(3), options);
  const std::string start =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  const std::string much(std::size_t{1} << 20U, 'a');
  for (const std::string& before : {std::string("1;"), std::string("1\r\n \r\n0\r\nX: ")}) {
    RawClient client(server.port());
    std::thread sender([&] {
      client.send(start + before);
      for (int i = 0; i < 64 && client.send(much); ++i) {
      }
    });
    const int status = client.response().status;
    EXPECT_TRUE(status == 413 || status == 431) << status;
    sender.join();
  }
  EXPECT_EQ(RawClient(server.port()).ask(start + "1;x=y\r\n{\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n").status, 400);
}

TEST(HttpServer, AHeadHasNoBodyWhateverItSays) {
  ServiceOptions options;
  options.access.hosts = {"localhost"};
  Server server(ScriptedService::random(3), options);
  RawClient client(server.port());
  for (const char* path : {"/health", "/v1/models", "/nothing"}) {
    for (const char* host : {"localhost", "evil.example"}) {
      client.send(std::string("HEAD ") + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    }
  }
  client.send(http_get("/health", "Connection: close\r\n"));
  const std::string all = client.receive_all();
  // Seven heads, of which the last has a body.
  std::size_t heads = 0;
  for (std::size_t at = 0; all.compare(at, 9, "HTTP/1.1 ") == 0; ++heads) {
    const std::size_t end = all.find("\r\n\r\n", at) + 4;
    EXPECT_NE(all.substr(at, end - at).find("Content-Length: "), std::string::npos);
    EXPECT_NE(all.substr(at, end - at).find(" GMT\r\n"), std::string::npos);
    at = end;
  }
  EXPECT_EQ(heads, 7U);
  EXPECT_TRUE(all.ends_with("\r\n\r\n{\"status\":\"ok\"}")) << all;
}

TEST(HttpServer, TargetsMayNameTheServer) {
  ServiceOptions options;
  options.access.hosts = {"localhost"};
  Server server(ScriptedService::random(3), options);
  const auto status = [&](const std::string& target, const std::string& host) {
    return RawClient(server.port()).ask("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
  };
  EXPECT_EQ(status("http://localhost:1/health", "localhost"), 200);
  EXPECT_EQ(status("HTTP://localhost/v1/models?x=y", "localhost"), 200);
  EXPECT_EQ(status("http://evil.example/health", "localhost"), 403);
  EXPECT_EQ(status("http://localhost/health", "evil.example"), 200);  // the target counts
  EXPECT_EQ(status("http://localhost", "localhost"), status("/", "localhost"));
}

TEST(HttpServer, LongPromptsHoldUpNobody) {
  std::atomic<bool> open = false;
  std::atomic<int> waiting = 0;
  Server server(ScriptedService::random(3));
  server.scripted.vocabulary.before_tokenize = [&] {
    ++waiting;
    wait_until([&] { return open.load(); });
  };
  const std::string body = R"({"messages":[{"role":"user","content":")" + std::string(20'000, ' ') + "\"}]}";
  RawClient one(server.port()), two(server.port());
  one.send(http_post(kChat, body));
  two.send(http_post(kChat, body));
  wait_until([&] { return waiting == 2; });  // as many as there are threads for connections
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
  open = true;
  EXPECT_EQ(one.response().status, 400);
  EXPECT_EQ(two.response().status, 400);
}

TEST(HttpServer, MoreConnectionsThanAllowedAreToldSoWhenAllAreAtWork) {
  ServiceOptions options;
  options.limits.connections = 2;
  Server server(endless, options);
  slow_down(server);
  RawClient one(server.port()), two(server.port());
  one.send(http_post(kChat, kQuestion));
  two.send(http_post(kChat, kQuestion));
  wait_until([&] { return server.service().active_runs() == 2; });
  RawClient three(server.port());
  const RawResponse refused = three.response();
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.head.find("Retry-After"), std::string::npos);
  one.close();
  three.close();
  wait_until([&] { return server.http.connections() == 1; });
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
}

TEST(HttpServer, AClientThatLeavesFreesItsBranches) {
  Server server(endless);
  slow_down(server);
  const auto leave = [&](const char* question, auto how) {
    RawClient client(server.port());
    client.send(http_post(kChat, question));
    wait_until([&] { return server.service().active_runs() == 1; });
    how(client);
    wait_until([&] { return server.service().active_runs() == 0; });
  };
  for (const char* question : {kQuestion, kStreamed}) {
    leave(question, [](RawClient& client) { client.close(); });
    leave(question, [](RawClient& client) { client.reset(); });
    // Although it has sent another request before.
    leave(question, [](RawClient& client) {
      client.send(http_get("/health"));
      client.close();
    });
  }
  wait_until([&] { return server.http.connections() == 0; });
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
}

// A client that closes its side has said all it wants to say, and waits.
TEST(HttpServer, AClientThatOnlyEndsItsSideIsAnswered) {
  Server server(ScriptedService::random(3));
  slow_down(server);
  for (const char* question : {kQuestion, kStreamed}) {
    RawClient client(server.port());
    client.send(http_post(kChat, question));
    client.end_sending();
    const std::string all = client.receive_all();
    EXPECT_NE(all.find("HTTP/1.1 200 OK"), std::string::npos) << all;
    EXPECT_NE(all.find("\"finish_reason\":\"stop\""), std::string::npos) << all;
  }
  // HTTP/1.0 knows no way to ask whether it is still there, and proxies that speak it close when their client goes.
  Server endless_one(endless);
  slow_down(endless_one);
  RawClient old(endless_one.port());
  std::string request = http_post(kChat, kQuestion);
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  old.send(request);
  wait_until([&] { return endless_one.service().active_runs() == 1; });
  old.end_sending();
  wait_until([&] { return endless_one.service().active_runs() == 0; });
}

TEST(HttpServer, DrainingFinishesWhatRunsAndEndsTheRest) {
  Server server(ScriptedService::random(3));
  slow_down(server);
  RawClient idle(server.port()), busy(server.port());
  EXPECT_EQ(idle.ask(http_get("/health")).status, 200);
  busy.send(http_post(kChat, kStreamed));
  wait_until([&] { return server.service().active_runs() == 1; });
  server.service().drain();
  server.http.drain();
  EXPECT_TRUE(busy.response().body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(idle.receive_all(), "");
  wait_until([&] { return server.http.connections() == 0; });
  EXPECT_THROW(RawClient(server.port()), std::runtime_error);
}

TEST(HttpServer, EventsFollowARunAndResume) {
  Server server(ScriptedService::random(3));
  slow_down(server);
  RawClient client(server.port()), watcher(server.port());
  client.send(http_post(kChat, kStreamed));
  // A request counts as active from before its prompt is read; its tree is there from then on.
  json trees;
  wait_until([&] {
    trees = json::parse(RawClient(server.port()).ask(http_get("/v1/trees")).body)["data"];
    return !trees.empty();
  });
  const std::string id = trees[0]["id"].get<std::string>();
  const std::string all = watcher.ask(http_get("/v1/trees/" + id + "/events")).body;
  EXPECT_NE(all.find("event: done\n"), std::string::npos);
  const std::string rest = watcher.ask(http_get("/v1/trees/" + id + "/events", "Last-Event-ID: 3\r\n")).body;
  EXPECT_EQ(rest, all.substr(all.find("id: 4\n")));
}

TEST(HttpServer, AddressesAreChecked) {
  EXPECT_TRUE(is_loopback("127.0.0.1") && is_loopback("127.1.2.3") && is_loopback("::1") && is_loopback("localhost"));
  EXPECT_FALSE(is_loopback("0.0.0.0") || is_loopback("::") || is_loopback("192.168.1.1"));
  EXPECT_THROW(is_loopback("example.org"), Error);
  Server server(ScriptedService::random(3));
  ScriptedService other(ScriptedService::random(3));
  EXPECT_THROW(HttpServer({"127.0.0.1", server.port(), 1}, other.service), Error);
}

// Nobody reads the log for a while: nobody waits for that, and what was dropped is counted.
TEST(ServerLog, AReaderThatStopsHoldsNobodyUp) {
  constexpr std::size_t kMost = 8 << 10U;
  constexpr int kLines = 50'000;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  LogLines log(ends[1], kMost);
  for (int i = 0; i < kLines; ++i) log.add(fmt::format("line {:094}\n", i));  // far more than a pipe holds
  int kept = 0, dropped = 0;
  for (std::string said; kept + dropped < kLines;) {
    std::array<char, 4096> bytes{};
    const ssize_t n = read(ends[0], bytes.data(), bytes.size());
    ASSERT_GT(n, 0);
    said.append(bytes.data(), static_cast<std::size_t>(n));
    for (std::size_t end = said.find('\n'); end != std::string::npos; end = said.find('\n')) {
      const std::string line = said.substr(0, end);
      said.erase(0, end + 1);
      if (const std::size_t at = line.find(" warning "); at != std::string::npos) {
        dropped += std::stoi(line.substr(at + 9));
        continue;
      }
      EXPECT_EQ(std::stoi(line.substr(5)), kept + dropped) << "as many were kept or told of as dropped before it";
      ++kept;
    }
  }
  EXPECT_EQ(kept + dropped, kLines);
  EXPECT_GT(dropped, 0);
  close(ends[0]);
}

// It is no sign of a slow reader: its beginning is kept, in whole characters.
TEST(ServerLog, ALongLineIsCut) {
  constexpr std::size_t kMost = 8 << 10U;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    LogLines log(ends[1], kMost);
    std::string line = "x";
    while (line.size() < 3 * kMost) line += "\xC3\xA4";
    log.add(line + "\n");
    log.add("short\n");
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> bytes{};
  for (ssize_t n = 0; (n = read(ends[0], bytes.data(), bytes.size())) > 0;) {
    said.append(bytes.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  EXPECT_TRUE(said.starts_with("x\xC3\xA4"));
  EXPECT_TRUE(said.ends_with(" bytes more)\nshort\n")) << said.size();
  EXPECT_LE(said.size(), kMost);
  EXPECT_GT(said.size(), kMost / 2 - 60);
  EXPECT_TRUE(text::is_valid_utf8(said));
  EXPECT_EQ(said.find("dropped"), std::string::npos);
}

// A reader that never comes back keeps the server from ending for a moment only; one that has gone, not even that.
TEST(ServerLog, NoReaderKeepsItFromEnding) {
  for (const bool gone : {false, true}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    if (gone) close(ends[0]);
    const auto before = signal(SIGPIPE, SIG_IGN);
    {
      LogLines log(ends[1]);
      for (int i = 0; i < 5000; ++i) log.add(std::string(99, 'x') + "\n");
    }
    signal(SIGPIPE, before);
    close(ends[1]);
    if (!gone) close(ends[0]);
  }
}

// Valid requests with bytes changed, dropped, doubled and cut: whatever comes, the server answers the next one.
TEST(HttpServer, SurvivesMalformedRequests) {
  ServiceOptions options;
  options.limits.body_bytes = 4000;
  options.limits.header_time = milliseconds(100);
  options.limits.body_time = milliseconds(100);
  options.limits.idle_time = milliseconds(20);
  Server server(ScriptedService::random(3), options);
  int answered = 0;
  std::mt19937 random(1);
  const std::vector<std::string> seeds = {
      http_post(kChat, kQuestion), http_post(kChat, kStreamed), http_get("/v1/trees/x/events", "Last-Event-ID: 1\r\n"),
      http_post("/v1/completions", R"({"prompt":"a","stop":["b"],"dts":{"votes":2}})"),
      "POST /v1/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"};
  for (int round = 0; round < 400; ++round) {
    std::string bytes = seeds[random() % seeds.size()];
    for (std::size_t changes = random() % 6; changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 5) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 20);
          break;
        case 2:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 60));
          break;
        case 3:
          bytes.insert(at, std::string(random() % 50, "\r\n\0{}[\"0:"[random() % 10]));
          break;
        default:
          bytes.resize(at);
          break;
      }
    }
    for (const bool ended : {true, false}) {
      RawClient client(server.port());
      client.send(bytes);
      if (ended) client.end_sending();
      const std::string answer = client.receive_all();
      ASSERT_TRUE(answer.empty() || answer.starts_with("HTTP/1.")) << answer;
      ASSERT_EQ(answer.find("HTTP/1.1 500 "), std::string::npos) << bytes;
      answered += !ended && answer.find("\"finish_reason\":\"") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(answered, 10);
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
  wait_until([&] { return server.service().active_runs() == 0; });
}

// Many at once, some of which leave: nobody fails, nobody starves, nothing is left behind.
TEST(HttpServer, ManyClientsSomeOfWhichLeave) {
  ServiceOptions options;
  options.limits.kept_runs = 4;
  Server server(ScriptedService::random(3), options);
  std::atomic<int> answered = 0, failed = 0;
  std::vector<std::thread> clients;
  for (unsigned c = 0; c < 32; ++c) {
    clients.emplace_back([&, c] {
      std::mt19937 random(c);
      for (int i = 0; i < 8; ++i) {
        RawClient client(server.port());
        client.send(http_post(kChat, random() % 2 == 0 ? kQuestion : kStreamed));
        if (random() % 4 == 0) {
          if (random() % 2 == 0) client.reset();
          continue;
        }
        const RawResponse reply = client.response();
        ++(reply.status == 200 && reply.body.find("\"finish_reason\":\"") != std::string::npos ? answered : failed);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(answered, 150);
  wait_until([&] { return server.service().active_runs() == 0 && server.http.connections() == 0; });
}

}  // namespace
}  // namespace dts::serve
