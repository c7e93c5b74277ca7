// The words for enumerators: the same on the command line, in requests, in tree files and in drawings.
#pragma once

#include <array>

#include "base/names.h"
#include "dts/method.h"
#include "dts/search.h"
#include "dts/tree.h"

namespace dts {

inline constexpr Names<Criterion, 3> kCriteria = {
    {{"decision", Criterion::kDecision}, {"high-entropy", Criterion::kHighEntropy}, {"either", Criterion::kEither}}};

inline constexpr Names<Freeze, 2> kFreezes = {{{"temporary", Freeze::kTemporary}, {"permanent", Freeze::kPermanent}}};

// Older tree files have "max-mean-logprob" for what was the mean then; their winner is in the file.
inline constexpr Names<SelectRule, 6> kSelectRules = {{{"first", SelectRule::kFirst},
                                                       {"majority", SelectRule::kMajority},
                                                       {"weighted-majority", SelectRule::kWeightedMajority},
                                                       {"max-logprob", SelectRule::kMaxLogprob},
                                                       {"max-mean-logprob", SelectRule::kMaxLogprob},
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

}  // namespace dts
