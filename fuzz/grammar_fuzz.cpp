// libFuzzer: any bytes as a grammar are refused in one line, or allow what all of its stacks, written out, allow; and
// what following it holds is given back. Behind the first byte 255 each byte chooses a token of those that are allowed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "engine/llama/grammar_matcher.h"
#include "support/all_stacks.h"

namespace {

constexpr std::size_t kMostStacks = 50;  // beyond that the slow one is too slow

const std::vector<std::string>& pieces() {
  static const std::vector<std::string> list = {
      "a",    "b",  "ab",   "aa",   "aaaa", "{",    "}", "\"",       "{\"",  " ",        "\n",
      "0",    "12", "\xc3", "\xa4", "ä",    "äb",   "€", "\xe2\x82", "\xac", "\xf0\x9f", "\x98\x80",
      "\xff", "x",  "xyz",  ", ",   "\\",   "\x7f", "]", "[",        ":",    "-",        ""};
  return list;
}

void compare(const dts::TokenMask& mask, const dts::AllStacks& stacks) {
  for (std::size_t i = 0; i < pieces().size(); ++i) {
    const bool allowed = (mask[i / 64] >> (i % 64) & 1U) != 0;
    if (allowed != (pieces()[i].empty() ? stacks.ends() : stacks.accepts(pieces()[i]))) std::abort();
  }
}

void follow(dts::GrammarMatcher& matcher, const dts::GrammarRules& rules, std::string_view choices) {
  dts::GrammarMatcher::Position position = matcher.start();
  try {
    dts::AllStacks stacks(rules);
    for (const char choice : choices) {
      if (stacks.size() > kMostStacks) break;
      compare(*position.mask, stacks);
      std::vector<dts::Token> allowed;
      for (std::size_t i = 0; i + 1 < pieces().size(); ++i) {
        if ((*position.mask)[i / 64] >> (i % 64) & 1U) allowed.push_back(static_cast<dts::Token>(i));
      }
      if (allowed.empty()) break;
      const dts::Token token = allowed[static_cast<unsigned char>(choice) % allowed.size()];
      if (!stacks.read(pieces()[static_cast<std::size_t>(token)])) std::abort();
      const dts::GrammarMatcher::Position next = matcher.after(position, token);
      matcher.drop(position);
      position = next;
    }
  } catch (const dts::Error&) {
    matcher.drop(position);
    throw;
  }
  matcher.drop(position);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dts::TokenTrie trie(pieces());
  static const std::vector<dts::Token> ends = {static_cast<dts::Token>(pieces().size()) - 1};
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t split = std::min(input.find('\xff'), input.size());
  try {
    const dts::GrammarRules rules = dts::read_grammar(input.substr(0, split), "root");
    // Sets and rules that a text this long can hardly have are another's business.
    if (rules.places.size() > 200) return 0;
    dts::GrammarMatcher matcher(trie, ends, rules);
    follow(matcher, rules, input.substr(split).substr(0, 12));
  } catch (const dts::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
