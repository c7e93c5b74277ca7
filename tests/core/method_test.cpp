#include "dts/method.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "dts/error.h"

namespace dts {
namespace {

TEST(Method, PaperDefaults) {
  const Method stable = make_method("dts-stable");
  EXPECT_TRUE(stable.branch.enabled);
  EXPECT_EQ(stable.branch.k, 3);
  EXPECT_EQ(stable.branch.max_branches, 48);
  EXPECT_EQ(stable.branch.tau_v, 1.5);
  EXPECT_EQ(stable.branch.tau_h, 2.5);
  EXPECT_EQ(stable.stop.finished, 8);
  EXPECT_EQ(stable.max_live(), 48);
  EXPECT_EQ(make_method("dts-greedy").stop.finished, 1);
  EXPECT_EQ(make_method("self-consistency").width, 8);
  EXPECT_EQ(make_method("self-consistency").max_live(), 8);
  EXPECT_EQ(make_method("standard").max_live(), 1);
}

TEST(Method, LeanIsStableWithAFloorAndAStopOfItsOwn) {
  const Method lean = make_method("dts-lean");
  EXPECT_EQ(lean.stop.finished, 8);
  EXPECT_EQ(lean.branch.min_p, 0.02);
  EXPECT_EQ(lean.stop.adaptive, 0.8);
  EXPECT_EQ(make_method("dts-stable").branch.min_p, 0);
  MethodOptions options;
  options.branch.min_p = 0.2;
  options.adaptive = 0.95;
  EXPECT_EQ(make_method("dts-lean", options).branch.min_p, 0.2);
  EXPECT_EQ(make_method("dts-lean", options).stop.adaptive, 0.95);
  EXPECT_EQ(make_method("max-logit").length_alpha, 0.6);
}

TEST(Method, EveryNameCanBeMade) {
  for (const MethodInfo& info : methods()) {
    EXPECT_EQ(make_method(info.name).name, info.name);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_FALSE(info.source.empty());
  }
}

TEST(Method, AnUnknownNameListsTheKnownOnes) {
  try {
    make_method("dts-gredy");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("dts-gredy"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("dts-greedy"), std::string::npos);
    EXPECT_EQ(e.kind(), Error::Kind::kUsage);
  }
}

TEST(Method, RefusesMoreVotesThanTrajectories) {
  MethodOptions options;
  options.votes = 9;
  options.samples = 8;
  EXPECT_THROW(make_method("short-m@k", options), Error);
  options.votes = 0;
  EXPECT_THROW(make_method("dts-stable", options), Error);
}

TEST(BranchRule, ThresholdsAreInclusive) {
  BranchRule rule;
  EXPECT_TRUE(rule.is_decision(2.5, 1.5));
  EXPECT_FALSE(rule.is_decision(2.5, 1.499));
  EXPECT_FALSE(rule.is_decision(2.501, 1.5));
  rule.criterion = Criterion::kHighEntropy;
  EXPECT_TRUE(rule.is_decision(2.5, 0.0));
  EXPECT_FALSE(rule.is_decision(2.4, 9.0));
  rule.criterion = Criterion::kEither;
  EXPECT_TRUE(rule.is_decision(2.6, 0.0));
  EXPECT_TRUE(rule.is_decision(1.0, 1.5));
  EXPECT_FALSE(rule.is_decision(1.0, 1.0));
  rule.criterion = Criterion::kDecision;
  rule.tau_v = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(rule.is_decision(0.0, 1e9));
}

}  // namespace
}  // namespace dts
