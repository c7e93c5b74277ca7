#include "engine/random/synthetic_vocabulary.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace dts {
namespace {

// Values of llama_token_type, as GGUF stores them.
constexpr int kNormal = 1;
constexpr int kControl = 3;
constexpr int kUserDefined = 4;

constexpr std::array<std::string_view, 200> kWords = {
    " the",       " a",         " of",       " to",       " is",      " and",       " in",       " we",
    " that",      " it",        " for",      " so",       " then",    " if",        " this",     " let",
    " be",        " as",        " with",     " by",       " are",     " have",      " can",      " now",
    " first",     " next",      " step",     " answer",   " number",  " sum",       " product",  " equals",
    " plus",      " minus",     " times",    " divided",  " because", " therefore", " hence",    " thus",
    " since",     " wait",      " check",    " again",    " but",     " maybe",     " perhaps",  " try",
    " another",   " way",       " think",    " know",     " need",    " find",      " value",    " each",
    " both",      " two",       " three",    " four",     " five",    " six",       " seven",    " eight",
    " nine",      " ten",       " zero",     " one",      " all",     " none",      " some",     " every",
    " even",      " odd",       " prime",    " factor",   " square",  " root",      " power",    " digit",
    " total",     " half",      " third",    " double",   " less",    " more",      " than",     " greater",
    " at",        " least",     " most",     " exactly",  " count",   " case",      " cases",    " possible",
    " solution",  " equation",  " variable", " x",        " y",       " n",         " k",        " m",
    " left",      " right",     " side",     " over",     " under",   " from",      " into",     " out",
    " up",        " down",      " here",     " there",    " where",   " when",      " what",     " which",
    " who",       " how",       " why",      " not",      " no",      " yes",       " or",       " only",
    " also",      " just",      " still",    " already",  " before",  " after",     " between",  " among",
    " same",      " different", " equal",    " true",     " false",   " correct",   " wrong",    " good",
    " bad",       " simple",    " hard",     " easy",     " long",    " short",     " small",    " large",
    " new",       " old",       " given",    " suppose",  " assume",  " consider",  " recall",   " note",
    " observe",   " verify",    " compute",  " multiply", " divide",  " add",       " subtract", " modulo",
    " remainder", " multiple",  " divisor",  " common",   " problem", " question",  " result",   " final",
    " line",      " point",     " circle",   " triangle", " angle",   " length",    " area",     " time",
    " day",       " hour",      " minute",   " box",      " ball",    " red",       " blue",     " green",
    " boxed",     " end",       " start",    " done",     " okay",    " well",      " indeed",   " actually",
};

}  // namespace

SyntheticVocabulary make_synthetic_vocabulary(int size) {
  SyntheticVocabulary vocabulary;
  const auto add = [&](std::string token, int type) {
    vocabulary.tokens.push_back(std::move(token));
    vocabulary.types.push_back(type);
  };
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = byte > 0x20 && byte < 0x7F && byte != '\\';
    add(plain ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte), kNormal);
  }
  add("<|endoftext|>", kControl);
  add("<|im_start|>", kControl);
  vocabulary.end_token = static_cast<int>(vocabulary.tokens.size());
  add("<|im_end|>", kControl);
  add("<think>", kUserDefined);
  add("</think>", kUserDefined);
  add("\\n\\n", kNormal);
  for (const std::string_view word : kWords) add(std::string(word), kNormal);
  for (int id = static_cast<int>(vocabulary.tokens.size()); id < size; ++id) add(fmt::format(" ~{}~", id), kNormal);
  return vocabulary;
}

std::string_view synthetic_chat_template() {
  return "{%- for message in messages %}"
         "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
         "{%- endfor %}"
         "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{%- endif %}";
}

}  // namespace dts
