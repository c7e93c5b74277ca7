#include "engine/llama/grammar_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "dts/error.h"

namespace dts {
namespace {

using Kind = GrammarRules::Kind;
using Place = GrammarRules::Place;

constexpr std::size_t kMostBytes = std::size_t{256} << 10U;
constexpr int kMostGroups = 200;  // inside each other: the reader recurses into them
constexpr double kMostElements = 200'000;
constexpr double kMostRepetitions = 2000;
constexpr int kMostDepth = 1000;  // of rules that begin with each other: the check for left recursion recurses

[[noreturn]] void refuse(const std::string& why) { throw usage_error("the grammar " + why); }

// A rule before its sequences are laid out one after the other.
struct DraftRule {
  bool defined = false;
  bool repeats = false;  // of a repetition: its first sequence ends with the rule itself, or with the next like it
  std::vector<std::vector<Place>> sequences;
};

class GrammarReader {
 public:
  explicit GrammarReader(std::string_view text) : text_(text) {}

  GrammarRules read(const std::string& root) {
    skip_space(true);
    while (at_ < text_.size()) read_rule();
    for (const auto& [name, rule] : names_) {
      if (!rules_[rule].defined) refuse(fmt::format("has no rule '{}'", name));
    }
    const auto found = names_.find(root);
    if (found == names_.end()) refuse(fmt::format("has no rule '{}'", root));
    check_left_recursion();
    return lay_out(found->second);
  }

 private:
  struct Sequence {
    std::vector<Place> elements;
    std::size_t last = 0;  // where the last item begins: what a repetition repeats
    double rules = 1;      // that are made of it
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
    const std::uint32_t rule = rule_of(read_name());
    skip_space(false);
    if (text_.substr(at_, 3) != "::=") expected("'::='");
    at_ += 3;
    skip_space(true);
    read_alternatives(rule, 0);
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r') expected("the end of the rule");
    skip_space(true);
  }

  std::uint32_t new_rule() {
    rules_.emplace_back();
    return static_cast<std::uint32_t>(rules_.size()) - 1;
  }

  std::uint32_t rule_of(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    return names_[name] = new_rule();
  }

  void read_alternatives(std::uint32_t rule, int depth) {
    if (depth > kMostGroups) refuse(fmt::format("nests groups deeper than {}", kMostGroups));
    std::vector<std::vector<Place>> sequences;
    sequences.push_back(read_sequence(depth));
    while (peek() == '|') {
      ++at_;
      skip_space(true);
      sequences.push_back(read_sequence(depth));
    }
    rules_[rule] = {.defined = true, .repeats = false, .sequences = std::move(sequences)};
  }

  std::vector<Place> read_sequence(int depth) {
    Sequence sequence;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '"') {
        begin_item(sequence);
        read_characters('"', sequence);
      } else if (c == '[') {
        begin_item(sequence);
        read_set(sequence);
      } else if (c == '.') {
        begin_item(sequence);
        ++at_;
        add(sequence, {Kind::kSet, new_set({.negated = true})});
      } else if (c == '(') {
        ++at_;
        skip_space(true);
        const std::size_t before = rules_.size();
        const std::uint32_t group = new_rule();
        read_alternatives(group, depth + 1);
        if (peek() != ')') expected("')'");
        ++at_;
        begin_item(sequence);
        sequence.rules = static_cast<double>(rules_.size() - before);
        add(sequence, {Kind::kRule, group});
      } else if (is_word(c)) {
        begin_item(sequence);
        add(sequence, {Kind::kRule, rule_of(read_name())});
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

  void add(Sequence& sequence, Place element) {
    count(1);
    sequence.elements.push_back(element);
  }

  void count(double elements) {
    elements_ += elements;
    if (elements_ > kMostElements) refuse("is too large once its repetitions are multiplied out");
  }

  // A character of a literal or a set, which may be escaped.
  std::uint32_t read_character() {
    if (at_ >= text_.size()) expected("more: it ends inside a literal or a set");
    if (peek() != '\\') return read_utf8();
    const char kind = peek(1);
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    constexpr std::string_view kEscapes = "trn\\\"[]-", kMeanings = "\t\r\n\\\"[]-";
    const std::size_t escape = kEscapes.find(kind);
    if (digits == 0 && (kind == '\0' || escape == std::string_view::npos)) expected("a known escape");
    at_ += 2;
    if (digits == 0) return static_cast<unsigned char>(kMeanings[escape]);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const int digit = is_digit(c)            ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) expected("a hexadecimal digit");
      value = value << 4U | static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  std::uint32_t read_utf8() {
    const auto first = static_cast<unsigned char>(text_[at_++]);
    const int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    std::uint32_t value = first & (0xFFU >> static_cast<unsigned>(length));
    for (int i = 1; i < length && at_ < text_.size(); ++i, ++at_) {
      value = value << 6U | (static_cast<unsigned char>(text_[at_]) & 0x3FU);
    }
    return value;
  }

  void read_characters(char end, Sequence& sequence) {
    for (++at_; peek() != end;) {
      const std::uint32_t character = read_character();
      const auto [known, is_new] = literals_.try_emplace(character, static_cast<std::uint32_t>(sets_.size()));
      if (is_new) sets_.push_back({.ranges = {{character, character}}});
      add(sequence, {Kind::kSet, known->second});
    }
    ++at_;
  }

  std::uint32_t new_set(CharacterSet set) {
    sets_.push_back(std::move(set));
    return static_cast<std::uint32_t>(sets_.size()) - 1;
  }

  void read_set(Sequence& sequence) {
    CharacterSet set;
    ++at_;
    if (peek() == '^') {
      ++at_;
      set.negated = true;
    }
    while (peek() != ']') {
      const std::uint32_t low = read_character();
      std::uint32_t high = low;
      count(1);
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        high = read_character();
      }
      set.ranges.push_back({low, high});
    }
    ++at_;
    // [] and [^] are nothing at all, as in llama.cpp.
    if (!set.ranges.empty()) add(sequence, {Kind::kSet, new_set(std::move(set))});
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
    const std::vector<Place> item(sequence.elements.begin() + static_cast<std::ptrdiff_t>(sequence.last),
                                  sequence.elements.end());
    const double optional = most < 0 ? 1 : most - least;
    sequence.rules *= most > 0 ? most : std::max(least, 1.0);
    if (sequence.rules > kMostRepetitions) refuse("repeats too much that repeats");
    count(static_cast<double>(item.size()) * (least + optional));
    sequence.elements.resize(sequence.last);
    for (int i = 0; i < static_cast<int>(least); ++i) {
      sequence.elements.insert(sequence.elements.end(), item.begin(), item.end());
    }
    if (optional == 0) return;
    // The rest is a rule: the item and then as many as may come after it, or nothing.
    std::uint32_t rest = 0;
    for (int i = 0; i < static_cast<int>(optional); ++i) {
      const std::uint32_t rule = new_rule();
      std::vector<Place> one = item;
      const bool repeats = most < 0 || i > 0;
      if (repeats) one.push_back({Kind::kRule, most < 0 ? rule : rest});
      rules_[rule] = {.defined = true, .repeats = repeats, .sequences = {std::move(one), {}}};
      rest = rule;
    }
    sequence.elements.push_back({Kind::kRule, rest});
  }

