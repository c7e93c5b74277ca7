// Runs that belong to no connection: POST /v1/trees starts one, and whoever may see it finds it again by its id.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "serve/service.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

using nlohmann::json;

std::string body(const std::string& fields = "") {
  return R"({"messages":[{"role":"user","content":"hi"}],"seed":5)" + (fields.empty() ? "" : "," + fields) + "}";
}

HttpResponse ask(Service& service, const HttpRequest& request) { return Reading(service.handle(request)).whole(); }

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

HttpRequest with_key(HttpRequest request, const std::string& key) {
  request.headers.emplace_back("authorization", "Bearer " + key);
  return request;
}

TEST(KeptRuns, GoOnWithoutAClientAndAreTheSameTree) {
  ScriptedService scripted(ScriptedService::random(3));
  Service& service = scripted.service;
  const HttpResponse started = ask(service, post("/v1/trees", body()));
  EXPECT_EQ(started.status, 202) << started.body;
  const json reply = json::parse(started.body);
  EXPECT_EQ(reply["object"], "tree");
  EXPECT_EQ(reply["ids"], json::array({reply["id"]}));
  // Nobody holds anything of it; its events are complete all the same.
  const std::string path = "/v1/trees/" + reply["id"].get<std::string>();
  const std::string events = ask(service, get(path + "/events")).body;
  EXPECT_NE(events.find("event: open"), std::string::npos);
  EXPECT_NE(events.find("event: done"), std::string::npos);
  // The same question as a completion grows the same tree.
  const json completion = json::parse(ask(service, post("/v1/chat/completions", body())).body);
  json kept = json::parse(ask(service, get(path)).body);
  json other = json::parse(ask(service, get("/v1/trees/" + completion["id"].get<std::string>())).body);
  EXPECT_EQ(kept["segments"], other["segments"]);
  EXPECT_EQ(kept["votes"], other["votes"]);
}

TEST(KeptRuns, EndWhenAskedTo) {
  ServiceOptions options;
  options.limits.seconds = 1000;
  ScriptedService scripted(endless, options);
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  Service& service = scripted.service;
  const std::string id = json::parse(ask(service, post("/v1/trees", body())).body)["id"];
  {
    Reading leaving(service.handle(get("/v1/trees/" + id + "/events")));
    std::string text;
    while (text.find("event: grow") == std::string::npos) {
      leaving.next(text);
      leaving.wait();
    }
  }
  EXPECT_EQ(service.active_runs(), 1);  // whoever watched has left; it goes on
  EXPECT_EQ(ask(service, HttpRequest{"DELETE", "/v1/trees/" + id, {}, {}}).status, 200);
  wait_until([&] { return service.active_runs() == 0; });
  EXPECT_EQ(json::parse(ask(service, get("/v1/trees/" + id)).body)["reason"], "cancelled");
}

TEST(KeptRuns, TakePlacesInTheQueueLikeAnyOther) {
  ServiceOptions options;
  options.limits.runs = 2;
  options.limits.seconds = 1000;
  ScriptedService scripted(endless, options);
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  Service& service = scripted.service;
  EXPECT_EQ(ask(service, post("/v1/trees", body(R"("n":2)"))).status, 202);
  EXPECT_EQ(ask(service, post("/v1/trees", body())).status, 429);
  service.cancel_all();
  wait_until([&] { return service.active_runs() == 0; });
}

TEST(KeptRuns, AreSeenByWhoeverMayAndNobodyElse) {
  ServiceOptions options;
  options.access.keys = {"mine", "theirs"};
  ScriptedService scripted(ScriptedService::random(3), options);
  Service& service = scripted.service;
  const std::string id = json::parse(ask(service, with_key(post("/v1/trees", body()), "mine")).body)["id"];
  wait_until([&] { return service.active_runs() == 0; });
  EXPECT_EQ(ask(service, with_key(get("/v1/trees/" + id), "mine")).status, 200);
  EXPECT_EQ(ask(service, with_key(get("/v1/trees/" + id), "theirs")).status, 404);
  EXPECT_EQ(ask(service, get("/v1/trees/" + id)).status, 401);
  EXPECT_EQ(ask(service, post("/v1/trees", body())).status, 401);
}

TEST(KeptRuns, RefuseWhatACompletionRefuses) {
  ScriptedService scripted(ScriptedService::random(3));
  Service& service = scripted.service;
  for (const char* wrong :
       {"", "[]", "{}", R"({"messages":[]})", R"({"messages":[{"role":"user","content":"x"}],"dts":7})"}) {
    const HttpResponse as_tree = ask(service, post("/v1/trees", wrong));
    const HttpResponse as_chat = ask(service, post("/v1/chat/completions", wrong));
    EXPECT_EQ(as_tree.status, 400) << wrong;
    EXPECT_EQ(as_tree.body, as_chat.body);
  }
  EXPECT_EQ(ask(service, HttpRequest{"PUT", "/v1/trees", {}, {}}).status, 405);
}

TEST(KeptRuns, TellTimeAndMemoryAsTheyGrow) {
  ScriptedService scripted(ScriptedService::random(3));
  const std::string id = json::parse(ask(scripted.service, post("/v1/trees", body())).body)["id"];
  const std::string events = ask(scripted.service, get("/v1/trees/" + id + "/events")).body;
  std::istringstream lines(events);
  double last = 0;
  int told = 0;
  std::string type;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event: ")) type = line.substr(7);
    if (type != "grow" || !line.starts_with("data: ")) continue;
    const json data = json::parse(line.substr(6));
    EXPECT_GE(data["seconds"].get<double>(), last);
    EXPECT_GT(data["memory"].get<std::int64_t>(), 1 << 20);
    last = data["seconds"].get<double>();
    ++told;
  }
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace dts::serve
