#include "engine/llama/schema_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/llama/schema_text.h"

namespace dts {
namespace {

using Range = std::pair<std::uint32_t, std::uint32_t>;  // of code points, both included

constexpr std::size_t kMostBytes = 4096;
constexpr int kMostGroups = 40;  // inside each other; the converter takes 100, and some are ours
constexpr int kMostRepetitions = 2000;
constexpr std::uint32_t kLastCharacter = 0x10FFFF;

// What cannot stand in a JSON string as it is; DEL could, but llama.cpp's own strings do not have it either.
const std::vector<Range> kNotRaw = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}};
const Range kSurrogates = {0xD800, 0xDFFF};  // no characters
// What JSON has a short escape for, and its letter.
const std::vector<std::pair<std::uint32_t, char>> kEscaped = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                                              {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};

const std::vector<Range> kDigits = {{'0', '9'}};
const std::vector<Range> kWord = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const std::vector<Range> kSpace = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680},
                                   {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                   {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};

// Sorted, and those that touch joined.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.first <= result.back().second + 1) {
      result.back().second = std::max(result.back().second, range.second);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

std::vector<Range> all_but(const std::vector<Range>& ranges) {
  std::vector<Range> rest;
  std::uint32_t next = 0;
  for (const Range& range : joined(ranges)) {
    if (range.first > next) rest.emplace_back(next, range.first - 1);
    next = range.second + 1;
  }
  if (next <= kLastCharacter) rest.emplace_back(next, kLastCharacter);
  return rest;
}

bool contains(const std::vector<Range>& ranges, std::uint32_t character) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return range.first <= character && character <= range.second; });
}

