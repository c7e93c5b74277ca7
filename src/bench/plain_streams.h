// Streams as any client would read them: requests at once, events counted, nothing looked at.
#pragma once

#include <string>
#include <vector>

#include "bench/remote_bench.h"
#include "engine/remote/server_protocol.h"
#include "engine/remote/transport.h"

namespace dts::bench {

// One stream: so many tokens after the prefix, end tokens or not.
struct PlainStream {
  std::vector<Token> prefix;
  int tokens = 0;
};

struct PlainStreamsOptions {
  std::string url;
  std::vector<std::string> headers;
  SamplingOptions sampling;
};

// All of them at once. Throws dts::Error when a request fails.
StreamCost run_plain_streams(const remote::Protocol& protocol, remote::Transport& transport,
                             const PlainStreamsOptions& options, const std::vector<PlainStream>& streams);

// Of this process so far, user and system.
double cpu_seconds();
double wall_seconds();

}  // namespace dts::bench
