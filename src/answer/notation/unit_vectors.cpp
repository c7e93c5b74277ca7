#include "answer/notation/unit_vectors.h"

#include <array>
#include <cstddef>

#include "answer/value/expression.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 256;

// One past the term that begins at `begin`: where the next sign stands outside all brackets.
std::size_t term_end(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && at > begin && (c == '+' || c == '-')) return at;
  }
  return text.size();
}

}  // namespace

std::optional<std::string> tuple_of_unit_vectors(std::string_view normal) {
  if (normal.empty() || normal.size() > kMaxBytes) return std::nullopt;
  std::array<std::string, 3> entries;  // of i, j and k; empty: not there
  for (std::size_t at = 0; at < normal.size();) {
    const std::size_t end = term_end(normal, at);
    std::string_view term = trim(normal.substr(at, end - at));
    at = end;
    const bool negative = term.starts_with('-');
    if (negative || term.starts_with('+')) term = trim(term.substr(1));
    if (term.empty() || term.back() < 'i' || term.back() > 'k') return std::nullopt;
    std::string& entry = entries[static_cast<std::size_t>(term.back() - 'i')];
    term = trim(term.substr(0, term.size() - 1));
    if (term.ends_with('*')) term = trim(term.substr(0, term.size() - 1));
    const std::string number = term.empty() ? "1" : std::string(term);
    const std::optional<Value> value = evaluate(number);
    if (!entry.empty() || !value || !value->constant) return std::nullopt;
    entry = (negative ? "-(" : "(") + number + ")";
  }
  const bool in_space = !entries[2].empty();
  if (entries[1].empty() && !in_space) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < (in_space ? 3U : 2U); ++i) {
    out += (i == 0 ? "(" : ", ") + (entries[i].empty() ? "0" : entries[i]);
  }
  return out + ")";
}

}  // namespace dts
