#include "engine/remote/curl_transport.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "dts/error.h"
#include "engine/remote/answer_text.h"

namespace dts::remote {
namespace {

constexpr std::size_t kLongestComplaint = 4096;  // bytes kept of an answer that is no 200

struct HeaderDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Call {
  CallId id = 0;
  CURL* easy = nullptr;
  std::unique_ptr<curl_slist, HeaderDeleter> headers;
  CallListener* listener = nullptr;  // null: cancelled
  std::string body;
  std::vector<std::string> secrets;  // headers
  std::string complaint;
  bool* heard = nullptr;  // set when something arrives

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { curl_easy_cleanup(easy); }

  long status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

std::size_t receive(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& call = *static_cast<Call*>(to);
  const std::size_t n = size * count;
  *call.heard = true;
  if (call.listener == nullptr) return 0;
  if (call.status() == 200) {
    call.listener->data({bytes, n});
    return call.listener == nullptr ? 0 : n;
  }
  call.complaint.append(bytes, std::min(n, kLongestComplaint - std::min(kLongestComplaint, call.complaint.size())));
  return n;
}

class CurlTransport final : public Transport {
 public:
  CurlTransport() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_ = curl_multi_init();
    if (multi_ == nullptr) throw Error("libcurl could not be started");
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  }

  ~CurlTransport() override {
    for (auto& [id, call] : calls_) curl_multi_remove_handle(multi_, call->easy);
    calls_.clear();
    curl_multi_cleanup(multi_);
  }

  CallId start(const OutgoingRequest& request, CallListener& listener) override {
    auto call = std::make_unique<Call>();
    call->easy = curl_easy_init();
    if (call->easy == nullptr) throw Error("libcurl has no room for another request");
    call->id = next_++;
    call->listener = &listener;
    call->heard = &heard_;
    call->body = request.body;
    call->secrets = request.headers;
    curl_slist* headers = nullptr;
    for (const std::string& header : request.headers) headers = curl_slist_append(headers, header.c_str());
    if (request.post) headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    call->headers.reset(headers);
    CURL* easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect could carry the key to somebody else
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "dts");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call.get());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call.get());
    if (request.post) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.c_str());
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call->body.size()));
    }
    if (const CURLMcode added = curl_multi_add_handle(multi_, easy); added != CURLM_OK) {
      throw Error(fmt::format("a request could not be started: {}", curl_multi_strerror(added)));
    }
    const CallId id = call->id;
    calls_.emplace(id, std::move(call));
    return id;
  }

  void cancel(CallId id) override {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    found->second->listener = nullptr;
    // Not from inside its own callback: poll() sweeps those up.
    if (polling_) {
      cancelled_ = true;
    } else {
      remove(found);
    }
  }

  void poll(double seconds) override {
    polling_ = true;
    heard_ = false;
    int running = 0;
    curl_multi_perform(multi_, &running);
    deliver_ends();
    if (!heard_ && seconds > 0) {
      const int milliseconds = static_cast<int>(std::min(seconds, 3600.0) * 1000) + 1;
      curl_multi_poll(multi_, nullptr, 0, milliseconds, nullptr);
      curl_multi_perform(multi_, &running);
      deliver_ends();
    }
    polling_ = false;
    if (!std::exchange(cancelled_, false)) return;
    for (auto call = calls_.begin(); call != calls_.end();) {
      call = call->second->listener == nullptr ? remove(call) : std::next(call);
    }
  }

 private:
  using Calls = std::map<CallId, std::unique_ptr<Call>>;

  Calls::iterator remove(Calls::iterator call) {
    curl_multi_remove_handle(multi_, call->second->easy);
    return calls_.erase(call);
  }

  void deliver_ends() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      heard_ = true;
      Call* ended = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended);
      const CURLcode result = message->data.result;
      const auto found = calls_.find(ended->id);
      const std::unique_ptr<Call> call = std::move(found->second);
      curl_multi_remove_handle(multi_, call->easy);
      calls_.erase(found);
      if (call->listener != nullptr) report(*call, result);
    }
  }

  static void report(const Call& call, CURLcode result) {
    const long status = call.status();
    if (result == CURLE_OK && status == 200) return call.listener->done();
    CallFailure failure;
    if (result != CURLE_OK) {
      failure.text = curl_easy_strerror(result);
      failure.permanent = result == CURLE_URL_MALFORMAT;  // an answer that is no HTTP is "unsupported", and may pass
    } else {
      failure.text = complaint_of(status, without_secrets(call.complaint, call.secrets));
      failure.permanent = is_refusal(status);
      failure.busy = is_busy(status);
      curl_off_t wait = 0;
      curl_easy_getinfo(call.easy, CURLINFO_RETRY_AFTER, &wait);
      failure.retry_after = static_cast<double>(wait);
    }
    call.listener->failed(failure);
  }

  CURLM* multi_ = nullptr;
  Calls calls_;
  CallId next_ = 1;
  bool polling_ = false;
  bool cancelled_ = false;
  bool heard_ = false;
};

class SteadyClock final : public Clock {
 public:
  double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport() { return std::make_unique<CurlTransport>(); }

std::unique_ptr<Clock> make_steady_clock() { return std::make_unique<SteadyClock>(); }

}  // namespace dts::remote
