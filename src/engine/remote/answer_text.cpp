#include "engine/remote/answer_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/display.h"
#include "text/utf8.h"

namespace dts::remote {

bool is_refusal(long status) {
  // 408 and 425 pass with time, 429 too; a redirect is an address that is wrong.
  return status >= 300 && status < 500 && status != 408 && status != 425 && status != 429;
}

std::string complaint_of(long status, std::string_view body) {
  constexpr std::size_t kMost = 300;
  std::string words;
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
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
  words = text::one_line(text::valid_utf8(words));
  if (words.size() > kMost) words = text::valid_utf8(words.substr(0, kMost)) + "...";
  return words.empty() ? fmt::format("HTTP {}", status) : fmt::format("HTTP {}: {}", status, words);
}

}  // namespace dts::remote
