// What is compared: methods with numbers of their own, the paper's protocol, and what tells one model's file from
// another.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/run/fingerprint.h"
#include "eval/run/protocol.h"
#include "eval/run/variants.h"
#include "support/eval_support.h"

namespace dts::eval {
namespace {

using test::error_of;
using test::expect_in;

TEST(Variants, ANameAloneHasTheUsualNumbers) {
  const SearchOptions options = parse_variant("dts-stable");
  EXPECT_EQ(options.method.name, "dts-stable");
  EXPECT_EQ(options.method.branch.tau_h, 2.5);
  EXPECT_EQ(options.method.branch.tau_v, 1.5);
  EXPECT_EQ(options.method.branch.k, 3);
  EXPECT_EQ(options.method.branch.max_branches, 48);
  EXPECT_EQ(options.method.stop.finished, 8);
}

TEST(Variants, NumbersOfItsOwnWinOverTheOthers) {
  DecodingOptions base;
  base.numbers.votes = 4;
  base.numbers.branch.tau_h = 2.0;
  const SearchOptions options = parse_variant(
      "dts-stable:tau-h=1.2:criterion=either:freeze=permanent:branch-k=2:max-branches=9:tau-v=inf:stat-temp=1", base);
  EXPECT_EQ(options.method.branch.tau_h, 1.2);
  EXPECT_TRUE(std::isinf(options.method.branch.tau_v));
  EXPECT_EQ(options.method.branch.criterion, Criterion::kEither);
  EXPECT_EQ(options.method.branch.freeze, Freeze::kPermanent);
  EXPECT_EQ(options.method.branch.k, 2);
  EXPECT_EQ(options.method.branch.max_branches, 9);
  EXPECT_EQ(options.method.stop.finished, 4);
  EXPECT_EQ(options.stat_temperature, 1.0F);
  const Method adaptive = parse_variant("self-consistency:votes=16:adaptive=0.95:consensus=0.9").method;
  EXPECT_EQ(adaptive.width, 16);
  EXPECT_EQ(adaptive.stop.adaptive, 0.95);
  EXPECT_EQ(adaptive.stop.consensus, 0.9);
  const Method deepconf = parse_variant("deepconf-low:warmup=2:window=64").method;
  EXPECT_EQ(deepconf.retire.warmup, 2);
  EXPECT_EQ(deepconf.retire.window, 64);
}

TEST(Variants, MistakesAreNamed) {
  for (const auto& [spec, part] :
       std::vector<std::pair<std::string, std::string>>{{"dts", "dts-stable"},
                                                        {"standard:", ""},
                                                        {"standard:x", "tau-h=1.2"},
                                                        {"standard:x=1", "'x'"},
                                                        {"dts-greedy:tau-h=", "number"},
                                                        {"dts-greedy:tau-h=1e", "number"},
                                                        {"dts-greedy:freeze=on", "permanent"},
                                                        {"dts-greedy:branch-k=0", "branch-k"}}) {
    SCOPED_TRACE(spec);
    if (part.empty()) {
      EXPECT_NO_THROW(parse_variant(spec));
    } else {
      expect_in(part, error_of([&s = spec] { parse_variant(s); }));
    }
  }
}

// Two variants have the same settings exactly when they decode the same.
TEST(Variants, SettingsTellThemApart) {
  const auto settings = [](const std::string& spec) { return settings_of(parse_variant(spec)).dump(); };
  EXPECT_EQ(settings("dts-stable"), settings("dts-stable:tau-h=2.5:votes=8"));
  EXPECT_NE(settings("dts-stable"), settings("dts-stable:tau-h=1.2"));
  EXPECT_NE(settings("dts-stable"), settings("dts-stable:tau-v=inf"));
  EXPECT_NE(settings("dts-stable"), settings("dts-stable:criterion=either"));
  EXPECT_NE(settings("dts-stable"), settings("dts-stable:freeze=permanent"));
  EXPECT_NE(settings("dts-stable"), settings("dts-stable:stat-temp=1"));
  EXPECT_NE(settings("dts-stable"), settings("max-logit"));
  EXPECT_NE(settings("deepconf-low"), settings("deepconf-high"));
  EXPECT_NE(settings("deepconf-low"), settings("deepconf-low:window=64"));
  EXPECT_NE(settings("self-consistency"), settings("self-consistency:adaptive=0.95"));
  EXPECT_EQ(settings("standard"), settings("standard:tau-h=1.2"));  // it does not branch
  SearchOptions warm = parse_variant("standard");
  warm.sampling.temperature = 0.7F;
  EXPECT_EQ(settings_of(warm)["temperature"].dump(), "0.7");
}

// Files are resumed by these texts: what a file of an earlier version says must be said again.
TEST(Variants, SettingsAreWrittenAsEver) {
  EXPECT_EQ(settings_of(parse_variant("deepconf-low:adaptive=0.9:votes=3")).dump(),
            R"({"certainty":0.9,"keep":0.1,"max_tokens":32768,"max_total_tokens":0,"method":"deepconf-low","min_p":0,)"
            R"("stop_finished":0,"temperature":0.6,"top_k":0,"top_p":1,"warmup":2,"width":3,)"
            R"("window":"an eighth of the budget"})");
  EXPECT_EQ(settings_of(parse_variant("dts-stable:tau-v=inf:consensus=1")).dump(),
            R"({"branch_k":3,"consensus":1.0,"criterion":"decision","freeze":"temporary","max_branches":48,)"
            R"("max_tokens":32768,"max_total_tokens":0,"method":"dts-stable","min_p":0,"stat_temperature":0.6,)"
            R"("stop_finished":8,"tau_h":"2.5","tau_v":"inf","temperature":0.6,"top_k":0,"top_p":1,"width":1})");
}

TEST(Protocol, IsThePapers) {
  const std::vector<PlannedVariant> plan = paper_protocol({0, 1, 2, 3, 4}, 100);
  std::set<std::string> methods;
  std::set<std::string> labels;
  for (const PlannedVariant& planned : plan) {
    EXPECT_TRUE(labels.insert(planned.label).second) << planned.label;
    const Method method = parse_variant(planned.spec).method;
    methods.insert(method.name);
    EXPECT_EQ(planned.seeds.size(), planned.label == kSamplesLabel ? 100U : 5U);
    if (method.branch.enabled) {
      EXPECT_EQ(method.branch.tau_v, 1.5);
      EXPECT_EQ(method.branch.k, 3);
      EXPECT_EQ(method.branch.max_branches, 48);
    }
    EXPECT_TRUE(method.width == 1 || method.width == 8) << planned.label;
  }
  EXPECT_EQ(methods.size() + 1, dts::methods().size());  // every method there is but for dts-lean, which is ours
  EXPECT_EQ(methods.count("dts-lean"), 0U);
  // The samples of the length study are others than those of the comparison.
  EXPECT_EQ(plan.back().label, kSamplesLabel);
  EXPECT_GT(plan.back().seeds.front(), 4U);
  EXPECT_TRUE(labels.count("dts-greedy:criterion=high-entropy") && labels.count("dts-stable:tau-h=1.2"));
  EXPECT_EQ(paper_samples("aime24"), 100);
  EXPECT_LT(paper_samples("nano-bench-mini"), 100);
}

TEST(Fingerprint, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Fingerprint, SeesEveryByteOfASmallFileAndTheBlocksOfALargeOne) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(file_fingerprint(directory.write("small", "abc").string()), "sha256:" + sha256("abc"));
  EXPECT_EQ(file_fingerprint(directory.write("empty", "").string()), "sha256:" + sha256(""));
  const std::string large = (directory.path() / "large").string();
  std::ofstream(large) << "head";
  std::filesystem::resize_file(large, std::uintmax_t{200} << 20U);
  const std::string before = file_fingerprint(large);
  expect_in("sampled-sha256:", before);
  std::filesystem::resize_file(large, (std::uintmax_t{200} << 20U) + 1);
  EXPECT_NE(file_fingerprint(large), before);
  error_of([&] { file_fingerprint((directory.path() / "missing").string()); });
}

TEST(Fingerprint, OfQuestionsSeesWhatIsAskedAndWhatIsRight) {
  Dataset dataset;
  dataset.questions = {{"1", "What?", "a", {}, "", "", ""}, {"2", "Why?", "b", {"x", "y"}, "", "", ""}};
  const std::string whole = questions_fingerprint(dataset);
  const auto differs = [&](auto change) {
    Dataset other = dataset;
    change(other.questions);
    return questions_fingerprint(other) != whole;
  };
  EXPECT_FALSE(differs([](auto&) {}));
  EXPECT_TRUE(differs([](auto& q) { q[0].text = "What"; }));
  EXPECT_TRUE(differs([](auto& q) { q[1].answer = "c"; }));
  EXPECT_TRUE(differs([](auto& q) { q[1].choices = {"y", "x"}; }));
  EXPECT_TRUE(differs([](auto& q) { std::swap(q[0], q[1]); }));
  EXPECT_TRUE(differs([](auto& q) { q.pop_back(); }));
  EXPECT_TRUE(differs([](auto& q) {  // the same bytes, cut elsewhere
    q[0].id = "1W";
    q[0].text = "hat?";
  }));
}

}  // namespace
}  // namespace dts::eval
