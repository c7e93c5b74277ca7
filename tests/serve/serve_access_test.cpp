// Who may ask: keys, hosts, origins.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serve/http/access.h"

namespace dts::serve {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

int refusal(const Access& access, const std::string& path, const Headers& headers, const std::string& method = "GET") {
  const auto response = access.refuse({method, path, headers, {}});
  return response ? response->status : 0;
}

TEST(Access, WithAKeyEveryRouteButHealthAsksForIt) {
  const Access access({{"secret", "other"}, {}, {}});
  for (const char* path : {"/", "/v1/models", "/metrics", "/v1/trees", "/v1/chat/completions", "/index.html", "/x"}) {
    EXPECT_EQ(refusal(access, path, {}), 401) << path;
    EXPECT_EQ(refusal(access, path, {{"authorization", "Bearer secret"}}), 0) << path;
  }
  EXPECT_EQ(refusal(access, "/health", {}), 0);
  EXPECT_EQ(refusal(access, "/healthy", {}), 401);
  EXPECT_EQ(refusal(access, "/", {{"authorization", "bearer other"}}), 0);
  EXPECT_EQ(refusal(access, "/", {{"authorization", "Basic dXNlcjpzZWNyZXQ="}}), 0);  // user:secret
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer secre", "Bearer secrett", "Bearer SECRET", "secret",
                            "Basic secret", "Basic c2VjcmV0", "Basic !!!!", "Digest secret", "Bearer  secret"}) {
    EXPECT_EQ(refusal(access, "/", {{"authorization", wrong}}), 401) << wrong;
  }
}

// A browser opens a prompt of its own for "Basic", whoever asked.
TEST(Access, OnlyThePageAsksForAPassword) {
  const Access access({{"secret"}, {}, {}});
  const auto challenge = [&](const char* path) { return access.refuse({"GET", path, {}, {}})->headers.at(0); };
  for (const char* path : {"/", "/index.html", "/metrics"}) {
    EXPECT_EQ(challenge(path).first, "WWW-Authenticate");
    EXPECT_TRUE(challenge(path).second.starts_with("Basic ")) << path;
  }
  for (const char* path : {"/v1/models", "/v1/trees/x/events"}) {
    EXPECT_EQ(challenge(path).first, "WWW-Authenticate");
    EXPECT_TRUE(challenge(path).second.starts_with("Bearer ")) << path;
  }
}

TEST(Access, ComparesAllOfAKey) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc", "ABC"}) EXPECT_FALSE(equal_in_constant_time("abc", other));
}

TEST(Access, OnlyKnownHostsAreAnswered) {
  const Access access({{}, {"localhost", "127.0.0.1", "::1"}, {}});
  for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"}) {
    EXPECT_EQ(refusal(access, "/", {{"host", host}}), 0) << host;
  }
  for (const char* host :
       {"", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil", "[::1"}) {
    EXPECT_EQ(refusal(access, "/", {{"host", host}}), 403) << host;
    EXPECT_EQ(refusal(access, "/health", {{"host", host}}), 403) << host;
  }
  EXPECT_EQ(refusal(Access({}), "/", {{"host", "anything"}}), 0);
  EXPECT_EQ(refusal(Access({{}, {"MyBox"}, {}}), "/", {{"host", "mybox:80"}}), 0);
  EXPECT_EQ(refusal(Access({{}, {"MyBox"}, {}}), "/", {{"host", "MyBox"}}), 0);
}

TEST(Access, PagesOfOtherOriginsAreRefusedUnlessAllowed) {
  const Access closed({});
  EXPECT_EQ(refusal(closed, "/", {{"host", "a:1"}, {"origin", "http://a:1"}}), 0);
  EXPECT_EQ(refusal(closed, "/", {{"host", "a:1"}, {"origin", "http://a:2"}}), 403);
  EXPECT_EQ(refusal(closed, "/", {{"host", "a:1"}, {"origin", "null"}}), 403);
  EXPECT_TRUE(closed.cors_headers({"GET", "/", {{"origin", "http://a:2"}}, {}}).empty());
  const HttpRequest preflight{
      "OPTIONS", "/v1/models", {{"origin", "https://page.example"}, {"access-control-request-method", "GET"}}, {}};
  EXPECT_FALSE(closed.answers_preflight(preflight));

  const Access open({{"key"}, {}, {"https://page.example"}});
  EXPECT_TRUE(open.answers_preflight(preflight));  // browsers send no key with it
  EXPECT_EQ(open.cors_headers(preflight).front(),
            (std::pair<std::string, std::string>("Access-Control-Allow-Origin", "https://page.example")));
  EXPECT_TRUE(open.cors_headers({"GET", "/", {{"origin", "https://other.example"}}, {}}).empty());
  EXPECT_EQ(Access({{}, {}, {"*"}}).cors_headers(preflight).front().second, "*");
}

}  // namespace
}  // namespace dts::serve
