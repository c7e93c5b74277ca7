// Requests whose end a proxy and the server could see in different places: one answer, 400, and the connection is over.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serve/http/framing.h"
#include "serve/http/http_server.h"
#include "support/serve_client.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

constexpr const char* kInner = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string with_headers(const std::string& headers, const std::string& version = "1.1") {
  return "POST /v1/chat/completions HTTP/" + version + "\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         headers + "\r\n" + kInner;
}

TEST(HostileFraming, NothingIsSmuggled) {
  ScriptedService scripted(ScriptedService::random(3));
  HttpServer server({"127.0.0.1", 0, 2}, scripted.service);
  std::vector<std::string> requests;
  for (const char* value : {"xchunked", "identity", "gzip", "\"chunked\"", "chunked, identity", "identity, chunked",
                            "chunked, chunked", "chunked;q=1", "gzip, chunked", "", "chunked\x0b", ",chunked"}) {
    requests.push_back(with_headers("Transfer-Encoding: " + std::string(value) + "\r\n"));
  }
  requests.push_back(with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"));
  requests.push_back(with_headers("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"));
  requests.push_back(with_headers("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"));
  requests.push_back(with_headers("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"));
  requests.push_back(with_headers("Content-Length: 0\r\nContent-Length: 44\r\n"));
  requests.push_back(with_headers("Content-Length: 0, 0\r\n"));
  requests.push_back(with_headers("Content-Length: +0\r\n"));
  requests.push_back(with_headers("Content-Length: 0x0\r\n"));
  requests.push_back(with_headers("Content-Length: -1\r\n"));
  requests.push_back(with_headers("Transfer-Encoding : chunked\r\n"));
  requests.push_back(with_headers("Transfer-Encoding: chunked\r\n", "1.0"));
  for (const std::string& request : requests) {
    RawClient client(server.port());
    client.send(request);
    client.end_sending();
    const std::string all = client.receive_all();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 400 ")) << request << "\n" << all;
    EXPECT_EQ(all.find("HTTP/1.1 ", 1), std::string::npos) << "it answered twice:\n" << request << "\n" << all;
    EXPECT_NE(all.find("Connection: close"), std::string::npos);
  }
  EXPECT_EQ(RawClient(server.port()).ask(http_get("/health")).status, 200);
}

TEST(HostileFraming, WhatIsPlainIsTaken) {
  const auto fault = [](std::vector<std::pair<std::string, std::string>> headers, unsigned version = 11) {
    return framing_fault({"POST", "/", std::move(headers), {}}, version);
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({{"content-length", "12"}}), "");
  EXPECT_EQ(fault({{"content-length", "12"}}, 10), "");
  EXPECT_EQ(fault({{"transfer-encoding", "chunked"}}), "");
  EXPECT_EQ(fault({{"transfer-encoding", " Chunked "}}), "");
}

}  // namespace
}  // namespace dts::serve
