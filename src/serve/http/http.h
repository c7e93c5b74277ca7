// Requests and replies as the server's parts see them: no sockets, so that everything above them is tested without.
#pragma once

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::serve {

struct HttpRequest {
  std::string method;                                        // "GET"
  std::string path;                                          // "/v1/models", as sent: not decoded, without its query
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // The first header of that name (in lower case); empty when there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // beside those every response has
};

// What answers one request. The connection polls it on one thread at a time and never blocks; destroying it before its
// end means that the client has gone.
class Reply {
 public:
  struct Piece {
    std::string data;  // empty: nothing to send now
    bool end = false;  // nothing will follow
    // The rest will never come: with the end, the client is told by its connection being closed before all of it.
    bool broken = false;
  };

  Reply() = default;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  virtual ~Reply() = default;

  // Called once, before anything else. `wake` may be called from any thread until the reply is destroyed; it asks for
  // another poll.
  virtual void on_change(std::function<void()> wake) = 0;
  // The response once it is known. Of one that streams, its body is empty and next() brings the pieces.
  virtual std::optional<HttpResponse> head() = 0;
  virtual bool streams() const { return false; }
  virtual Piece next() { return {{}, true}; }
};

// A reply that was known at once.
class ReadyReply final : public Reply {
 public:
  explicit ReadyReply(HttpResponse response) : response_(std::move(response)) {}
  void on_change(std::function<void()> /*wake*/) override {}
  std::optional<HttpResponse> head() override { return std::move(response_); }

 private:
  HttpResponse response_;
};

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::time_t time);

// "%41" -> "A"; what is no escape stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace dts::serve
