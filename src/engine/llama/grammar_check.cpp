#include "engine/llama/grammar_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dts/error.h"

namespace dts {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 10U;
constexpr int kMostGroups = 200;  // inside each other: the parser recurses into them
constexpr double kMostElements = 200'000;
constexpr double kMostRepetitions = 2000;
// Ways to go on from one place: each is a stack of llama.cpp's, and it compares them one by one.
constexpr double kMostWays = 512;

constexpr int kCharacter = -1;  // an element that reads one

// A rule, a group, or what a repetition makes optional: sequences of elements, kCharacter or another of these.
struct GrammarPart {
  bool defined = false;
  std::vector<std::vector<int>> sequences;
};

[[noreturn]] void refuse(const std::string& why) { throw usage_error("the grammar " + why); }

class GrammarReader {
 public:
  explicit GrammarReader(std::string_view text) : text_(text) {}

  std::vector<GrammarPart> read() {
    skip_space(true);
    while (at_ < text_.size()) read_rule();
    for (const auto& [name, part] : names_) {
      if (!parts_[static_cast<std::size_t>(part)].defined) refuse(fmt::format("has no rule '{}'", name));
    }
    if (!names_.contains("root")) refuse("has no rule 'root'");
    return std::move(parts_);
  }

 private:
  struct Sequence {
    std::vector<int> elements;
    std::size_t last = 0;  // where the last item begins: what a repetition repeats
    double rules = 1;      // that llama.cpp makes of it
  };

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  [[noreturn]] void expected(const char* what) const {
    refuse(fmt::format("does not parse: at byte {} there must be {}", at_, what));
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || is_digit(c); }

  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '#') {
        while (at_ < text_.size() && peek() != '\n' && peek() != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string read_name() {
    const std::size_t begin = at_;
    while (is_word(peek())) ++at_;
    if (at_ == begin) expected("the name of a rule");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void read_rule() {
    const int part = part_of(read_name());
    skip_space(false);
    if (text_.substr(at_, 3) != "::=") expected("'::='");
    at_ += 3;
    skip_space(true);
    read_alternatives(part, 0);
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r') expected("the end of the rule");
    skip_space(true);
  }

  int new_part() {
    parts_.emplace_back();
    return static_cast<int>(parts_.size()) - 1;
  }

  int part_of(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    ++rules_;
    return names_[name] = new_part();
  }

  void read_alternatives(int part, int depth) {
    if (depth > kMostGroups) refuse(fmt::format("nests groups deeper than {}", kMostGroups));
    std::vector<std::vector<int>> sequences;
    sequences.push_back(read_sequence(depth));
    while (peek() == '|') {
      ++at_;
      skip_space(true);
      sequences.push_back(read_sequence(depth));
    }
    parts_[static_cast<std::size_t>(part)] = {true, std::move(sequences)};
  }

  std::vector<int> read_sequence(int depth) {
    Sequence sequence;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '"') {
        begin_item(sequence);
        read_characters('"', sequence);
      } else if (c == '[') {
        begin_item(sequence);
        read_set();
        add(sequence, kCharacter);
      } else if (c == '.') {
        begin_item(sequence);
        ++at_;
        add(sequence, kCharacter);
      } else if (c == '(') {
        ++at_;
        skip_space(true);
        const double before = rules_;
        const int group = new_part();
        ++rules_;
        read_alternatives(group, depth + 1);
        if (peek() != ')') expected("')'");
        ++at_;
        begin_item(sequence);
        sequence.rules = std::max(1.0, rules_ - before);
        add(sequence, group);
      } else if (is_word(c)) {
        begin_item(sequence);
        add(sequence, part_of(read_name()));
      } else if (c == '*' || c == '+' || c == '?' || c == '{') {
        read_repetition(sequence);
      } else if (c == '<' || c == '!') {
        expected("text: elements that are tokens are not supported");
      } else {
        break;
      }
      skip_space(depth > 0);
    }
    return std::move(sequence.elements);
  }

  static void begin_item(Sequence& sequence) {
    sequence.last = sequence.elements.size();
    sequence.rules = 1;
  }

  void add(Sequence& sequence, int element) {
    count(1);
    sequence.elements.push_back(element);
  }

  void count(double elements) {
    elements_ += elements;
    if (elements_ > kMostElements) refuse("is too large once its repetitions are multiplied out");
  }

  // A character of a literal or a set, which may be escaped.
  void read_character() {
    if (at_ >= text_.size()) expected("more: it ends inside a literal or a set");
    if (peek() != '\\') {
      ++at_;
      while ((static_cast<unsigned char>(peek()) & 0xC0U) == 0x80U) ++at_;
      return;
    }
    const char kind = peek(1);
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0 && std::string_view("trn\\\"[]-").find(kind) == std::string_view::npos) expected("a known escape");
    at_ += 2;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) expected("a hexadecimal digit");
    }
  }

  void read_characters(char end, Sequence& sequence) {
    for (++at_; peek() != end;) {
      read_character();
      add(sequence, kCharacter);
    }
    ++at_;
  }

  void read_set() {
    ++at_;
    if (peek() == '^') ++at_;
    while (peek() != ']') {
      read_character();
      count(1);
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        read_character();
      }
    }
    ++at_;
  }

  double read_count() {
    if (!is_digit(peek())) expected("a number");
    double value = 0;
    for (; is_digit(peek()); ++at_) value = std::min(value * 10 + (peek() - '0'), 1e9);
    return value;
  }

  void read_repetition(Sequence& sequence) {
    if (sequence.last == sequence.elements.size()) expected("something before it to repeat");
    double least = peek() == '+' ? 1 : 0;
    double most = peek() == '?' ? 1 : -1;  // -1: any number
    const bool counted = peek() == '{';
    ++at_;
    if (counted) {
      skip_space(true);
      least = most = read_count();
      skip_space(true);
      if (peek() == ',') {
        ++at_;
        skip_space(true);
        most = is_digit(peek()) ? read_count() : -1;
        skip_space(true);
      }
      if (peek() != '}') expected("'}'");
      ++at_;
    }
    if (least > kMostRepetitions) refuse(fmt::format("repeats something more than {} times", kMostRepetitions));
    if (most >= 0 && most < least) refuse("repeats something at least so often, and at most less often");
    if (most > kMostRepetitions) most = -1;  // as llama.cpp has it
    const std::vector<int> item(sequence.elements.begin() + static_cast<std::ptrdiff_t>(sequence.last),
                                sequence.elements.end());
    const double optional = most < 0 ? 1 : most - least;
    // As llama.cpp counts.
    sequence.rules *= most > 0 ? most : std::max(least, 1.0);
    rules_ += optional;
    if (sequence.rules > kMostRepetitions) refuse("repeats too much that repeats");
    count(static_cast<double>(item.size()) * (least + optional));
    sequence.elements.resize(sequence.last);
    for (int i = 0; i < static_cast<int>(least); ++i) {
      sequence.elements.insert(sequence.elements.end(), item.begin(), item.end());
    }
    if (optional == 0) return;
    // What comes after the first optional one is entered only when that was read: to go on, one of them counts.
    const int part = new_part();
    parts_[static_cast<std::size_t>(part)] = {true, {item, {}}};
    sequence.elements.push_back(part);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  double elements_ = 0;
  double rules_ = 0;
  std::map<std::string, int> names_;
  std::vector<GrammarPart> parts_;
};

