// A small HTTP server on a loopback port for tests: each connection has one request, each request goes to a function.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dts {

struct LoopbackRequest {
  std::string path;
  std::string headers;  // as they came
  std::string body;
};

// Writes to one client. False: it has gone away.
class LoopbackReply {
 public:
  explicit LoopbackReply(int socket) : socket_(socket) {}
  bool head(int status, const std::string& more = {});  // status line and headers, a chunked body follows
  bool chunk(std::string_view bytes);
  bool end();
  bool raw(std::string_view bytes);
  void wait_until_closed();  // by the client

 private:
  int socket_;
};

class LoopbackServer {
 public:
  using Handler = std::function<void(const LoopbackRequest&, LoopbackReply&)>;
  // `port`: 0 takes a free one.
  explicit LoopbackServer(Handler handler, int port = 0);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void accept_all();
  void serve(int socket);
  void join_finished();

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::vector<int> sockets_;  // open
  std::list<std::thread> threads_;
  std::vector<std::thread::id> finished_;
  std::thread acceptor_;
};

}  // namespace dts
