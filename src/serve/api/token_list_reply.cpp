#include "serve/api/token_list_reply.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace dts::serve {

// The next kAtOnce tokens, with what stands before the first and after the last.
std::string TokenListReply::some() {
  std::string out = written_ == 0 ? R"({"tokens":[)" : "";
  const std::size_t end = std::min(tokens_.size(), written_ + kAtOnce);
  for (; written_ < end; ++written_) {
    const Token token = tokens_[written_];
    if (written_ > 0) out += ',';
    if (pieces_ == nullptr) {
      out += std::to_string(token);
    } else {
      out += R"({"id":)" + std::to_string(token) + R"(,"piece":)" +
             nlohmann::json(text::valid_utf8(pieces_->piece(token, true))).dump() + "}";
    }
  }
  if (written_ == tokens_.size()) out += "]}";
  return out;
}

std::optional<HttpResponse> TokenListReply::head() {
  HttpResponse response;
  if (!streams()) response.body = some();
  return response;
}

Reply::Piece TokenListReply::next() {
  if (Clock::now() >= last_) return {.data = {}, .end = true, .broken = true};
  std::string data = some();
  return {.data = std::move(data), .end = written_ == tokens_.size()};
}

}  // namespace dts::serve
