// What LaTeX's commands, and the characters of Unicode that stand for them, are in plain text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace dts::latex {

// Commands without a meaning for the answer.
inline constexpr std::array<std::string_view, 39> kDropped = {
    "left",      "right",       "big",       "Big",    "bigg",      "Bigg",         "bigl",       "bigr",
    "Bigl",      "Bigr",        "mathstrut", "rm",     "bf",        "it",           "sf",         "displaystyle",
    "textstyle", "scriptstyle", "limits",    "middle", "nonumber",  "tiny",         "small",      "normalsize",
    "large",     "Large",       "LARGE",     "huge",   "Huge",      "footnotesize", "scriptsize", "checkmark",
    "hfill",     "blacksquare", "square",    "qed",    "therefore", "hline",        "strut"};
// ... nor has their argument.
inline constexpr std::array<std::string_view, 7> kSpaces = {"hspace",   "vspace", "phantom", "hphantom",
                                                            "vphantom", "tag",    "label"};

// Commands that only dress their argument: words, upright symbols, and others.
inline constexpr std::array<std::string_view, 13> kWords = {"text",   "textbf", "textit",     "textrm", "textsf",
                                                            "texttt", "textup", "textnormal", "textsl", "textsc",
                                                            "mbox",   "hbox",   "emph"};
inline constexpr std::array<std::string_view, 3> kUpright = {"mathrm", "operatorname", "mathsf"};
inline constexpr std::array<std::string_view, 25> kDressing = {
    "num", "mathbf", "mathit", "mathtt", "mathcal", "boxed",   "fbox",       "ensuremath",     "underline",
    "bm",  "vec",    "hat",    "bar",    "tilde",   "widehat", "boldsymbol", "overrightarrow", "mathfrak",
    "pmb", "bold",   "red",    "blue",   "green",   "orange",  "purple"};
inline constexpr std::array<std::string_view, 3> kRepeated = {"overline", "dot",
                                                              "bar"};  // of decimals: again and again
inline constexpr std::array<std::string_view, 3> kBinomials = {"binom", "dbinom", "tbinom"};
inline constexpr std::array<std::string_view, 2> kFrames = {"framebox", "bbox"};  // with options first
inline constexpr std::array<std::string_view, 2> kColours = {"color", "textcolor"};
inline constexpr std::array<std::string_view, 3> kModulo = {"pmod", "bmod", "mod"};
inline constexpr std::array<std::string_view, 3> kApproximately = {"approx", "thickapprox", "approxeq"};

inline constexpr std::array<std::string_view, 21> kFunctions = {
    "cis",    "sin",    "cos",    "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth",
    "arcsin", "arccos", "arctan", "ln",  "log", "lg",  "exp", "gcd",  "min",  "max"};
// Of an angle: within an answer that has one, a degree sign says something.
inline constexpr std::array<std::string_view, 7> kTrigonometric = {"sin", "cos", "tan", "cot", "sec", "csc", "cis"};

inline constexpr std::array<std::string_view, 6> kFractions = {"frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"};

// Environments of several statements, a line each.
inline constexpr std::array<std::string_view, 2> kStatements = {"cases", "dcases"};
// Environments that are a table of numbers; which brackets they draw around it is taste.
inline constexpr std::array<std::string_view, 5> kMatrices = {"matrix", "pmatrix", "bmatrix", "smallmatrix", "array"};

inline constexpr std::array<std::pair<std::string_view, std::string_view>, 59> kSymbols = {{
    {"lfloor", "floor("},
    {"rfloor", ")"},
    {"lceil", "ceil("},
    {"rceil", ")"},
    {"lvert", "|"},
    {"rvert", "|"},
    {"vert", "|"},
    {"mid", "|"},
    {"langle", "("},
    {"rangle", ")"},
    {"lbrack", "["},
    {"rbrack", "]"},
    {"lparen", "("},
    {"rparen", ")"},
    {"backslash", "\\setminus "},
    {"smallsetminus", "\\setminus "},
    {"bigcup", "\\cup "},
    {"lor", " or "},
    {"vee", " or "},
    {"land", " and "},
    {"pi", "pi"},
    {"infty", "infinity"},
    {"cdot", "*"},
    {"times", "*"},
    {"ast", "*"},
    {"div", "/"},
    {"le", "<="},
    {"leq", "<="},
    {"leqslant", "<="},
    {"ge", ">="},
    {"geq", ">="},
    {"geqslant", ">="},
    {"lt", "<"},
    {"gt", ">"},
    {"ne", "!="},
    {"neq", "!="},
    {"pm", "+-"},
    {"ldots", "..."},
    {"dots", "..."},
    {"cdots", "..."},
    {"quad", " "},
    {"qquad", " "},
    {"thinspace", " "},
    {"imath", "i"},
    {"jmath", "j"},
    {"medspace", " "},
    {"thickspace", " "},
    {"enspace", " "},
    {"space", " "},
    {"nobreakspace", " "},
    {"colon", ":"},
    {"lbrace", "{"},
    {"rbrace", "}"},
    {"textdollar", ""},
    {"pounds", ""},
    {"euro", ""},
    {"mp", "-+"},
    {"equiv", "="},
    {"varnothing", "\\emptyset"},
}};

