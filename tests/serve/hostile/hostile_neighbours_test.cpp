// Users of one server against each other: wide questions, full queues, other people's runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/serve_support.h"

namespace dts::serve {
namespace {

using nlohmann::json;

constexpr const char* kChat = "/v1/chat/completions";

HttpRequest with_key(HttpRequest request, const std::string& key) {
  request.headers.emplace_back("authorization", "Bearer " + key);
  return request;
}

HttpRequest chat(const std::string& key, const std::string& fields) {
  return with_key(post(kChat, R"({"messages":[{"role":"user","content":"hi"}],"seed":5,)" + fields + "}"), key);
}

constexpr const char* kWide = R"("max_tokens":450,"dts":{"method":"self-consistency","votes":16,"samples":16})";
constexpr const char* kSmall = R"("max_tokens":3,"dts":{"method":"standard"})";

HttpResponse ask(Service& service, const HttpRequest& request) { return Reading(service.handle(request)).whole(); }

std::string header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

ServiceOptions two_keys() {
  ServiceOptions options;
  options.access.keys = {"anna", "bert"};
  options.access.admin_keys = {"root"};
  options.limits.branches = 16;
  options.limits.small_lane = 2;
  return options;
}

// The engine steps when it is told to, so that who started when does not depend on the clock.
TEST(HostileNeighbours, ASmallQuestionBesideWideOnesIsAnsweredWhileTheyRun) {
  ScriptedService scripted(endless, two_keys(), 18);
  scripted.engine.before_step = [] { std::this_thread::yield(); };
  std::vector<std::unique_ptr<Reading>> wide;
  for (int i = 0; i < 3; ++i) wide.push_back(std::make_unique<Reading>(scripted.service.handle(chat("anna", kWide))));
  for (const char* key : {"anna", "bert"}) {
    const HttpResponse small = ask(scripted.service, chat(key, kSmall));
    EXPECT_EQ(small.status, 200) << small.body;
  }
  EXPECT_EQ(scripted.service.active_runs(), 3) << "the wide ones were to be there still";
  for (const auto& reading : wide) reading->leave();
}

TEST(HostileNeighbours, AKeySeesAndCancelsItsOwnRunsOnly) {
  ScriptedService scripted(endless, two_keys(), 18);
  Service& service = scripted.service;
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Reading running(service.handle(chat("anna", kWide)));
  const std::string id = running.id();
  const std::string path = "/v1/trees/" + id;
  const auto listed = [&](const std::string& key) {
    const json list = json::parse(ask(service, with_key(get("/v1/trees"), key)).body)["data"];
    return std::any_of(list.begin(), list.end(), [&](const json& run) { return run["id"] == id; });
  };
  EXPECT_TRUE(listed("anna"));
  EXPECT_FALSE(listed("bert"));
  EXPECT_TRUE(listed("root"));
  const auto status = [&](HttpRequest request, const std::string& key) {
    return ask(service, with_key(std::move(request), key)).status;
  };
  // To the other it is as if there were none.
  const HttpResponse none = ask(service, with_key(get("/v1/trees/nothing"), "bert"));
  EXPECT_EQ(ask(service, with_key(get(path), "bert")).body, none.body);
  EXPECT_EQ(status(get(path + "/events"), "bert"), 404);
  EXPECT_EQ(status(post(path + "/cancel", ""), "bert"), 404);
  EXPECT_EQ(status({"DELETE", path, {}, {}}, "bert"), 404);
  EXPECT_EQ(status(get(path), "anna"), 200);
  EXPECT_EQ(status(get(path), "root"), 200);
  EXPECT_EQ(service.active_runs(), 1);
  EXPECT_EQ(status(post(path + "/cancel", ""), "root"), 200);
  EXPECT_EQ(running.whole().status, 410);
}

TEST(HostileNeighbours, SharedTreesAreSeenByAll) {
  ServiceOptions options = two_keys();
  options.access.shared_runs = true;
  ScriptedService scripted(ScriptedService::random(3), options, 18);
  const json reply = json::parse(ask(scripted.service, chat("anna", R"("max_tokens":40)")).body);
  const std::string path = "/v1/trees/" + reply["id"].get<std::string>();
  EXPECT_EQ(ask(scripted.service, with_key(get(path), "bert")).status, 200);
}

TEST(HostileNeighbours, PathsAreTakenWithoutTheirVersionAndWhatIsNotThereSaysWhatIs) {
  ScriptedService scripted(ScriptedService::random(3), two_keys(), 18);
  HttpRequest request = chat("anna", R"("max_tokens":20)");
  request.path = "/chat/completions";
  EXPECT_EQ(ask(scripted.service, request).status, 200);
  EXPECT_EQ(ask(scripted.service, with_key(get("/models"), "anna")).status, 200);
  for (const char* path : {"/v1/embeddings", "/embeddings", "/v1/nothing"}) {
    const HttpResponse none = ask(scripted.service, with_key(post(path, "{}"), "anna"));
    EXPECT_EQ(none.status, 404);
    EXPECT_NE(none.body.find("/v1/chat/completions"), std::string::npos) << none.body;
  }
}

TEST(HostileNeighbours, OneKeyCannotFillTheQueueOfTheOthers) {
  ServiceOptions options = two_keys();
  options.limits.runs = 8;
  ScriptedService scripted(endless, options, 18);
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  std::vector<std::unique_ptr<Reading>> asked;
  HttpResponse refused;
  for (int i = 0; i < 5; ++i) {
    asked.push_back(std::make_unique<Reading>(scripted.service.handle(chat("anna", kWide))));
    EXPECT_EQ(scripted.service.active_runs(), std::min(i + 1, 4));
  }
  refused = asked.back()->whole();
  EXPECT_EQ(refused.status, 429);
  EXPECT_GE(std::stoi(header(refused, "Retry-After")), 1);
  EXPECT_EQ(ask(scripted.service, chat("bert", kSmall)).status, 200);
  for (const auto& reading : asked) reading->leave();
}

TEST(HostileNeighbours, WhoWaitsTooLongIsToldWhenToComeBack) {
  ServiceOptions options = two_keys();
  options.limits.queue_seconds = 0.05;
  ScriptedService scripted(endless, options, 18);
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Reading running(scripted.service.handle(chat("anna", kWide)));
  const HttpResponse late = ask(scripted.service, chat("bert", kWide));
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(json::parse(late.body)["error"]["code"], "queue_timeout");
  EXPECT_GE(std::stoi(header(late, "Retry-After")), 1);
  const HttpResponse streamed = ask(scripted.service, chat("bert", std::string(kWide) + R"(,"stream":true)"));
  EXPECT_NE(streamed.body.find("queue_timeout"), std::string::npos);
  running.leave();
}

}  // namespace
}  // namespace dts::serve
