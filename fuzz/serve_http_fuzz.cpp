// libFuzzer: any bytes over a socket; the server answers in HTTP, or not at all, and goes on.
#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/http/http_server.h"
#include "support/serve_client.h"
#include "support/serve_support.h"

namespace {

using namespace dts::serve;

ServiceOptions short_limits() {
  ServiceOptions options;
  options.limits.body_bytes = 4096;
  options.limits.max_tokens = 8;
  options.limits.header_time = options.limits.body_time = std::chrono::milliseconds(50);
  options.limits.idle_time = std::chrono::milliseconds(20);
  options.limits.kept_runs = 2;
  return options;
}

struct Server {
  ScriptedService scripted{ScriptedService::random(3), short_limits()};
  HttpServer http{{"127.0.0.1", 0, 1}, scripted.service};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  // A client that has ended its side has gone, as far as the server knows; one that stays reads the answer.
  for (const bool stays : {false, true}) {
    RawClient client(server.http.port());
    client.send(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!stays) client.end_sending();
    const std::string answer = client.receive_all();
    if (!answer.empty() && !answer.starts_with("HTTP/1.")) std::abort();
    if (answer.find("HTTP/1.1 500") != std::string::npos) std::abort();
  }
  return 0;
}