inline constexpr std::string_view kDegreeSign = "\u00b0";
inline constexpr char kDegreeMark = '\x01';  // until it is known whether it counts
inline constexpr std::array<std::string_view, 4> kDegrees = {"degree", "degrees", "textdegree", "deg"};

// The same symbols, written in Unicode.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 73> kUnicode = {{
    {"\u2212", "-"},
    {"\u2013", "-"},
    {"\u2044", "/"},
    {"\u222a", "\\cup "},
    {"\u2229", "\\cap "},
    {"\u2208", "\\in "},
    {"\u2213", "-+"},
    {"\u00d7", "*"},
    {"\u00b7", "*"},
    {"\u22c5", "*"},
    {"\u2219", "*"},
    {"\u2022", "*"},
    {"\u00f7", "/"},
    {"\u2264", "<="},
    {"\u2265", ">="},
    {"\u2a7d", "<="},
    {"\u2a7e", ">="},
    {"\u2260", "!="},
    {"\u03c0", "pi"},
    {"\u00b1", "+-"},
    {"\u221e", "infinity"},
    {"\u00a0", " "},
    {"\u2009", " "},
    {"\u202f", " "},
    {"\u200a", " "},
    {"\u2003", " "},
    {"\u2019", "'"},
    {"\u2032", "'"},
    {"\u200b", ""},
    {"\u2026", "..."},
    {"\u2205", "\\emptyset "},
    {"\u2216", "\\setminus "},
    {"\u211d", "\\R "},
    {"\u2124", "\\Z "},
    {"\u2115", "\\N "},
    {"\u211a", "\\Q "},
    {"\u2102", "\\C "},
    {"\u230a", "floor("},
    {"\u230b", ")"},
    {"\u2308", "ceil("},
    {"\u2309", ")"},
    {"\u27e8", "("},
    {"\u27e9", ")"},
    {"\u2261", "="},
    {"\u2228", " or "},
    {"\u2227", " and "},
    {"\u03b1", "\\alpha "},
    {"\u03b2", "\\beta "},
    {"\u03b3", "\\gamma "},
    {"\u03b4", "\\delta "},
    {"\u03b5", "\\epsilon "},
    {"\u03b8", "\\theta "},
    {"\u03bb", "\\lambda "},
    {"\u03bc", "\\mu "},
    {"\u03c1", "\\rho "},
    {"\u03c3", "\\sigma "},
    {"\u03c4", "\\tau "},
    {"\u03c6", "\\phi "},
    {"\u03c9", "\\omega "},
    {"\u0394", "\\Delta "},
    {"\u03a9", "\\Omega "},
    {"\u03bd", "\\nu "},
    {"\u2113", "\\ell "},
    {"\u2192", "\\to "},
    {"\u21d2", "\\to "},
    {"\u27f9", "\\to "},
    {"\u2705", ""},
    {"\u2713", ""},
    {"\u2714", ""},
    {"\ufe0f", ""},
    {"\u220e", ""},
    {"\u25a0", ""},
    {"\u25a1", ""},  // marks of what is done
}};

// Fractions of one character: a number before them makes them mixed.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kVulgar = {{
    {"\u00bc", "1/4"},
    {"\u00bd", "1/2"},
    {"\u00be", "3/4"},
    {"\u2153", "1/3"},
    {"\u2154", "2/3"},
    {"\u2155", "1/5"},
    {"\u2156", "2/5"},
    {"\u2157", "3/5"},
    {"\u2158", "4/5"},
    {"\u2159", "1/6"},
    {"\u215a", "5/6"},
    {"\u215b", "1/8"},
    {"\u215c", "3/8"},
    {"\u215d", "5/8"},
    {"\u215e", "7/8"},
}};

// Raised and lowered characters.
inline constexpr std::array<std::pair<std::string_view, char>, 14> kRaised = {{
    {"\u2070", '0'},
    {"\u00b9", '1'},
    {"\u00b2", '2'},
    {"\u00b3", '3'},
    {"\u2074", '4'},
    {"\u2075", '5'},
    {"\u2076", '6'},
    {"\u2077", '7'},
    {"\u2078", '8'},
    {"\u2079", '9'},
    {"\u207b", '-'},
    {"\u207a", '+'},
    {"\u207f", 'n'},
    {"\u02e3", 'x'},
}};
inline constexpr std::array<std::pair<std::string_view, char>, 10> kLowered = {{
    {"\u2080", '0'},
    {"\u2081", '1'},
    {"\u2082", '2'},
    {"\u2083", '3'},
    {"\u2084", '4'},
    {"\u2085", '5'},
    {"\u2086", '6'},
    {"\u2087", '7'},
    {"\u2088", '8'},
    {"\u2089", '9'},
}};

inline constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kBases = {{
    {"(two)", "2"},
    {"(three)", "3"},
    {"(four)", "4"},
    {"(five)", "5"},
    {"(six)", "6"},
    {"(seven)", "7"},
    {"(eight)", "8"},
    {"(nine)", "9"},
    {"(ten)", "10"},
    {"(sixteen)", "16"},
}};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t n>
const std::string_view* lookup(const std::array<std::pair<std::string_view, std::string_view>, n>& table,
                               std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == name; });
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace dts::latex
