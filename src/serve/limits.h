// What a client may ask for at most. All is checked before anything reaches the engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dts::serve {

struct Limits {
  // Of one connection.
  std::size_t header_bytes = std::size_t{16} << 10U;
  std::size_t body_bytes = std::size_t{2} << 20U;
  std::chrono::milliseconds header_time{10'000};  // from the first byte of a request to the end of its headers
  std::chrono::milliseconds body_time{30'000};    // for all of the body
  std::chrono::milliseconds idle_time{60'000};    // between two requests
  std::chrono::milliseconds write_time{30'000};   // for a client to take 64 KiB
  std::size_t connections = 512;

  // Of one request.
  int json_depth = 32;
  int json_values = 300'000;
  int messages = 1024;
  int tools = 128;
  int context = 0;                    // tokens a branch holds: the engine's; 0: not known
  int max_tokens = 0;                 // a trajectory; 0: what the context holds
  std::int64_t max_total_tokens = 0;  // unique tokens of a tree; 0: what its branches can hold
  int branches = 48;                  // at once; at most what the engine holds
  int branch_k = 16;
  int votes = 1024;  // and samples: a method that starts one for each is bounded by `branches`, too
  double seconds = 600;
  double queue_seconds = 300;                           // until a question starts
  std::int64_t request_bytes = std::int64_t{1} << 30U;  // that all of its choices may take at most
  double temperature = 2;                               // OpenAI's
  int choices = 8;                                      // n
  int stop_strings = 64;
  std::size_t stop_bytes = 256;  // of one stop string
  int top_logprobs = 20;

  // Of all together.
  int runs = 128;      // queued or running; a request with n choices is n runs
  int key_runs = 0;    // of those, a key's; 0: half of them where there are several keys
  int small_lane = 0;  // branches of the engine for requests that want no more
  std::int64_t prefix_bytes = std::int64_t{256} << 20U;  // of prompts that were prefilled; 0 keeps none
  int event_streams = 64;                                // open at once
  std::size_t kept_runs = 64;                            // trees of runs that are done
  std::size_t kept_bytes = std::size_t{256} << 20U;      // of those
};

}  // namespace dts::serve
