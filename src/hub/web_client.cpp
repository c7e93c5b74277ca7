#include "hub/web_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "text/ascii.h"
#include "text/display.h"

namespace dts::hub {
namespace {

constexpr int kMostRedirects = 10;
constexpr std::size_t kLongestComplaint = 4096;  // bytes kept of an answer that is no success
constexpr std::size_t kMostHeaders = 200;

struct CurlDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(char* text) const { curl_free(text); }
};
template <typename T>
using CurlOwned = std::unique_ptr<T, CurlDeleter>;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One request without redirects.
struct Exchange {
  CURL* easy = nullptr;
  const WebHooks* hooks = nullptr;
  WebAnswer answer;
  bool head_told = false;
  bool stopped = false;
  std::exception_ptr thrown;  // by a hook: libcurl is C and must not see it

  int status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }
  void tell_head() {
    if (head_told) return;
    head_told = true;
    answer.status = status();
    if (hooks->on_head && !is_redirect(answer.status)) hooks->on_head(answer);
  }
};

std::size_t receive_header(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view line(bytes, size * count);
  if (line.starts_with("HTTP/")) exchange.answer.headers.clear();  // "100 Continue" came before
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && exchange.answer.headers.size() < kMostHeaders) {
    exchange.answer.headers[text::lower_case(line.substr(0, colon))] = std::string(text::trim(line.substr(colon + 1)));
  }
  return line.size();
}

std::size_t receive_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view data(bytes, size * count);
  try {
    exchange.tell_head();
    if (exchange.answer.status == 200 || exchange.answer.status == 206) {
      if (exchange.hooks->on_body) exchange.hooks->on_body(data);
    } else {
      std::string& body = exchange.answer.body;
      body += data.substr(0, kLongestComplaint - std::min(kLongestComplaint, body.size()));
    }
  } catch (...) {
    exchange.thrown = std::current_exception();
    return data.size() + 1;  // ends the transfer
  }
  return data.size();
}

int look_up(void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& exchange = *static_cast<Exchange*>(to);
  if (exchange.hooks->stopping && exchange.hooks->stopping()) exchange.stopped = true;
  return exchange.stopped ? 1 : 0;
}

// Worth another try: the way to the server, not what it says.
bool passes(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
      return true;
    default:
      return false;
  }
}

// What a person can do about it.
const char* advice(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
      return "; the package ca-certificates has those that are usually trusted, SSL_CERT_FILE can name a file of "
             "others";
    default:
      return "";
  }
}

std::string url_part(const std::string& url, CURLUPart part, unsigned flags = 0) {
  const CurlOwned<CURLU> parsed(curl_url());
  char* text = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return "";
  if (curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK) return "";
  const CurlOwned<char> owned(text);
  return text;
}

// The answer, and where it sends us; empty: nowhere.
std::pair<WebAnswer, std::string> get_once(const WebRequest& request, const std::string& url, const WebHooks& hooks) {
  const CurlOwned<CURL> easy(curl_easy_init());
  if (!easy) throw Error("libcurl could not be started");
  Exchange exchange;
  exchange.easy = easy.get();
  exchange.hooks = &hooks;
  CurlOwned<curl_slist> headers;
  const auto add_header = [&headers](const std::string& line) {
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  };
  if (!request.token.empty() && origin_of(url) == request.token_origin) {
    add_header("Authorization: Bearer " + request.token);
  }
  if (request.from > 0) add_header(fmt::format("Range: bytes={}-", request.from));

  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy.get(), CURLOPT_NOBODY, request.head_only ? 1L : 0L);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
  curl_easy_setopt(easy.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(request.stall_seconds)));
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_USERAGENT, "dts");
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, receive_header);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, receive_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFOFUNCTION, look_up);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, &exchange);

  if (!request.certificates.empty()) curl_easy_setopt(easy.get(), CURLOPT_CAINFO, request.certificates.c_str());

  const CURLcode code = curl_easy_perform(easy.get());
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  if (exchange.stopped) throw WebStopped();
  if (code != CURLE_OK) {
    throw WebError(fmt::format("{}: {}{}", text::one_line(origin_of(url)), curl_easy_strerror(code), advice(code)),
                   !passes(code));
  }
  exchange.tell_head();
  std::string next;
  if (is_redirect(exchange.answer.status)) {
    char* location = nullptr;
    curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &location);
    if (location != nullptr) next = location;
  }
  return {std::move(exchange.answer), next};
}

}  // namespace

std::string origin_of(const std::string& url) {
  const std::string scheme = url_part(url, CURLUPART_SCHEME);
  const std::string host = url_part(url, CURLUPART_HOST);
  const std::string port = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (scheme.empty() || host.empty()) return "";
  return text::lower_case(scheme) + "://" + text::lower_case(host) + ":" + port;
}

std::string url_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain =
        text::is_letter(c) || text::is_digit(c) || std::string_view("/-._~").find(c) != std::string::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void web_wait(double seconds, const std::function<bool()>& stopping) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLook = std::chrono::milliseconds(100);
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
    if (stopping && stopping()) throw WebStopped();
    std::this_thread::sleep_for(std::min(kLook, end - now));
  }
}

WebAnswer web_get(const WebRequest& request, const WebHooks& hooks) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  std::string url = request.url;
  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    auto [answer, next] = get_once(request, url, hooks);
    if (next.empty()) return std::move(answer);
    if (request.head_only && origin_of(next) != origin_of(url)) return std::move(answer);
    if (url.starts_with("https:") && !next.starts_with("https:")) {
      throw WebError(fmt::format("{} sends us to {}, where nobody would be protected: refused",
                                 text::one_line(origin_of(url)), text::one_line(origin_of(next))),
                     true);
    }
    url = next;
  }
  throw WebError(fmt::format("{}: more than {} redirects", text::one_line(origin_of(request.url)), kMostRedirects),
                 true);
}

}  // namespace dts::hub
