// A grammar as tables: what GBNF says, its groups and repetitions made rules of their own. A grammar of a stranger is
// bounded here before anything of it is multiplied out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// The characters that may stand at one place.
struct CharacterSet {
  struct Range {
    std::uint32_t low, high;  // both are in it
  };

  bool contains(std::uint32_t character) const;
  // The first bytes of a character say `begun`, and `missing` bytes of six bits are to come: may it be one of these? A
  // negated set wants all that it may become to be outside of its ranges, as llama.cpp does.
  bool may_contain(std::uint32_t begun, int missing) const;

  bool negated = false;
  std::vector<Range> ranges = {};  // as they are written; any character: negated, and none of these
};

struct GrammarRules {
  enum class Kind : std::uint8_t { kEnd, kSet, kRule };
  struct Place {
    Kind kind = Kind::kEnd;
    std::uint32_t value = 0;  // of `sets`, of `rules`
  };

  std::vector<Place> places;                      // every sequence of every rule, each with a kEnd after it
  std::vector<std::vector<std::uint32_t>> rules;  // [rules] where its sequences begin
  std::vector<CharacterSet> sets;
  std::uint32_t root = 0;
};

// Throws a usage error for a grammar that is no GBNF, that has no rule of the name `root`, that is too large once its
// repetitions are multiplied out, or that has left recursion. Elements that are tokens (<...>) are refused.
GrammarRules read_grammar(std::string_view gbnf, const std::string& root);

}  // namespace dts
