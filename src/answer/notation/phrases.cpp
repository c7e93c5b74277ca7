#include "answer/notation/phrases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "answer/notation/units.h"
#include "answer/value/expression.h"
#include "answer/value/number.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxPhrase = 256;  // bytes: longer is prose

using Phrase = std::pair<std::string_view, std::string_view>;

constexpr std::array kPhrases = {
    Phrase{"all real numbers", "\\R"},
    Phrase{"all reals", "\\R"},
    Phrase{"all real values", "\\R"},
    Phrase{"all real numbers x", "\\R"},
    Phrase{"all real x", "\\R"},
    Phrase{"any real number", "\\R"},
    Phrase{"real numbers", "\\R"},
    Phrase{"the real numbers", "\\R"},
    Phrase{"the set of all real numbers", "\\R"},
    Phrase{"(-infinity, infinity)", "\\R"},
    Phrase{"x\\in\\R", "\\R"},
    Phrase{"\\R^+", "(0, infinity)"},
    Phrase{"\\R^(+)", "(0, infinity)"},
    Phrase{"\\R_+", "(0, infinity)"},
    Phrase{"\\R_(>0)", "(0, infinity)"},
    Phrase{"positive real numbers", "(0, infinity)"},
    Phrase{"all positive real numbers", "(0, infinity)"},
    Phrase{"all positive reals", "(0, infinity)"},
    Phrase{"\\R_(>=0)", "[0, infinity)"},
    Phrase{"all nonnegative real numbers", "[0, infinity)"},
    Phrase{"all non-negative real numbers", "[0, infinity)"},
    Phrase{"\\R^-", "(-infinity, 0)"},
    Phrase{"\\R^(-)", "(-infinity, 0)"},
    Phrase{"all negative real numbers", "(-infinity, 0)"},
    Phrase{"all integers", "\\Z"},
    Phrase{"integers", "\\Z"},
    Phrase{"the integers", "\\Z"},
    Phrase{"no solution", "\\emptyset"},
    Phrase{"no solutions", "\\emptyset"},
    Phrase{"no real solution", "\\emptyset"},
    Phrase{"no real solutions", "\\emptyset"},
    Phrase{"there is no solution", "\\emptyset"},
    Phrase{"there are no solutions", "\\emptyset"},
    Phrase{"there are no real solutions", "\\emptyset"},
    Phrase{"empty set", "\\emptyset"},
    Phrase{"the empty set", "\\emptyset"},
    Phrase{"{}", "\\emptyset"},
    Phrase{"none", "\\emptyset"},
    Phrase{"does not exist", "undefined"},
    Phrase{"dne", "undefined"},
    Phrase{"not defined", "undefined"},
    Phrase{"infinitely many", "infinitely many"},
    Phrase{"infinitely many solutions", "infinitely many"},
    Phrase{"there are infinitely many solutions", "infinitely many"},
    Phrase{"infinitely many real solutions", "infinitely many"},
    Phrase{"infinite", "infinitely many"},
    Phrase{"infinite solutions", "infinitely many"},
};

constexpr std::array kScales = {
    Phrase{"hundred", "100"},        Phrase{"thousand", "1000"},          Phrase{"million", "1000000"},
    Phrase{"billion", "1000000000"}, Phrase{"trillion", "1000000000000"}, Phrase{"dozen", "12"},
    Phrase{"thousands", "1000"},     Phrase{"millions", "1000000"},       Phrase{"billions", "1000000000"},
    Phrase{"dozens", "12"},
};