bool is_plain(std::uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Means itself in a pattern of the converter, also with another before it.
bool is_literal(std::uint32_t c) {
  return is_plain(c) ||
         (c < 0x7F && std::string_view(" !#%&',-/:;<=>@_`~").find(static_cast<char>(c)) != std::string_view::npos);
}

// Of a class; what is not a letter or a digit by its number, so that nothing of it is taken for a sign.
std::string in_class(std::uint32_t c) {
  if (is_plain(c)) return std::string(1, static_cast<char>(c));
  if (c <= 0xFF) return fmt::format("\\x{:02X}", c);
  return c <= 0xFFFF ? fmt::format("\\u{:04X}", c) : fmt::format("\\U{:08X}", c);
}

std::string class_of(const std::vector<Range>& ranges, bool negated) {
  std::string text = negated ? "[^" : "[";
  for (const Range& range : ranges) {
    text += in_class(range.first);
    if (range.second > range.first) text += "-" + in_class(range.second);
  }
  return text + "]";
}

class PatternWriter {
 public:
  explicit PatternWriter(std::string_view pattern) : pattern_(pattern), anything_(raw_but({})) {}

  std::string write() {
    if (pattern_.size() > kMostBytes) refuse(fmt::format("it must have at most {} bytes", kMostBytes));
    std::string text = alternatives(0);
    if (at_ < pattern_.size()) refuse("its parentheses do not match");
    return "^" + text + "$";
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    refuse_schema(fmt::format("pattern is {}: {}", shown_value(pattern_), why));
  }

  // One character of a JSON string that is none of these.
  std::string raw_but(std::vector<Range> ranges) const {
    ranges.insert(ranges.end(), kNotRaw.begin(), kNotRaw.end());
    ranges = joined(std::move(ranges));
    std::vector<Range> with_surrogates = ranges;
    with_surrogates.push_back(kSurrogates);
    if (all_but(with_surrogates).empty()) refuse("a class [^...] must leave a character");
    return class_of(ranges, /*negated=*/true);
  }

  bool more() const { return at_ < pattern_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }

  std::string alternatives(int depth) {
    if (depth > kMostGroups) refuse(fmt::format("it must nest groups at most {} deep", kMostGroups));
    std::string text;
    for (;;) {
      text += sequence(depth);
      if (peek() != '|' || !more()) return text;
      text += '|';
      ++at_;
    }
  }

  std::string sequence(int depth) {
    const bool outer = depth == 0;
    std::string text;
    const bool from_begin = outer && peek() == '^';
    bool to_end = false;
    if (from_begin) ++at_;
    while (more() && peek() != '|' && peek() != ')') {
      if (looks_around()) {
        skip_group();
        continue;
      }
      if (peek() == '$' && outer && (at_ + 1 == pattern_.size() || peek(1) == '|')) {
        to_end = true;
        ++at_;
        continue;
      }
      text += quantified(atom(depth));
    }
    if (!outer) return text;
    return (from_begin ? "" : anything_ + "*") + text + (to_end ? "" : anything_ + "*");
  }

  std::string atom(int depth) {
    const char c = peek();
    switch (c) {
      case '.':
        ++at_;
        return anything_;
      case '(':
        return group(depth);
      case '[':
        return character_class();
      case '^':
      case '$':
        refuse("it must have ^ at its begin and $ at its end only");
      case '*':
      case '+':
      case '?':
      case '{':
      case '}':
      case ']':
        refuse(fmt::format("a '{}' must stand after what it repeats, or be written as \\{}", c, c));
      case '\\': {
        const std::vector<Range> set = escape(/*in_class=*/false);
        return one_of(set);
      }
      default: {
        const std::uint32_t character = read_utf8();
        return one_of({{character, character}});
      }
    }
  }

  // (?=...), (?!...), (?<=...), (?<!...). What they ask for besides is not enforced: all strings that obey stay
  // possible.
  bool looks_around() const {
    if (peek() != '(' || peek(1) != '?') return false;
    const char c = peek(2) == '<' ? peek(3) : peek(2);
    return c == '=' || c == '!';
  }

  void skip_group() {
    int open = 0;
    bool in_class = false;
    for (; more(); ++at_) {
      const char c = peek();
      if (c == '\\') {
        ++at_;
      } else if (in_class) {
        in_class = c != ']';
      } else if (c == '[') {
        in_class = true;
      } else if (c == '(') {
        ++open;
      } else if (c == ')' && --open == 0) {
        ++at_;
        return;
      }
    }
    refuse("its parentheses do not match");
  }

  std::string group(int depth) {
    ++at_;
    if (peek() == '?') {
      if (peek(1) == ':') {
        at_ += 2;
      } else if (peek(1) == '<') {
        while (more() && peek() != '>') ++at_;
        ++at_;
      } else {
        refuse("it must do without flags");
      }
    }
    std::string text = "(" + alternatives(depth + 1) + ")";
    if (peek() != ')' || !more()) refuse("its parentheses do not match");
    ++at_;
    return text;
  }

  std::string quantified(std::string text) {
    const char c = peek();
    if (c == '*' || c == '+' || c == '?') {
      text += c;
      ++at_;
    } else if (c == '{') {
      text += counts();
    } else {
      return text;
    }
    if (peek() == '?') ++at_;  // as few as can be: the strings are the same
    if (more() && (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{')) {
      refuse("what is repeated must be a group before it is repeated again");
    }
    return text;
  }

  std::string counts() {
    ++at_;
    const int least = number();
    int most = least;
    if (peek() == ',') {
      ++at_;
      most = peek() == '}' ? -1 : number();
    }
    if (peek() != '}') refuse("a repetition must be {n}, {n,} or {n,m}");
    ++at_;
    if (most >= 0 && most < least) refuse("a repetition {n,m} must have an m that is not below n");
    return most < 0 ? fmt::format("{{{},}}", least) : fmt::format("{{{},{}}}", least, most);
  }

  int number() {
    int value = 0;
    const std::size_t begin = at_;
    for (; peek() >= '0' && peek() <= '9'; ++at_) value = std::min(value * 10 + (peek() - '0'), kMostRepetitions + 1);
    if (at_ == begin) refuse("a repetition must be {n}, {n,} or {n,m}");
    if (value > kMostRepetitions) refuse(fmt::format("it must repeat something at most {} times", kMostRepetitions));
    return value;
  }

  std::string character_class() {
    ++at_;
    const bool negated = peek() == '^';
    if (negated) ++at_;
    std::vector<Range> set;
    while (more() && peek() != ']') {
      std::vector<Range> first = class_member();
      const bool single = first.size() == 1 && first[0].first == first[0].second;
      if (peek() == '-' && peek(1) != ']' && single) {
        ++at_;
        const std::vector<Range> last = class_member();
        if (last.size() != 1 || last[0].first != last[0].second || last[0].first < first[0].first) {
          refuse("a range a-z in a class must go up, from one character to another");
        }
        first[0].second = last[0].first;
      }
      set.insert(set.end(), first.begin(), first.end());
    }
    if (!more()) refuse("a class [...] must end");
    ++at_;
    if (negated) return raw_but(std::move(set));
    return one_of(set);
  }

  std::vector<Range> class_member() {
    if (!more()) refuse("a class [...] must end");
    if (peek() == '\\') return escape(/*in_class=*/true);
    const std::uint32_t character = read_utf8();
    return {{character, character}};
  }

  // What one of these characters is in a JSON string.
  std::string one_of(const std::vector<Range>& characters) {
    const std::vector<Range> set = joined(characters);
    std::vector<Range> out = all_but(set);
    out.insert(out.end(), kNotRaw.begin(), kNotRaw.end());
    out.push_back(kSurrogates);
    const std::vector<Range> raw = all_but(out);
    std::vector<std::string> ways;
    if (raw.size() == 1 && raw[0].first == raw[0].second && is_literal(raw[0].first)) {
      ways.emplace_back(1, static_cast<char>(raw[0].first));
    } else if (!raw.empty()) {
      ways.push_back(class_of(raw, /*negated=*/false));
    }
    // A negated escape such as \S has them too, but means the others.
    const bool nearly_all = contains(set, kLastCharacter);
    for (const auto& [character, letter] : kEscaped) {
      if (!nearly_all && contains(set, character)) ways.push_back(class_of({{'\\', '\\'}}, false) + in_set(letter));
    }
    if (ways.empty()) refuse("it must not ask for control characters, or for none of all characters");
    if (ways.size() == 1 && !raw.empty()) return ways[0];
    std::string text = "(" + ways[0];
    for (std::size_t i = 1; i < ways.size(); ++i) text += "|" + ways[i];
    return text + ")";
  }

  static std::string in_set(char letter) {
    const auto c = static_cast<unsigned char>(letter);
    return class_of({{c, c}}, false);
  }

  // After a backslash.
  std::vector<Range> escape(bool in_class) {
    ++at_;
    if (!more()) refuse("it must not end with a backslash");
    const char c = pattern_[at_++];
    const auto one = [](std::uint32_t character) { return std::vector<Range>{{character, character}}; };
    switch (c) {
      case 'd':
        return kDigits;
      case 'D':
        return all_but(kDigits);
      case 'w':
        return kWord;
      case 'W':
        return all_but(kWord);
      case 's':
        return kSpace;
      case 'S':
        return all_but(kSpace);
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 'b':
        if (in_class) return one('\b');
        refuse("\\b is not known here: it must do without borders of words");
      case 'x':
        return one(hexadecimal(2));
      case 'u':
        return one(unicode_escape());
      default:
        break;
    }
    if (is_plain(static_cast<unsigned char>(c))) {
      refuse(
          fmt::format("\\{} is not known here: of the escapes with letters there must be only d, w, s, n, r, t, f, "
                      "v, x and u",
                      c));
    }
    --at_;
    return one(read_utf8());
  }

  std::uint32_t unicode_escape() {
    if (peek() == '{') {
      ++at_;
      std::size_t digits = 0;
      while (digits < 7 && peek(digits) != '}') ++digits;
      if (digits == 0 || digits > 6) refuse("\\u must have four hexadecimal digits after it, or up to six in braces");
      const std::uint32_t character = hexadecimal(digits);
      ++at_;
      return character;
    }
    const std::uint32_t first = hexadecimal(4);
    const bool high = first >= 0xD800 && first < 0xDC00;
    if (high && peek() == '\\' && peek(1) == 'u') {
      at_ += 2;
      const std::uint32_t second = hexadecimal(4);
      if (second >= 0xDC00 && second < 0xE000) return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
    }
    return first;
  }

  std::uint32_t hexadecimal(std::size_t digits) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) refuse("\\x must have two hexadecimal digits after it, and \\u four");
      value = value << 4U | static_cast<std::uint32_t>(digit);
    }
    if (value > kLastCharacter || (value >= 0xD800 && value < 0xE000 && digits != 4)) {
      refuse("\\u must name a character");
    }
    return value;
  }

  std::uint32_t read_utf8() {
    const auto first = static_cast<unsigned char>(pattern_[at_++]);
    const int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    std::uint32_t value = length == 1 ? first : first & (0xFFU >> static_cast<unsigned>(length + 1));
    for (int i = 1; i < length && more(); ++i, ++at_) {
      value = value << 6U | (static_cast<unsigned char>(pattern_[at_]) & 0x3FU);
    }
    return value;
  }

  std::string_view pattern_;
  std::string anything_;  // one character
  std::size_t at_ = 0;
};

}  // namespace

std::string json_pattern(const std::string& pattern) { return PatternWriter(pattern).write(); }

}  // namespace dts
