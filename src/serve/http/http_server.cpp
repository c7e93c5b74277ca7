#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "dts/error.h"
#include "serve/http/http_connection.h"
#include "text/display.h"

namespace dts::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

asio::ip::address address_of(const std::string& host) {
  error_code error;
  auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) {
    throw out_of_range("host", "'" + host + "'", "an IP address, such as 127.0.0.1, ::1 or 0.0.0.0");
  }
  return address;
}

// As many as are asked for, and as there can be: the rest of the program wants some file descriptors, too.
std::size_t possible_connections(std::size_t asked) {
  constexpr rlim_t kOthers = 32;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return asked;
  const rlim_t most = files.rlim_cur > 2 * kOthers ? files.rlim_cur - kOthers : files.rlim_cur / 2;
  if (most >= asked) return asked;
  spdlog::warn("at most {} connections at once: the program may have {} files open", most, files.rlim_cur);
  return std::max<std::size_t>(1, most);
}

}  // namespace

bool is_loopback(const std::string& host) { return address_of(host).is_loopback(); }

class HttpServer::Impl {
 public:
  Impl(const HttpServerOptions& options, Service& service)
      : service_(service),
        most_connections_(possible_connections(service.limits().connections)),
        acceptor_(asio::make_strand(context_)) {
    const tcp::endpoint endpoint(address_of(options.host), options.port);
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw Error(fmt::format("{} {} {} {}: cannot listen there: {}", option_name("host"), options.host,
                              option_name("port"), options.port, error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
  }

  ~Impl() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  std::uint16_t port() const { return port_; }

  void drain() {
    draining_ = true;
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    const std::scoped_lock lock(mutex_);
    for (const auto& connection : connections_) connection->drain();
  }

  std::size_t connections() const {
    const std::scoped_lock lock(mutex_);
    return connections_.size();
  }

 private:
  // What a handler throws is its own connection's end.
  void run() {
    while (true) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        spdlog::error("a connection failed: {}", text::one_line(error.what()));
      }
    }
  }

  asio::awaitable<void> accept() {
    while (!draining_) {
      error_code error;
      tcp::socket socket(asio::make_strand(context_));
      co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
      if (error) {
        // Out of file descriptors, most likely: whoever only waits gives way, and its own is free in a moment.
        tell_refused(error);
        asio::steady_timer pause(acceptor_.get_executor(), give_up_one() ? kMoment : kWhile);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
        continue;
      }
      socket.set_option(tcp::no_delay(true), error);
      start(std::make_shared<HttpConnection>(std::move(socket), service_, draining_));
    }
  }

  // Not for every try: there are many in a second.
  void tell_refused(const error_code& error) {
    constexpr std::chrono::seconds kBetween{10};
    const auto now = std::chrono::steady_clock::now();
    if (told_ && now - *told_ < kBetween) return;
    told_ = now;
    spdlog::warn("cannot accept a connection: {}", error.message());
  }

  bool give_up_one() {
    const std::scoped_lock lock(mutex_);
    return make_room();
  }

  void start(const std::shared_ptr<HttpConnection>& connection) {
    bool too_many = false;
    {
      const std::scoped_lock lock(mutex_);
      too_many = connections_.size() >= most_connections_ && !make_room();
      connections_.insert(connection);
    }
    asio::co_spawn(
        connection->executor(),
        [connection, too_many] { return too_many ? connection->turn_away() : connection->serve(); },
        [this, connection](const std::exception_ptr&) {
          const std::scoped_lock lock(mutex_);
          connections_.erase(connection);
        });
  }

  // Whoever only waits gives way to a newcomer, those that have shown no key first: holding connections open must not
  // keep the others out. False when all are at work, or as many as there may be are leaving already. Under the lock.
  bool make_room() {
    std::shared_ptr<HttpConnection> first;
    std::size_t leaving = 0;
    for (const auto& connection : connections_) {
      if (connection->gives_way()) {
        ++leaving;
        continue;
      }
      const HttpConnection::Standing standing = connection->standing();
      if (standing.waits && (!first || standing.gives_way_before(first->standing()))) first = connection;
    }
    if (!first || leaving >= most_connections_) return false;
    first->give_way();
    return true;
  }

  static constexpr std::chrono::milliseconds kMoment{5};
  static constexpr std::chrono::milliseconds kWhile{100};

  Service& service_;
  const std::size_t most_connections_;
  asio::io_context context_;
  tcp::acceptor acceptor_;                                     // used on its own strand only, once it listens
  std::optional<std::chrono::steady_clock::time_point> told_;  // likewise: that none could be accepted
  std::uint16_t port_ = 0;
  std::atomic<bool> draining_ = false;
  mutable std::mutex mutex_;
  std::set<std::shared_ptr<HttpConnection>> connections_;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(const HttpServerOptions& options, Service& service)
    : impl_(std::make_unique<Impl>(options, service)) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return impl_->port(); }

void HttpServer::drain() { impl_->drain(); }

std::size_t HttpServer::connections() const { return impl_->connections(); }

}  // namespace dts::serve