constexpr std::array kWordsOfNumbers = {
    Phrase{"zero", "0"},     Phrase{"one", "1"},        Phrase{"two", "2"},       Phrase{"three", "3"},
    Phrase{"four", "4"},     Phrase{"five", "5"},       Phrase{"six", "6"},       Phrase{"seven", "7"},
    Phrase{"eight", "8"},    Phrase{"nine", "9"},       Phrase{"ten", "10"},      Phrase{"eleven", "11"},
    Phrase{"twelve", "12"},  Phrase{"thirteen", "13"},  Phrase{"fourteen", "14"}, Phrase{"fifteen", "15"},
    Phrase{"sixteen", "16"}, Phrase{"seventeen", "17"}, Phrase{"eighteen", "18"}, Phrase{"nineteen", "19"},
    Phrase{"twenty", "20"},  Phrase{"thirty", "30"},    Phrase{"forty", "40"},    Phrase{"fifty", "50"},
    Phrase{"sixty", "60"},   Phrase{"seventy", "70"},   Phrase{"eighty", "80"},   Phrase{"ninety", "90"},
};

constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};

constexpr std::array kFractionsInWords = {
    Phrase{"half", "0.5"},          Phrase{"one half", "0.5"},        Phrase{"one-half", "0.5"},
    Phrase{"one third", "1/3"},     Phrase{"one-third", "1/3"},       Phrase{"two thirds", "2/3"},
    Phrase{"two-thirds", "2/3"},    Phrase{"one quarter", "0.25"},    Phrase{"one-quarter", "0.25"},
    Phrase{"one fourth", "0.25"},   Phrase{"three quarters", "0.75"}, Phrase{"three-quarters", "0.75"},
    Phrase{"three fourths", "0.75"}};

template <std::size_t n>
std::optional<std::string_view> looked_up(const std::array<Phrase, n>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Phrase& entry) { return entry.first == name; });
  if (found == table.end()) return std::nullopt;
  return found->second;
}

// "forty-two" too, whose hyphen may have lost its spaces.
std::optional<std::string> number_in_words(std::string_view text) {
  if (const auto number = looked_up(kWordsOfNumbers, text)) return std::string(*number);
  if (const auto fraction = looked_up(kFractionsInWords, text)) return std::string(*fraction);
  const std::size_t gap = text.find_first_of("- ");
  if (gap == std::string_view::npos) return std::nullopt;
  const auto tens = looked_up(kWordsOfNumbers, text.substr(0, gap));
  const auto ones = looked_up(kWordsOfNumbers, trim(text.substr(gap + 1)));
  if (!tens || !ones || tens->size() != 2 || tens->back() != '0' || ones->size() != 1 || *ones == "0")
    return std::nullopt;
  return std::string{tens->front(), ones->front()};
}

// "3 hours" of "three hours": what is counted follows in one word or two.
std::optional<std::string> counted_in_words(std::string_view text) {
  for (std::size_t gap = text.find(' '); gap != std::string_view::npos; gap = text.find(' ', gap + 1)) {
    const std::string_view unit = text.substr(gap + 1);
    if (looked_up(kWordsOfNumbers, unit.substr(0, unit.find(' ')))) continue;  // of "twenty one hours"
    const bool words =
        !unit.empty() && std::all_of(unit.begin(), unit.end(), [](char c) { return is_letter(c) || c == ' '; });
    const auto number = words && !changes_meaning(unit) ? number_in_words(text.substr(0, gap)) : std::nullopt;
    if (!number || number->find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return *number + " " + std::string(unit);
  }
  return std::nullopt;
}

// "75" of "seventy-five percent"
std::optional<std::string> percentage_in_words(std::string_view text) {
  constexpr std::string_view kPercent = " percent";
  if (!text.ends_with(kPercent)) return std::nullopt;
  return number_in_words(trim(text.substr(0, text.size() - kPercent.size())));
}

// "b" of "option b" and "choice (b)"
std::optional<std::string> option_by_name(std::string_view text) {
  for (const std::string_view name : {"option ", "choice ", "option(", "choice("}) {
    if (!text.starts_with(name)) continue;
    const std::string_view letter = text.substr(name.size(), 1);
    const std::string_view rest = text.substr(name.size() + letter.size());
    if (!letter.empty() && is_letter(letter.front()) && (rest.empty() || rest == ")")) return std::string(letter);
  }
  return std::nullopt;
}

// "5" of "total: 5": a name before a number.
std::optional<std::string> named_number(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon < 3) return std::nullopt;
  const std::string_view name = text.substr(0, colon);
  const std::string_view number = trim(text.substr(colon + 2));
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || c == ' '; })) return std::nullopt;
  for (const std::string_view against : {"not", "least", "most", "than", "wrong", "except"}) {
    if (name.find(against) != std::string_view::npos) return std::nullopt;
  }
  return is_number(number) ? std::optional<std::string>(number) : std::nullopt;
}

