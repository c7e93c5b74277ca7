// What people write around the letter of a choice: in lower case, to be looked for as whole words.
#pragma once

#include <array>
#include <string_view>

namespace dts::letters {

// What gives a reason, or sets something against what was said.
inline constexpr std::array<std::string_view, 9> kReasons = {"because", "since",   "as",       "for",   "rather",
                                                             "not",     "instead", "although", "though"};
// What may stand between a marker and its letter. Those that say that it is the one ...
inline constexpr std::array<std::string_view, 13> kVerbs = {
    "is",          "would",       "be",          "must",          "should",          "can only be", "has to be",
    "seems to be", "looks to be", "ought to be", "appears to be", "turns out to be", "will"};
// ... and the others.
inline constexpr std::array<std::string_view, 40> kFillers = {"clear",          "obvious",       "the",
                                                              "option",         "choice",        "correct",
                                                              "letter",         "number",        "therefore",
                                                              "clearly",        "likely",        "probably",
                                                              "most",           "most likely",   "indeed",
                                                              "then",           "thus",          "hence",
                                                              "definitely",     "obviously",     "certainly",
                                                              "actually",       "simply",        "evidently",
                                                              "surely",         "most probably", "almost certainly",
                                                              "in fact",        "answer",        "here",
                                                              "that remains",   "that is left",  "that fits",
                                                              "that fits best", "that matches",  "that works",
                                                              "left",           "we want",       "we need",
                                                              "we seek"};
// What says that a letter is chosen, however the sentence goes on ...
inline constexpr std::array<std::string_view, 16> kDecisions = {
    "lean towards", "lean toward",   "leaning towards", "leaning toward", "opt for",    "opting for",
    "stick with",   "sticking with", "go with",         "go for",         "going with", "going for",
    "went with",    "settle on",     "settle for",      "settling on"};
// ... and what says so only where nothing but a reason follows: "choose A = 2" sets a number.
inline constexpr std::array<std::string_view, 38> kSelections = {
    "pick",         "picking",         "choose",       "choosing",       "select",
    "selecting",    "chose",           "guess",        "must be",        "should be",
    "it's",         "it is",           "has to be",    "matches with",   "matches",
    "match is",     "which leaves",    "this leaves",  "that leaves",    "leaves only",
    "leaves just",  "leaves us with",  "leaving only", "leaving just",   "leaving us with",
    "left with",    "plausible is",    "closest is",   "most likely is", "best fit is",
    "left is",      "i'd say",         "i\u2019d say", "i would say",    "remains is",
    "fits best is", "matches best is", "best is"};
// What a colon, a dash or "is" follows before the letter.
inline constexpr std::array<std::string_view, 9> kLabels = {"letter", "solution",   "response",   "verdict", "final",
                                                            "tl;dr",  "correction", "conclusion", "tldr"};
// What says so only at the very end: elsewhere it speaks of parts of the question as well.
inline constexpr std::array<std::string_view, 28> kEndings = {
    "which is",  "agrees with", "agree with",  "consistent with", "which means",      "this means",  "listed under",
    "listed as", "labelled",    "labeled",     "corresponds to",  "corresponding to", "the one in",  "points to",
    "leaving",   "given in",    "given by",    "shown in",        "described in",     "depicted in", "leaves",
    "probably",  "likely",      "most likely", "supports",        "favors",           "favours",     "options"};
inline constexpr std::array<std::string_view, 13> kArrows = {
    "\u27a1\ufe0f", "\u27a1", "\U0001f449", "\u25b6", "\u2192",       "\u21d2",      "\u27f9",
    "=>",           "==>",    "->",         "-->",    "\\Rightarrow", "\\rightarrow"};
// What follows "only C".
inline constexpr std::array<std::string_view, 13> kAgreement = {
    "is consistent", "is compatible", "is in agreement", "is valid",       "is possible",  "is plausible",    "fits",
    "matches",       "satisfies",     "agrees",          "can be correct", "can be right", "could be correct"};
// ... and what ends a sentence about the one that is right.
inline constexpr std::array<std::string_view, 8> kFits = {"works",        "fits",    "fits best", "is best",
                                                          "matches best", "remains", "holds",     "survives"};
inline constexpr std::array<std::string_view, 2> kLeftOver = {"remains", "is left"};

}  // namespace dts::letters
