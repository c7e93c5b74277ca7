#include "engine/remote/answer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::remote {

bool is_refusal(long status) {
  // 408 and 425 pass with time, 429 too; a redirect is an address that is wrong.
  return status >= 300 && status < 500 && status != 408 && status != 425 && status != 429;
}

bool is_busy(long status) { return status == 429 || status == 503; }

std::string shown(std::string_view words) {
  constexpr std::size_t kMost = 300;
  // What is cut off is not looked at: a line may have megabytes.
  std::string line = text::one_line(text::valid_utf8(words.substr(0, 4 * kMost)));
  if (line.size() > kMost) line = text::valid_utf8(line.substr(0, kMost)) + "...";
  return line;
}

std::string without_secrets(std::string text, std::span<const std::string> headers) {
  for (const std::string& header : headers) {
    // The last word: a key may be repeated without the scheme before it.
    const std::string secret = header.substr(header.find_last_of(' ') + 1);
    if (secret.empty()) continue;
    constexpr std::string_view kInstead = "[key]";
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kInstead.size())) {
      text.replace(at, secret.size(), kInstead);
    }
    // A text that was cut short may end inside a key.
    constexpr std::string_view kCut = "...";
    if (!text.ends_with(kCut)) continue;
    const std::string_view whole = std::string_view(text).substr(0, text.size() - kCut.size());
    for (std::size_t n = std::min(secret.size(), whole.size()); n >= 4; --n) {
      if (!whole.ends_with(std::string_view(secret).substr(0, n))) continue;
      text = std::string(whole.substr(0, whole.size() - n)) + std::string(kInstead) + std::string(kCut);
      break;
    }
  }
  return text;
}

std::string complaint_of(long status, std::string_view body) {
  std::string words;
  nlohmann::json json;
  try {
    json = parse_json(body, {.depth = 16, .values = 10000});
  } catch (const JsonError&) {
    // It is words, then, or too much to be an error's.
  }
  if (json.is_object()) {
    const auto text_in = [](const nlohmann::json& object, const char* name) {
      const auto found = object.find(name);
      return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    if (const auto error = json.find("error"); error != json.end()) {
      words = error->is_object() ? text_in(*error, "message") : text_in(json, "error");
    }
    if (words.empty()) words = text_in(json, "message");
    if (words.empty()) words = text_in(json, "detail");
  }
  if (words.empty()) words = std::string(body);
  words = shown(words);
  return words.empty() ? fmt::format("HTTP {}", status) : fmt::format("HTTP {}: {}", status, words);
}

}  // namespace dts::remote