  enum class Visit : std::uint8_t { kNot, kNow, kSomething, kNullable };

  void check_left_recursion() const {
    std::vector<Visit> visits(rules_.size());
    for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) visit_first(rule, 0, visits);
  }

  // Follows what a rule may begin with, and tells whether it may be nothing.
  bool visit_first(std::uint32_t rule, int depth, std::vector<Visit>& visits) const {
    if (visits[rule] == Visit::kNow) refuse("has left recursion");
    if (visits[rule] != Visit::kNot) return visits[rule] == Visit::kNullable;
    if (depth > kMostDepth) refuse(fmt::format("nests rules deeper than {}", kMostDepth));
    visits[rule] = Visit::kNow;
    const DraftRule& draft = rules_[rule];
    bool nullable = false;
    for (const std::vector<Place>& sequence : draft.sequences) {
      std::size_t i = 0;
      // What repeats nothing comes back to itself with nothing in between: there is nothing new to follow then.
      const std::size_t end = sequence.size() - (draft.repeats && !sequence.empty() ? 1 : 0);
      while (i < end && sequence[i].kind == Kind::kRule && visit_first(sequence[i].value, depth + 1, visits)) ++i;
      nullable = nullable || i == end;
    }
    visits[rule] = nullable ? Visit::kNullable : Visit::kSomething;
    return nullable;
  }

  GrammarRules lay_out(std::uint32_t root) {
    GrammarRules rules;
    rules.root = root;
    rules.sets = std::move(sets_);
    for (const DraftRule& draft : rules_) {
      auto& starts = rules.rules.emplace_back();
      for (const std::vector<Place>& sequence : draft.sequences) {
        starts.push_back(static_cast<std::uint32_t>(rules.places.size()));
        rules.places.insert(rules.places.end(), sequence.begin(), sequence.end());
        rules.places.push_back({});
      }
    }
    return rules;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  double elements_ = 0;
  std::map<std::string, std::uint32_t> names_;
  std::vector<DraftRule> rules_;
  std::vector<CharacterSet> sets_;
  std::unordered_map<std::uint32_t, std::uint32_t> literals_;  // a character to the set that is it alone
};

}  // namespace

bool CharacterSet::contains(std::uint32_t character) const {
  const bool found = std::any_of(ranges.begin(), ranges.end(),
                                 [&](const Range& range) { return range.low <= character && character <= range.high; });
  return found != negated;
}

bool CharacterSet::may_contain(std::uint32_t begun, int missing) const {
  if (missing == 1 && begun < 2) return false;  // a longer spelling of an ASCII character
  const unsigned bits = 6U * static_cast<unsigned>(missing);
  std::uint32_t low = begun << bits;
  const std::uint32_t high = low | ((1U << bits) - 1);
  // What fewer bytes could spell is not meant.
  if (low == 0 && missing == 2) low = 0x800;
  if (low == 0 && missing == 3) low = 0x10000;
  const bool meets = std::any_of(ranges.begin(), ranges.end(),
                                 [&](const Range& range) { return range.low <= high && low <= range.high; });
  return meets != negated;
}

GrammarRules read_grammar(std::string_view gbnf, const std::string& root) {
  if (gbnf.size() > kMostBytes) refuse(fmt::format("is longer than {} KiB", kMostBytes >> 10U));
  if (gbnf.find('\0') != std::string_view::npos) refuse("has a zero byte");
  return GrammarReader(gbnf).read(root);
}

}  // namespace dts
