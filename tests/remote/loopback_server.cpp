#include "remote/loopback_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace dts {

bool LoopbackReply::raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool LoopbackReply::head(int status, const std::string& more) {
  return raw("HTTP/1.1 " + std::to_string(status) +
             " X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n" + more +
             "\r\n");
}

bool LoopbackReply::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return raw(std::string(size) + std::string(bytes) + "\r\n");
}

bool LoopbackReply::end() { return raw("0\r\n\r\n"); }

void LoopbackReply::wait_until_closed() {
  char byte = 0;
  while (recv(socket_, &byte, 1, 0) > 0) {
  }
}

LoopbackServer::LoopbackServer(Handler handler, int port) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int again = 1;  // the port of one that has just gone
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  socklen_t length = sizeof address;
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, 64) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no loopback port");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  closing_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

void LoopbackServer::accept_all() {
  while (!closing_) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    join_finished();
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

// A thread that has ended keeps its stack until it is joined.
void LoopbackServer::join_finished() {
  std::list<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto thread = threads_.begin(); thread != threads_.end();) {
      const auto next = std::next(thread);
      const auto found = std::find(finished_.begin(), finished_.end(), thread->get_id());
      if (found != finished_.end()) {
        finished_.erase(found);
        ended.splice(ended.end(), threads_, thread);
      }
      thread = next;
    }
  }
  for (std::thread& thread : ended) thread.join();
}

void LoopbackServer::serve(int socket) {
  std::string text;
  std::size_t body = std::string::npos;
  std::size_t length = 0;
  char buffer[65536];
  while (body == std::string::npos || text.size() < body + length) {
    const ssize_t n = recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
    if (const std::size_t end = text.find("\r\n\r\n"); body == std::string::npos && end != std::string::npos) {
      body = end + 4;
      const std::size_t field = text.find("Content-Length: ");
      if (field != std::string::npos && field < end) length = std::strtoull(text.c_str() + field + 16, nullptr, 10);
    }
  }
  if (body != std::string::npos && text.size() >= body + length) {
    LoopbackRequest request;
    const std::size_t path = text.find(' ') + 1;
    request.path = text.substr(path, text.find(' ', path) - path);
    request.headers = text.substr(0, body);
    request.body = text.substr(body);
    ++requests_;
    LoopbackReply reply(socket);
    handler_(request, reply);
  }
  const std::lock_guard lock(mutex_);
  close(socket);
  sockets_.erase(std::find(sockets_.begin(), sockets_.end(), socket));
  finished_.push_back(std::this_thread::get_id());
}

}  // namespace dts
