// The words that the tree file and the drawings have for enumerators: the same as on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "dts/method.h"
#include "dts/search.h"
#include "dts/tree.h"

namespace dts::draw {

template <typename Enum, std::size_t n>
using Names = std::array<std::pair<std::string_view, Enum>, n>;

inline constexpr Names<Criterion, 3> kCriteria = {
    {{"decision", Criterion::kDecision}, {"high-entropy", Criterion::kHighEntropy}, {"either", Criterion::kEither}}};

inline constexpr Names<Freeze, 2> kFreezes = {{{"temporary", Freeze::kTemporary}, {"permanent", Freeze::kPermanent}}};

inline constexpr Names<SelectRule, 5> kSelectRules = {{{"first", SelectRule::kFirst},
                                                       {"majority", SelectRule::kMajority},
                                                       {"weighted-majority", SelectRule::kWeightedMajority},
                                                       {"max-mean-logprob", SelectRule::kMaxMeanLogprob},
                                                       {"max-confidence", SelectRule::kMaxConfidence}}};

inline constexpr Names<SegmentState, 6> kSegmentStates = {{{"live", SegmentState::kLive},
                                                           {"split", SegmentState::kSplit},
                                                           {"finished", SegmentState::kFinished},
                                                           {"exhausted", SegmentState::kExhausted},
                                                           {"retired", SegmentState::kRetired},
                                                           {"cut", SegmentState::kCut}}};

inline constexpr std::array<StopReason, 8> kStopReasons = {
    StopReason::kRunning,     StopReason::kEnoughFinished, StopReason::kAgreement, StopReason::kNothingLive,
    StopReason::kTokenBudget, StopReason::kTimeBudget,     StopReason::kCancelled, StopReason::kFailed};

template <typename Enum, std::size_t n>
constexpr std::string_view name_of(const Names<Enum, n>& names, Enum value) {
  return std::find_if(names.begin(), names.end(), [value](const auto& entry) { return entry.second == value; })->first;
}

template <typename Enum, std::size_t n>
constexpr std::optional<Enum> value_of(const Names<Enum, n>& names, std::string_view name) {
  for (const auto& [word, value] : names) {
    if (word == name) return value;
  }
  return std::nullopt;
}

}  // namespace dts::draw