// "3:30 pm" of "3:30 p.m." and "3:30pm"; "5:00 pm" of "5 pm".
std::optional<std::string> time_of_day(std::string_view text) {
  std::string letters;
  std::size_t end = text.size();
  while (end > 0 && (is_letter(text[end - 1]) || text[end - 1] == '.' || is_space(text[end - 1]))) {
    if (is_letter(text[--end])) letters.insert(letters.begin(), text[end]);
  }
  if (letters != "am" && letters != "pm") return std::nullopt;
  const std::string_view clock = text.substr(0, end);
  const std::size_t colon = clock.find(':');
  std::string_view hour = clock.substr(0, colon);
  const std::string_view minute = colon == std::string_view::npos ? "00" : clock.substr(colon + 1);
  const auto digits_only = [](std::string_view part) {
    return !part.empty() && part.size() <= 2 && std::all_of(part.begin(), part.end(), is_digit);
  };
  if (hour.size() == 2 && hour.front() == '0') hour.remove_prefix(1);
  if (!digits_only(hour) || !digits_only(minute) || minute.size() != 2) return std::nullopt;
  return std::string(hour) + ":" + std::string(minute) + " " + letters;
}

// "june 5", or with its year, of the ways to write it.
std::optional<std::string> date_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (is_letter(c) || is_digit(c)) {
      word += c;
    } else if (c == ' ' || c == ',' || c == '.') {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      return std::nullopt;
    }
  }
  std::string month;
  std::string day;
  std::string year;
  for (std::string& one : words) {
    if (one == "of" || one == "the") continue;
    const auto named = std::find_if(kMonths.begin(), kMonths.end(), [&](std::string_view name) {
      return name == one || (one.size() == 3 && name.starts_with(one));
    });
    if (named != kMonths.end()) {
      if (!month.empty()) return std::nullopt;
      month = *named;
      continue;
    }
    if (!is_digit(one.front())) return std::nullopt;
    for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
      if (one.ends_with(ending)) one.resize(one.size() - 2);
    }
    if (!std::all_of(one.begin(), one.end(), is_digit)) return std::nullopt;
    std::string& part = one.size() == 4 ? year : day;
    if (!part.empty() || (one.size() != 4 && one.size() > 2)) return std::nullopt;
    part = one;
  }
  if (month.empty() || day.empty()) return std::nullopt;
  return month + " " + day + (year.empty() ? "" : " " + year);
}

std::optional<std::string> scaled_number(std::string_view text) {
  const std::size_t gap = text.rfind(' ');
  if (gap == std::string_view::npos) return std::nullopt;
  const auto scale = looked_up(kScales, text.substr(gap + 1));
  if (!scale || !is_number(text.substr(0, gap))) return std::nullopt;
  const std::optional<Value> value = evaluate(std::string(text.substr(0, gap)) + "*" + std::string(*scale));
  return value && value->exact ? std::optional(value->exact->text()) : std::nullopt;
}

// "{x|x>5}", "{x\in\R:x>5}" -> "x>5".
std::optional<std::string> set_condition(std::string_view text) {
  if (text.size() < 6 || text.front() != '{' || text.back() != '}' || !is_letter(text[1])) return std::nullopt;
  const std::string_view inner = text.substr(1, text.size() - 2);
  const std::size_t bar = inner.find_first_of("|:");
  if (bar == std::string_view::npos || bar + 1 >= inner.size()) return std::nullopt;
  const std::string_view named = trim(inner.substr(0, bar));
  if (named.size() != 1 && named.substr(1) != "\\in\\R" && trim(named.substr(1)) != "\\in \\R") return std::nullopt;
  return std::string(trim(inner.substr(bar + 1)));
}

