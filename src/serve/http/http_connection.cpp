#include "serve/http/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include "serve/api/api_error.h"
#include "serve/http/framing.h"
#include "serve/http/ids.h"
#include "text/ascii.h"
#include "text/display.h"

namespace dts::serve {
namespace {

using namespace text;

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSlice = std::size_t{64} << 10U;  // a client has Limits::write_time to take this much
constexpr std::chrono::milliseconds kTick{250};         // how often a stream is polled when nothing wakes it
constexpr std::chrono::milliseconds kEcho{20};          // for a client that has gone to be noticed
constexpr std::chrono::milliseconds kLinger{1000};  // for the client to read a refusal before its unread body resets it
constexpr std::size_t kLingerBytes = std::size_t{1} << 20U;

auto handled(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

// What a client has closed, whatever it has sent before.
enum class Closed { kNothing, kItsSide, kAll };

Closed closed_by(int fd) {
  pollfd state{fd, POLLRDHUP, 0};
  if (poll(&state, 1, 0) <= 0) return Closed::kNothing;
  if ((state.revents & (POLLHUP | POLLERR)) != 0) return Closed::kAll;
  return (state.revents & POLLRDHUP) != 0 ? Closed::kItsSide : Closed::kNothing;
}

HttpRequest request_of(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  std::string_view target(message.target().data(), message.target().size());
  // As a proxy is asked: "http://host:port/path". The host named there counts, whatever the header says.
  constexpr std::string_view kScheme = "http://";
  if (lower_case(target.substr(0, kScheme.size())) == kScheme) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    request.headers.emplace_back("host", std::string(target.substr(0, end)));
    target.remove_prefix(end);
  }
  request.path = std::string(target.substr(0, target.find('?')));
  if (request.path.empty()) request.path = "/";
  for (const auto& field : message) {
    const auto name = field.name_string();
    request.headers.emplace_back(lower_case({name.data(), name.size()}), std::string(field.value()));
  }
  return request;
}

}  // namespace

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, Service& service, const std::atomic<bool>& draining)
    : socket_(std::move(socket)),
      service_(service),
      draining_(draining),
      buffer_(service.limits().header_bytes + kSlice),
      deadline_(socket_.get_executor()),
      wake_timer_(socket_.get_executor()),
      since_(Clock::now().time_since_epoch().count()) {}

HttpConnection::Standing HttpConnection::standing() const {
  return {.waits = waits_, .known = known_ && !owes_body_, .since = Clock::duration(since_)};
}

void HttpConnection::now_waits() {
  since_ = Clock::now().time_since_epoch().count();
  waits_ = true;
}

void HttpConnection::give_way() {
  if (leaving_.exchange(true)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    if (self->waits_) self->socket_.cancel(ignored);
  });
}

void HttpConnection::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    if (self->between_requests_) self->socket_.cancel(ignored);
  });
}

// On expiry what is being read or written is cancelled, but the connection stays open: a client that was too slow can
// be told so.
void HttpConnection::set_deadline(std::chrono::milliseconds time) {
  expired_ = false;
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this(), number = ++deadline_number_](error_code error) {
    if (error || number != self->deadline_number_) return;
    self->expired_ = true;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

void HttpConnection::clear_deadline() {
  ++deadline_number_;
  deadline_.cancel();
}

void HttpConnection::wake() {
  if (awake_.exchange(true)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->wake_timer_.cancel(); });
}

HttpConnection::Task<void> HttpConnection::wait(std::chrono::milliseconds most) {
  if (!awake_.exchange(false) && !client_gone_) {
    error_code error;
    wake_timer_.expires_after(most);
    co_await wake_timer_.async_wait(handled(error));
    awake_ = false;
  }
}

