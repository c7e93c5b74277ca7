#include "answer/notation/other_languages.h"

#include <algorithm>
#include <array>

#include "text/ascii.h"

namespace dts {

using namespace text;

namespace {

constexpr std::size_t kMaxClause = 96;  // bytes
constexpr int kMaxWords = 8;            // between the noun and what it is

// What is said to be something: in lower case, and Cyrillic, which we do not fold, in both.
constexpr std::array kNouns = std::to_array<std::string_view>({"答案",
                                                               "正确选项",
                                                               "正确的选项",
                                                               "正确的是",
                                                               "正确的说法",
                                                               "正确的陈述",
                                                               "正确的一项",
                                                               "最佳选项",
                                                               "最合适的选项",
                                                               "符合题意的是",
                                                               "符合题意的选项",
                                                               "符合条件的是",
                                                               "符合条件的选项",
                                                               "满足条件的是",
                                                               "满足条件的选项",
                                                               "符合要求的是",
                                                               "符合要求的选项",
                                                               "正確選項",
                                                               "正確的選項",
                                                               "正確的是",
                                                               "结论",
                                                               "答え",
                                                               "正解",
                                                               "정답",
                                                               "답",
                                                               "réponse",
                                                               "reponse",
                                                               "respuesta",
                                                               "antwort",
                                                               "lösung",
                                                               "risposta",
                                                               "resposta",
                                                               "ответ",
                                                               "Ответ",
                                                               "ОТВЕТ",
                                                               "opción correcta",
                                                               "opcion correcta",
                                                               "opção correta",
                                                               "alternativa correta",
                                                               "opzione corretta",
                                                               "option correcte",
                                                               "richtige option",
                                                               "верный вариант",
                                                               "правильный вариант"});
// What says that it is ...
constexpr std::array kLinks = std::to_array<std::string_view>(
    {"是",   "为",   "為", "应为", "应是", "应该是", "應為", "應該是", "就是",   "即为", "应选",   "应该选", "應選",
     "选",   "選",   "は", "은",   "는",   "est",    "es",   "ist",    "lautet", "sera", "serait", "sería",  "seria",
     "sarà", "wäre", "è",  "é",    ":",    "=",      "->",   "=>",     "→",      "⇒",    "– ",     "— ",     "- "});
// ... and what may stand about it.
constexpr std::array kFillers = std::to_array<std::string_view>(
    {"选项",      "選項",         "选择",     "第",        "而是",      "最终",     "correcte",  "exacte",   "finale",
     "donc",      "alors",        "bien",     "la",        "le",        "l'option", "l'opzione", "option",   "opción",
     "opcion",    "lettre",       "letra",    "lettera",   "die",       "der",      "buchstabe", "correcta", "final",
     "por tanto", "por lo tanto", "entonces", "la opción", "also",      "somit",    "daher",     "folglich", "corretta",
     "esatta",    "giusta",       "quindi",   "dunque",    "correta",   "certa",    "portanto",  "o",        "a",
     "a opção",   "alternativa",  "réponse",  "antwort",   "respuesta", "risposta", "choix",     "это",      "вариант",
     "буква"});
constexpr std::array kSuppositions = std::to_array<std::string_view>(
    {"如果", "若", "假如", "假设", "倘若", "是否", "错误的", "不正确", "并非", "不是", "もし"});
// At the front of a clause: "se" within one is a pronoun.
constexpr std::array kConditions = std::to_array<std::string_view>({"si", "wenn", "falls", "ob", "se", "если"});
constexpr std::array kFaulty =
    std::to_array<std::string_view>({"mauvaise", "fausse", "incorrecte", "incorrecta", "falsche", "errata", "sbagliata",
                                     "errada", "incorreta", "неправильный", "неверный"});

// What makes the value before it another one.
constexpr std::array kChanging = std::to_array<std::string_view>(
    {"或", "和", "与", "及", "到",   "至", "以上", "以下", "多", "余", "左右", "万",  "亿", "百",
     "千", "十", "倍", "分", "个百", "o",  "ou",   "oder", "y",  "e",  "et",   "und", "и",  "или"});

// In the case of ASCII letters, and to the end of a word that has them.
bool begins_with(std::string_view text, std::string_view phrase) {
  if (text.size() < phrase.size()) return false;
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    if (to_lower(text[i]) != phrase[i]) return false;
  }
  // Of Latin and Cyrillic letters beyond ASCII.
  const auto is_european = [](char c) { return c == '\xc3' || c == '\xd0' || c == '\xd1'; };
  if (!is_letter(phrase.back()) && !is_european(phrase.front())) return true;
  const std::string_view rest = text.substr(phrase.size());
  return rest.empty() || !(is_letter(rest.front()) || is_european(rest.front()));
}

template <std::size_t n>
std::size_t longest(std::string_view text, const std::array<std::string_view, n>& phrases) {
  std::size_t size = 0;
  for (const std::string_view one : phrases) {
    if (one.size() > size && begins_with(text, one)) size = one.size();
  }
  return size;
}

std::size_t blanks(std::string_view text) { return std::min(text.find_first_not_of(" \t*_$`"), text.size()); }

// The last clause.
std::string_view clause_of(std::string_view before) {
  before = before.substr(before.size() - std::min(before.size(), kMaxClause));
  const std::size_t mark = before.find_last_of(".,;:!?\n");
  return mark == std::string_view::npos ? before : before.substr(mark + 1);
}

}  // namespace

