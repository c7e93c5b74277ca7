// A client that is as rude as a test needs it to be: bytes in, bytes out, over a real socket.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dts::serve {

struct RawResponse {
  int status = 0;  // 0: the connection ended without one
  std::string head;
  std::string body;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool connected = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
                           (errno == EINTR && goes_on_connecting());
    if (!connected) throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the server no longer takes it.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void end_sending() { shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Aborts rather than closes: the server sees a reset.
  void reset() {
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  // Appends what has come to the buffer; false at the end of the connection.
  bool receive() {
    if (!wait_for(POLLIN)) throw std::runtime_error("the server says nothing");
    char bytes[16384];
    ssize_t n = 0;
    do n = recv(fd_, bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }
  std::string receive_all() {
    while (receive()) {
    }
    return std::exchange(buffer_, {});
  }
  // One response, by its length or its chunks; what follows stays.
  RawResponse response() {
    RawResponse response;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return response;
    }
    response.head = buffer_.substr(0, end + 4);
    buffer_.erase(0, end + 4);
    response.status = std::stoi(response.head.substr(9, 3));
    if (const std::size_t at = response.head.find("Content-Length: "); at != std::string::npos) {
      response.body = take(std::stoul(response.head.substr(at + 16)));
    } else if (response.head.find("Transfer-Encoding: chunked") != std::string::npos) {
      while (true) {
        while (buffer_.find("\r\n") == std::string::npos) {
          if (!receive()) return response;
        }
        const std::size_t size = std::stoul(buffer_, nullptr, 16);
        buffer_.erase(0, buffer_.find("\r\n") + 2);
        response.body += take(size);
        take(2);
        if (size == 0) break;
      }
    }
    return response;
  }
  RawResponse ask(std::string_view bytes) {
    send(bytes);
    return response();
  }

 private:
  // A signal, as a fuzzer's clock sends them, is no silence.
  bool wait_for(short events) const {
    pollfd ready{fd_, events, 0};
    int n_ready = 0;
    do n_ready = poll(&ready, 1, 30'000);
    while (n_ready < 0 && errno == EINTR);
    return n_ready > 0;
  }

  // After a signal: the connection is still being made.
  bool goes_on_connecting() const {
    int error = 0;
    socklen_t size = sizeof error;
    if (!wait_for(POLLOUT) || getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return false;
    errno = error;
    return error == 0;
  }

  std::string take(std::size_t n) {
    while (buffer_.size() < n && receive()) {
    }
    std::string bytes = buffer_.substr(0, n);
    buffer_.erase(0, n);
    return bytes;
  }

  int fd_;
  std::string buffer_;
};

inline std::string http_get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

inline std::string http_post(const std::string& path, const std::string& body, const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

}  // namespace dts::serve
