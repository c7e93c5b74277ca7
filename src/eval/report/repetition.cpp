#include "eval/report/repetition.h"

#include <unordered_set>

#include "text/ascii.h"

namespace dts::eval::report {
namespace {

using namespace text;

constexpr std::size_t kShortest = 12;  // bytes

// One past the end of the sentence that starts at `from`, white space after it included.
std::size_t sentence_end(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size(); ++i) {
    const bool stop = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (text[i] == '\n' || (stop && i + 1 < text.size() && text[i + 1] == ' ')) {
      std::size_t end = i + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;
      return end;
    }
  }
  return text.size();
}

}  // namespace

std::vector<TextPart> mark_repetition(std::string_view text) {
  std::vector<TextPart> parts;
  std::unordered_set<std::string_view> said;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = sentence_end(text, at);
    const std::string_view whole = text.substr(at, end - at);
    const std::string_view sentence = trim(whole);
    const bool again = sentence.size() >= kShortest && !said.insert(sentence).second;
    if (!parts.empty() && parts.back().again == again) {
      parts.back().text = std::string_view(parts.back().text.data(), parts.back().text.size() + whole.size());
    } else {
      parts.push_back({whole, again});
    }
    at = end;
  }
  return parts;
}

}  // namespace dts::eval::report