// How many stacks llama.cpp makes of the places that a grammar can go on from.
class WaysCounter {
 public:
  explicit WaysCounter(const std::vector<GrammarPart>& parts) : parts_(parts), known_(parts.size()) {}

  void check() {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      ways_of(static_cast<int>(part), 0);
      for (const std::vector<int>& sequence : parts_[part].sequences) check_rests(sequence);
    }
  }

 private:
  struct Ways {
    double stacks = 0;   // that begin it
    double empties = 0;  // ways through it that read nothing
    bool counted = false;
    bool counting = false;
  };

  static void bound(double ways) {
    if (ways > kMostWays) refuse(fmt::format("can be gone on with in more than {} ways at one place", kMostWays));
  }

  Ways ways_of(int element, int depth) {
    if (element == kCharacter) return {.stacks = 1};
    Ways& known = known_[static_cast<std::size_t>(element)];
    if (known.counted) return known;
    if (known.counting) refuse("has left recursion");
    if (depth > kMostDepth) refuse(fmt::format("nests rules deeper than {}", kMostDepth));
    known.counting = true;
    Ways sum;
    for (const std::vector<int>& sequence : parts_[static_cast<std::size_t>(element)].sequences) {
      double through = 1;  // ways to come here having read nothing
      for (const int next : sequence) {
        if (through == 0) break;
        const Ways one = ways_of(next, depth + 1);
        sum.stacks += through * one.stacks;
        through *= one.empties;
        bound(sum.stacks + through);
      }
      sum.empties += through;
      bound(sum.empties);
    }
    sum.counted = true;
    return known = sum;
  }

  // From the middle of a sequence, where the parts before have been read.
  void check_rests(const std::vector<int>& sequence) {
    double stacks = 0, empties = 1;  // of what follows
    for (std::size_t i = sequence.size(); i-- > 0;) {
      const Ways one = ways_of(sequence[i], 0);
      stacks = one.stacks + one.empties * stacks;
      empties *= one.empties;
      bound(stacks);
      bound(empties);
    }
  }

  static constexpr int kMostDepth = 1000;

  const std::vector<GrammarPart>& parts_;
  std::vector<Ways> known_;
};

}  // namespace

void check_grammar(std::string_view gbnf) {
  if (gbnf.size() > kMostBytes) refuse(fmt::format("is longer than {} KiB", kMostBytes >> 10U));
  if (gbnf.find('\0') != std::string_view::npos) refuse("has a zero byte");
  const std::vector<GrammarPart> parts = GrammarReader(gbnf).read();
  WaysCounter(parts).check();
}

}  // namespace dts