std::size_t lead_in_size(std::string_view text) {
  const std::size_t noun = longest(text, kNouns);
  if (noun == 0) return 0;
  bool linked = text.substr(0, noun).ends_with("是");
  std::size_t at = noun;
  if (text.substr(at).starts_with(']')) {  // "[答案] 12"
    linked = true;
    ++at;
  }
  for (int word = 0; word < kMaxWords; ++word) {
    at += blanks(text.substr(at));
    const std::string_view rest = text.substr(at);
    if (linked && rest.starts_with(',')) {  // "est, donc, 12"
      ++at;
      continue;
    }
    const std::size_t filler = longest(rest, kFillers);
    if (const std::size_t link = longest(rest, kLinks); link > filler) {  // "选项" is no "选"
      linked = true;
      at += link;
      continue;
    }
    if (rest.starts_with("不是")) {
      const std::string_view clause = rest.substr(0, kMaxClause);
      const std::size_t other = clause.substr(0, clause.find_first_of(".;!?\n")).find("而是");
      if (other == std::string_view::npos) return 0;
      linked = true;
      at += other;
      continue;
    }
    if (filler == 0 || (filler == 1 && rest.front() == 'A')) break;  // the article of Portuguese is "a"
    at += filler;
  }
  return linked ? at : 0;
}

bool is_supposed_abroad(std::string_view before) {
  const std::string_view clause = clause_of(before);
  for (const std::string_view one : kSuppositions) {
    if (clause.find(one) != std::string_view::npos) return true;
  }
  if (clause.ends_with("不") || clause.ends_with("非") || clause.ends_with("错")) return true;
  if (longest(trim(clause), kConditions) > 0) return true;
  for (std::size_t at = 0; at < clause.size(); ++at) {
    if ((at == 0 || clause[at - 1] == ' ') && longest(clause.substr(at), kFaulty) > 0) return true;
  }
  return false;
}

std::string_view after_last_lead_in(std::string_view text) {
  std::string_view found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    const std::size_t size = lead_in_size(text.substr(at));
    if (size > 0 && !is_supposed_abroad(text.substr(0, at)))
      found = text.substr(std::min(text.find_first_not_of(" \t\n\r*_`", at + size), text.size()));
  }
  return found.substr(0, found.find_first_of("\n\r"));
}

std::string_view value_abroad(std::string_view sentence) {
  int depth = 0;  // of brackets
  bool formula = false;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    const char c = sentence[at];
    const std::string_view rest = sentence.substr(at);
    if (c == '$') formula = !formula;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (at == 0 || formula || depth > 0) continue;
    const bool comma = c == ',';
    const std::string_view next = comma ? trim(rest.substr(1)) : rest;
    const bool words =
        begins_east_asian(next) || (comma && rest.substr(1).starts_with(' ') && !next.empty() &&
                                    (is_letter(next.front()) || static_cast<unsigned char>(next.front()) >= 0x80));
    if (!words) continue;
    return longest(next, kChanging) > 0 ? sentence : trim(sentence.substr(0, at));
  }
  return sentence;
}

bool begins_east_asian(std::string_view text) {
  // Three bytes, from U+3000 to the syllables of Korean.
  return text.size() > 2 && text.front() >= '\xe3' && text.front() <= '\xed';
}

}  // namespace dts
