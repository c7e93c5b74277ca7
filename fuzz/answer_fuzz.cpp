// libFuzzer: any two texts as answers, beside each other and, many times, one around the other. What must hold of each
// alone and of both, and a letter that simple-evals' own expression finds is the one we find.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

#include "answer/letter/choice_letter.h"
#include "dts/answer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// The oracle is slow, and recurses: short texts only.
void check_letter(const std::string& text) {
  if (text.size() > 256) return;
  static const std::regex kSimpleEvals("Answer[ \\t]*:[ \\t]*\\$?([A-D])\\$?", std::regex::icase);
  std::smatch match;
  if (!std::regex_search(text, match, kSimpleEvals)) return;
  const char letter = static_cast<char>(match[1].str()[0] & ~0x20);
  require(dts::choice_letter(text) == letter);
}

void check_text(const std::string& text) {
  const std::string normal = dts::normalise_answer(text);
  require(dts::normalise_answer(normal) == normal);
  require(dts::equivalent(text, text));
  for (const bool opens : {false, true}) {
    const dts::SplitText split = dts::split_thinking(text, opens);
    require(split.thinking.size() + split.answer.size() <= text.size());
    const std::string answer = dts::extract_answer(text, opens);
    require(dts::normalise_answer(answer) == answer);
  }
  const char letter = dts::choice_letter(text, 4);
  require(letter == '\0' || (letter >= 'A' && letter <= 'D'));
  check_letter(text);
}

// `open` and `close` around each other, deeper than anything is read.
std::string nested(const std::string& open, const std::string& close) {
  constexpr int kDepth = 40;
  std::string text;
  for (int i = 0; i < kDepth; ++i) text += open;
  text += '1';
  for (int i = 0; i < kDepth; ++i) text += close;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\0');
  const std::string a(all.substr(0, cut));
  const std::string b(cut == std::string_view::npos ? std::string_view() : all.substr(cut + 1));
  check_text(a);
  require(dts::equivalent(a, b) == dts::equivalent(b, a));
  constexpr std::size_t kShort = 24;  // bytes: longer ones make texts that are too long to be answers
  const bool chosen = size % 4 == 0;  // for it takes its time
  if (chosen && !a.empty() && a.size() <= kShort && b.size() <= kShort) check_text(nested(a, b));
  return 0;
}
