#include "answer/letter/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "answer/letter/marks.h"
#include "answer/notation/wide_forms.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

constexpr std::array kCharacters = {
    Replacement{"\u2018", "'"},  Replacement{"\u2019", "'"},  Replacement{"\u201a", "'"},  Replacement{"\u201c", "\""},
    Replacement{"\u201d", "\""}, Replacement{"\u201e", "\""}, Replacement{"\u00ab", "\""}, Replacement{"\u00bb", "\""},
    Replacement{"\u300c", "\""}, Replacement{"\u300d", "\""}, Replacement{"\u300e", "\""}, Replacement{"\u300f", "\""},
    Replacement{"\u00a0", " "},  Replacement{"\u202f", " "},  Replacement{"\u2009", " "},  Replacement{"\u200b", ""},
    Replacement{"\ufeff", ""}};
constexpr std::array<std::string_view, 11> kStyles = {"b",    "strong", "em",  "i",    "u",   "mark",
                                                      "code", "kbd",    "big", "span", "font"};
constexpr std::array<std::string_view, 10> kBlocks = {"p", "br", "div", "li", "h1", "h2", "h3", "h4", "ul", "ol"};

struct Tag {
  std::string_view means;
  std::size_t size = 0;  // bytes; 0: no tag that we know
};

// What `text` begins with, at its '<'.
Tag tag_of(std::string_view text) {
  text = text.substr(0, kMaxDressing);
  std::size_t begin = 1;
  if (text.substr(begin).starts_with('/')) ++begin;
  std::size_t end = begin;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  const std::string name = lower_case(text.substr(begin, end - begin));
  const bool attributed = name == "span" || name == "font" || name == "p" || name == "div";
  const std::size_t close = attributed ? text.find('>', end) : text.find_first_not_of(" /", end);
  if (close == std::string_view::npos || text[close] != '>') return {};
  if (std::find(kStyles.begin(), kStyles.end(), name) != kStyles.end()) return {"**", close + 1};
  const bool closing = begin == 2;
  if (name == "sub") return {closing ? "" : "_", close + 1};
  if (name == "sup") return {closing ? "" : "^", close + 1};
  if (std::find(kBlocks.begin(), kBlocks.end(), name) != kBlocks.end()) return {"\n", close + 1};
  return {};
}

}  // namespace

std::string plain_text(std::string_view text) {
  const std::string narrow = narrow_forms(text);
  const std::string_view all = narrow;
  std::string out;
  out.reserve(all.size());
  for (std::size_t at = 0; at < all.size();) {
    const std::string_view rest = all.substr(at);
    if (rest.front() == '<') {
      const Tag tag = tag_of(rest);
      out += tag.size > 0 ? tag.means : rest.substr(0, 1);
      at += std::max<std::size_t>(tag.size, 1);
      continue;
    }
    const auto* const found = static_cast<unsigned char>(rest.front()) < 0x80
                                  ? kCharacters.end()
                                  : std::find_if(kCharacters.begin(), kCharacters.end(),
                                                 [&](const Replacement& one) { return rest.starts_with(one.first); });
    out += found != kCharacters.end() ? found->second : rest.substr(0, 1);
    at += found != kCharacters.end() ? found->first.size() : 1;
  }
  return out;
}

}  // namespace dts::letters
