// HTTP/1.1 over TCP for a Service. Boost.Beast stays in the .cpp file.
//
// Why not a server with a thread for each connection: a slow client must cost a socket and not a thread; the whole of a
// request has a deadline, not each of its reads; a client that goes while it waits for an answer has to be noticed
// without writing to it; and nothing may be queued for a client that does not read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/service.h"

namespace dts::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address, or "localhost"
  std::uint16_t port = 8080;       // 0: any that is free
  int threads = 2;
};

class HttpServer {
 public:
  // Binds, listens and starts to answer. `service` must outlive it. Throws dts::Error naming the address.
  HttpServer(const HttpServerOptions& options, Service& service);
  // Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;

  // Stops to accept, and closes each connection once the reply it is busy with has been sent.
  void drain();
  std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether only this machine can reach the address. Throws dts::Error for what is no address.
bool is_loopback(const std::string& host);

}  // namespace dts::serve