// Only a connection that is being read notices its end. While a reply is made nothing is read, so this looks.
HttpConnection::Task<void> HttpConnection::watch_for_close(std::shared_ptr<bool> over, unsigned version) {
  const auto self = shared_from_this();
  asio::steady_timer pause(socket_.get_executor());
  bool asked = false;
  while (!*over) {
    error_code error;
    co_await socket_.async_wait(asio::ip::tcp::socket::wait_read, handled(error));
    if (*over) co_return;
    const int fd = socket_.native_handle();
    const Closed closed = error ? Closed::kAll : closed_by(fd);
    // Who has closed its side may have gone, or wait for the answer: only what is sent to it tells, by what comes back.
    // HTTP/1.0 has nothing that could be sent; there it is gone.
    if (closed == Closed::kAll || (closed == Closed::kItsSide && version < 11)) {
      client_gone_ = true;
      wake();
      co_return;
    }
    if (closed == Closed::kItsSide && !std::exchange(asked, true) && !response_begun_) {
      constexpr std::string_view kStillThere = "HTTP/1.1 102 Processing\r\n\r\n";
      ::send(fd, kStillThere.data(), kStillThere.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      pause.expires_after(kEcho);
      co_await pause.async_wait(handled(error));
      continue;
    }
    // It is readable and open: another request has come before this one was answered. From now on the socket is always
    // readable, so it is looked at from time to time.
    pause.expires_after(kTick);
    co_await pause.async_wait(handled(error));
  }
}

HttpConnection::Task<void> HttpConnection::serve() {
  const auto self = shared_from_this();
  try {
    while (co_await serve_request()) {
    }
  } catch (const std::exception& error) {
    spdlog::error("connection failed: {}", text::one_line(error.what()));
  }
  clear_deadline();
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

HttpConnection::Task<void> HttpConnection::turn_away() {
  const auto self = shared_from_this();
  co_await refuse_unread(503, "too many connections are open: try again later", "too_many_connections");
  error_code ignored;
  socket_.close(ignored);
}

HttpConnection::Task<bool> HttpConnection::await_first_byte(std::chrono::milliseconds patience) {
  if (buffer_.size() > 0) co_return true;
  if (draining_) co_return false;
  error_code error;
  set_deadline(patience);
  const std::size_t n = co_await socket_.async_read_some(buffer_.prepare(4096), handled(error));
  clear_deadline();
  if (error) co_return false;
  buffer_.commit(n);
  co_return true;
}

HttpConnection::Task<bool> HttpConnection::refuse_unread(int status, std::string message, std::string code) {
  request_id_ = new_id("req-");
  service_.count_response("unread", status);
  spdlog::info("{} unread: {} {}", request_id_, status, code);
  const HttpResponse response = error_response(ApiError(status, message, {}, code));
  co_await send(response, false, 11);
  co_await linger();
  co_return false;
}

HttpConnection::Task<bool> HttpConnection::refuse_unreadable(error_code error) {
  const Limits& limits = service_.limits();
  if (expired_) {
    co_return co_await refuse_unread(408, "the request took too long to arrive", "request_timeout");
  }
  if (error == http::error::header_limit) {
    co_return co_await refuse_unread(431, fmt::format("the headers are longer than {} bytes", limits.header_bytes),
                                     "headers_too_large");
  }
  if (error == http::error::body_limit || error == http::error::buffer_overflow) {
    co_return co_await refuse_unread(413, fmt::format("the body is longer than {} bytes", limits.body_bytes),
                                     "body_too_large");
  }
  // A client that has gone in the middle reads no answer.
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                    error.category() != make_error_code(http::error::bad_method).category();
  if (gone) co_return false;
  co_return co_await refuse_unread(400, "this is no HTTP request", "bad_request");
}

HttpConnection::Task<void> HttpConnection::linger() {
  error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  set_deadline(kLinger);
  for (std::size_t read = 0; !error && read < kLingerBytes;) {
    buffer_.clear();
    read += co_await socket_.async_read_some(buffer_.prepare(kSlice), handled(error));
  }
  clear_deadline();
}

HttpConnection::Task<bool> HttpConnection::serve_request() {
  const Limits& limits = service_.limits();
  between_requests_ = true;
  response_begun_ = false;
  owes_body_ = false;
  now_waits();
  if (leaving_) co_return false;
  common_headers_.clear();
  bytes_sent_ = 0;
  // Who has not said a word yet is given less time than who has.
  const bool first = std::exchange(first_request_, false);
  if (!co_await await_first_byte(first ? std::min(limits.idle_time, limits.header_time) : limits.idle_time)) {
    co_return false;
  }
  between_requests_ = false;
  now_waits();

  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  error_code error;
  set_deadline(limits.header_time);
  co_await http::async_read_header(socket_, buffer_, parser, handled(error));
  clear_deadline();
  if (expired_ || error) co_return co_await refuse_unreadable(error);

  HttpRequest request = request_of(parser.get());
  const bool keep_alive = parser.get().keep_alive() && !draining_;
  const unsigned version = parser.get().version();
  if (std::string fault = framing_fault(request, version); !fault.empty()) {
    co_return co_await refuse_unread(400, std::move(fault), "bad_request");
  }
  if (service_.knows(request)) known_ = true;
  owes_body_ = !parser.is_done();
  if (owes_body_ || !known_) {
    now_waits();
  } else {
    waits_ = false;
  }
  common_headers_ = service_.common_headers(request);
  if (const auto refusal = service_.refuse(request)) {
    request_id_ = new_id("req-");
    service_.count_response("refused", refusal->status);
    spdlog::info("{} refused: {}", request_id_, refusal->status);
    const bool goes_on = keep_alive && parser.is_done();  // a body that is not read ends the connection
    const bool sent = co_await send(*refusal, goes_on, version, request.method != "HEAD");
    if (sent && goes_on) co_return true;
    co_await linger();
    co_return false;
  }
  if (boost::beast::iequals(parser.get()[http::field::expect], "100-continue") && !parser.is_done()) {
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
    response_begun_ = false;
  }
  set_deadline(limits.body_time);
  co_await http::async_read(socket_, buffer_, parser, handled(error));
  clear_deadline();
  if (expired_ || error) co_return co_await refuse_unreadable(error);
  owes_body_ = false;
  waits_ = false;
  request.body = std::move(parser.get().body());
  co_return co_await answer(request, keep_alive, version);
}

HttpConnection::Task<bool> HttpConnection::answer(const HttpRequest& request, bool keep_alive, unsigned version) {
  const Clock::time_point start = Clock::now();
  Service::Handled handled_request = service_.handle(request);
  request_id_ = handled_request.id;
  std::unique_ptr<Reply>& reply = handled_request.reply;
  const auto over = std::make_shared<bool>(false);
  client_gone_ = false;
  awake_ = false;
  std::optional<HttpResponse> head = reply->streams() ? std::nullopt : reply->head();
  bool reusable = false;
  int status = 0;  // 0: the client was gone before there was one
  if (!head || reply->streams()) {
    reply->on_change([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
    asio::co_spawn(socket_.get_executor(), watch_for_close(over, version), asio::detached);
    if (!head) head = reply->head();
    while (!head && !client_gone_) {
      co_await wait(std::chrono::hours(1));
      head = reply->head();
    }
  }
  if (head && !client_gone_) {
    status = head->status;
    if (reply->streams()) {
      reusable = co_await stream(*reply, std::move(*head), keep_alive, version);
    } else {
      reusable = co_await send(*head, keep_alive, version, request.method != "HEAD");
    }
  }
  *over = true;
  reply.reset();
  error_code ignored;
  socket_.cancel(ignored);  // the watcher
  service_.count_response(handled_request.route, status);
  spdlog::info("{} {} {} {} bytes in {:.3f} s{}", request_id_, handled_request.route, status, bytes_sent_,
               std::chrono::duration<double>(Clock::now() - start).count(), client_gone_ ? ", the client left" : "");
  if (client_gone_ || !keep_alive) co_return false;
  co_return reusable;
}

HttpConnection::Task<bool> HttpConnection::stream(Reply& reply, HttpResponse head, bool keep_alive, unsigned version) {
  const bool chunked = version >= 11;
  const std::string framing = chunked ? "Transfer-Encoding: chunked\r\n" : "";
  const std::string start = head_text(head, keep_alive && chunked, version, framing);
  if (!co_await write(start)) co_return false;
  while (!client_gone_) {
    Reply::Piece piece = reply.next();
    if (piece.broken) co_return false;
    if (!piece.data.empty()) {
      if (chunked) piece.data = fmt::format("{:x}\r\n{}\r\n", piece.data.size(), piece.data);
      if (!co_await write(piece.data)) co_return false;
    }
    if (piece.end) {
      if (!chunked) co_return false;
      co_return co_await write("0\r\n\r\n");
    }
    if (piece.data.empty()) co_await wait(kTick);
  }
  co_return false;
}

HttpConnection::Task<bool> HttpConnection::send(const HttpResponse& response, bool keep_alive, unsigned version,
                                                bool with_body) {
  const bool bodiless = response.status == 204 || response.status == 304;
  const std::string framing = bodiless ? "" : fmt::format("Content-Length: {}\r\n", response.body.size());
  std::string head = head_text(response, keep_alive, version, framing);
  const bool body_follows = with_body && !bodiless;
  // Small responses in one packet.
  const bool together = body_follows && response.body.size() <= kSlice;
  if (together) head += response.body;
  if (!co_await write(head)) co_return false;
  if (together || !body_follows) co_return true;
  co_return co_await write(response.body);
}

HttpConnection::Task<bool> HttpConnection::write(std::string_view bytes) {
  response_begun_ = true;
  while (!bytes.empty()) {
    const std::string_view slice = bytes.substr(0, kSlice);
    error_code error;
    set_deadline(service_.limits().write_time);
    co_await asio::async_write(socket_, asio::buffer(slice.data(), slice.size()), handled(error));
    clear_deadline();
    if (error) {
      client_gone_ = true;
      co_return false;
    }
    bytes_sent_ += slice.size();
    bytes.remove_prefix(slice.size());
  }
  co_return true;
}

std::string HttpConnection::head_text(const HttpResponse& response, bool keep_alive, unsigned version,
                                      const std::string& framing) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head =
      fmt::format("HTTP/1.{} {} {}\r\n", version % 10, response.status, std::string_view(reason.data(), reason.size()));
  const auto add = [&head](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", name, value);
  };
  add("Server", "dts");
  add("Date", http_date(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  add("X-Request-Id", request_id_);
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  for (const auto& [name, value] : common_headers_) add(name, value);
  for (const auto& [name, value] : response.headers) add(name, value);
  add("Connection", keep_alive ? "keep-alive" : "close");
  return head + framing + "\r\n";
}

}  // namespace dts::serve
