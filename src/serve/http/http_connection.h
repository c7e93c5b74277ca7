// One client's connection, from its first byte to its last.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/awaitable.h"
#include "serve/service.h"

namespace dts::serve {

// Everything but drain(), standing() and give_way() runs on the connection's own strand.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::ip::tcp::socket socket, Service& service, const std::atomic<bool>& draining);

  boost::asio::ip::tcp::socket::executor_type executor() { return socket_.get_executor(); }
  boost::asio::awaitable<void> serve();
  // For a connection too many: says so, and is gone.
  boost::asio::awaitable<void> turn_away();

  // What it is worth keeping for when there are too many.
  struct Standing {
    bool waits = true;                            // for the client: it is idle, or its request is not there yet
    bool known = false;                           // it has shown a key, or needs none, and has sent what it announced
    std::chrono::steady_clock::duration since{};  // since then, as the clock counts

    // Whether it should rather go than `other`; both wait.
    bool gives_way_before(const Standing& other) const { return known != other.known ? !known : since < other.since; }
  };
  // Any thread.
  Standing standing() const;
  // Any thread, once: it is closed if it still waits.
  void give_way();
  bool gives_way() const { return leaving_; }

  // From any thread: nothing more is read once the reply under way has been sent.
  void drain();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  template <typename T>
  using Task = boost::asio::awaitable<T>;

  // True: the connection can be used for another request.
  Task<bool> serve_request();
  Task<bool> await_first_byte(std::chrono::milliseconds patience);
  // For a request that cannot be, or must not be, read to its end. All return false.
  Task<bool> refuse_unread(int status, std::string message, std::string code);
  Task<bool> refuse_unreadable(boost::system::error_code error);
  Task<bool> answer(const HttpRequest& request, bool keep_alive, unsigned version);
  Task<bool> stream(Reply& reply, HttpResponse head, bool keep_alive, unsigned version);
  Task<bool> send(const HttpResponse& response, bool keep_alive, unsigned version, bool with_body = true);
  Task<bool> write(std::string_view bytes);
  // Waits until the reply wants to be polled again, `most` has passed, or the client has gone.
  Task<void> wait(std::chrono::milliseconds most);
  Task<void> watch_for_close(std::shared_ptr<bool> over, unsigned version);
  Task<void> linger();

  std::string head_text(const HttpResponse& response, bool keep_alive, unsigned version, const std::string& framing);
  void set_deadline(std::chrono::milliseconds time);
  void clear_deadline();
  void wake();
  void now_waits();

  boost::asio::ip::tcp::socket socket_;
  Service& service_;
  const std::atomic<bool>& draining_;
  boost::beast::flat_buffer buffer_;  // bounded: what is no body (chunk extensions, trailers) is held here
  boost::asio::steady_timer deadline_;
  std::uint64_t deadline_number_ = 0;  // a deadline that was replaced while its handler was queued is told apart
  bool expired_ = false;
  boost::asio::steady_timer wake_timer_;
  std::atomic<bool> awake_ = false;
  bool client_gone_ = false;
  bool response_begun_ = false;  // of the request under way
  std::atomic<bool> waits_ = true;
  std::atomic<bool> known_ = false;
  std::atomic<bool> owes_body_ = false;  // headers have come that announce more
  std::atomic<bool> leaving_ = false;
  std::atomic<std::chrono::steady_clock::rep> since_;
  bool first_request_ = true;
  bool between_requests_ = true;
  // Of the request under way, for its log line.
  std::string request_id_;
  std::vector<std::pair<std::string, std::string>> common_headers_;
  std::size_t bytes_sent_ = 0;
};

}  // namespace dts::serve