// "3rd" -> "3".
std::optional<std::string> ordinal(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const std::string_view digits = text.substr(0, text.size() - 2);
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (text.ends_with(ending)) return std::string(digits);
  }
  return std::nullopt;
}

// "3 to 4" -> "3:4".
std::optional<std::string> ratio_in_words(std::string_view text) {
  constexpr std::string_view kTo = " to ";
  const std::size_t at = text.find(kTo);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view left = text.substr(0, at);
  const std::string_view right = text.substr(at + kTo.size());
  if (!is_number(left) || !is_number(right)) return std::nullopt;
  return std::string(left) + ":" + std::string(right);
}

// "101 base 2", "101(base 2)", "(101)_2" -> "101_2".
std::optional<std::string> number_in_base(std::string_view text) {
  constexpr std::string_view kBase = " base ";
  if (const std::size_t at = text.find(kBase); at != std::string_view::npos) {
    const std::string_view base = trim(text.substr(at + kBase.size()));
    std::string_view digits = trim(text.substr(0, at));
    if (digits.ends_with(" in")) digits.remove_suffix(3);
    if (!is_word(digits) || !is_word(base)) return std::nullopt;
    return std::string(digits) + "_" + std::string(looked_up(kWordsOfNumbers, base).value_or(base));
  }
  constexpr std::string_view kRemark = "(base ";
  if (const std::size_t at = text.find(kRemark); at != std::string_view::npos && text.ends_with(')')) {
    const std::string_view base = text.substr(at + kRemark.size(), text.size() - at - kRemark.size() - 1);
    return number_in_base(std::string(trim(text.substr(0, at))) + " base " + std::string(base));
  }
  const std::size_t close = text.find(")_");
  if (!text.starts_with('(') || close == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(1, close - 1);
  const std::string_view base = text.substr(close + 2);
  if (!is_word(digits) || !is_word(base) || !is_digit(digits.front())) return std::nullopt;
  return std::string(digits) + "_" + std::string(base);
}

}  // namespace

std::string plain_phrase(std::string_view normal) {
  if (normal.empty() || normal.size() > kMaxPhrase) return std::string(normal);
  std::string_view text = normal;
  if (const auto phrase = looked_up(kPhrases, text)) return std::string(*phrase);
  if (text.front() == '<' && text.back() == '>' && text.find(',') != std::string_view::npos) {
    return "(" + std::string(text.substr(1, text.size() - 2)) + ")";
  }
  for (const auto& reading :
       {time_of_day(text), date_of(text), number_in_words(text), counted_in_words(text), scaled_number(text),
        set_condition(text), number_in_base(text), ordinal(text), ratio_in_words(text), percentage_in_words(text),
        option_by_name(text), named_number(text)}) {
    if (reading) return *reading;
  }
  for (const std::string_view about : {"approximately ", "about ", "roughly "}) {
    if (text.starts_with(about) && is_digit(text.substr(about.size()).empty() ? ' ' : text[about.size()])) {
      text.remove_prefix(about.size());
    }
  }
  // "it is an ellipse", "on monday", "the function is even": a word with its article.
  for (const std::string_view begin :
       {"yes, it is", "no, it is not", "it is ", "this is ", "the function is ", "the graph is ", "the answer is ",
        "the day is ", "the day of the week is ", "the conic is ", "the shape is "}) {
    if (text == begin) return std::string(text.substr(0, text.find(',')));
    if (text.starts_with(begin) && is_word(text.substr(text.rfind(' ') + 1))) text.remove_prefix(begin.size());
  }
  for (const std::string_view article : {"the ", "a ", "an ", "on "}) {
    // "a b" may be a product; an article is before a word.
    const std::string_view rest = text.starts_with(article) ? text.substr(article.size()) : std::string_view();
    if (!rest.empty() && (article == "the " || (rest.size() > 2 && is_letter(rest[0]) && is_letter(rest[1])))) {
      text = rest;
      break;
    }
  }
  return std::string(trim(text));
}

}  // namespace dts
