#include "dts/tree_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "dts/draw.h"
#include "dts/error.h"
#include "support/synthetic_tree.h"

namespace dts {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::SyntheticShape;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

// Every NaN is written as "nan": its sign and payload mean nothing.
bool same_number(float a, float b) { return same_bits(a, b) || (std::isnan(a) && std::isnan(b)); }

void expect_same_tree(const TreeDocument& a, const TreeDocument& b) {
  ASSERT_EQ(a.tree.segments().size(), b.tree.segments().size());
  for (std::size_t id = 0; id < a.tree.segments().size(); ++id) {
    const Segment& x = a.tree.segments()[id];
    const Segment& y = b.tree.segments()[id];
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.start, y.start);
    EXPECT_EQ(x.child_index, y.child_index);
    EXPECT_EQ(x.state, y.state);
    EXPECT_EQ(x.children, y.children);
    ASSERT_EQ(x.tokens.size(), y.tokens.size());
    for (std::size_t i = 0; i < x.tokens.size(); ++i) {
      EXPECT_EQ(x.tokens[i].token, y.tokens[i].token);
      EXPECT_TRUE(same_number(x.tokens[i].logprob, y.tokens[i].logprob));
      EXPECT_TRUE(same_number(x.tokens[i].entropy, y.tokens[i].entropy));
      EXPECT_TRUE(same_number(x.tokens[i].varentropy, y.tokens[i].varentropy));
      EXPECT_TRUE(same_number(x.tokens[i].confidence, y.tokens[i].confidence));
    }
    EXPECT_EQ(a.texts[id].text, b.texts[id].text);
    EXPECT_EQ(a.texts[id].ends, b.texts[id].ends);
  }
  EXPECT_TRUE(std::equal(a.tree.roots().begin(), a.tree.roots().end(), b.tree.roots().begin(), b.tree.roots().end()));
}

TEST(TreeFile, RoundTrip) {
  std::vector<SyntheticShape> shapes(6);
  shapes[1].branches = 48;
  shapes[2].k = 1;
  shapes[3].roots = 5;
  shapes[4].finishes = false;
  shapes[5].hostile = test::kHostileText;
  for (SyntheticShape shape : shapes) {
    for (shape.seed = 1; shape.seed <= 5; ++shape.seed) {
      const TreeDocument document = test::synthetic_tree(shape);
      const std::string text = to_json_text(document);
      const TreeDocument again = tree_from_json_text(text, "test");
      EXPECT_EQ(again.engine.kind, document.engine.kind);
      EXPECT_EQ(again.engine.capabilities, document.engine.capabilities);
      expect_same_tree(document, again);
      // Strings of the outside world are made valid UTF-8 on the way; written again, everything is as it was.
      EXPECT_EQ(to_json_text(again), text);
      EXPECT_EQ(again.outcome.finished.size(), document.outcome.finished.size());
      EXPECT_EQ(again.outcome.winner, document.outcome.winner);
      EXPECT_EQ(again.outcome.best_leaf, document.outcome.best_leaf);
      EXPECT_EQ(again.prompt_tokens, document.prompt_tokens);
    }
  }
}

TEST(TreeFile, KeepsEveryOption) {
  TreeDocument document = test::small_tree();
  document.options.seed = std::numeric_limits<std::uint64_t>::max();
  document.options.stat_temperature = 1.0F;
  document.options.max_total_tokens = std::int64_t{1} << 40U;
  document.options.top_k = 7;
  document.options.sampling = {0.7F, 40, 0.95F, 0.05F};
  Method& method = document.options.method;
  method.width = 3;
  method.branch.criterion = Criterion::kEither;
  method.branch.tau_v = std::numeric_limits<double>::infinity();
  method.branch.tau_h = 0.1;
  method.branch.freeze = Freeze::kPermanent;
  method.stop.finished = StopRule::kAll;
  method.select = SelectRule::kMaxLogprob;
  document.outcome.reason = StopReason::kFailed;
  document.outcome.error = "device \"lost\"";
  document.outcome.account.attended_tokens = std::int64_t{1} << 60U;
  document.flops = 1.25e18;
  document.engine.kind = "a server";
  document.engine.capabilities = {.honours_draws = false, .exact_statistics = false, .max_top_k = 20};
  document.outcome.account.undecided = 17;

  const std::string text = to_json_text(document);
  EXPECT_NE(text.find("\"tau_v\":\"inf\""), std::string::npos);
  const TreeDocument again = tree_from_json_text(text, "test");
  EXPECT_EQ(again.engine.kind, "a server");
  EXPECT_EQ(again.engine.capabilities, document.engine.capabilities);
  EXPECT_EQ(again.outcome.account.undecided, 17);
  EXPECT_EQ(again.options.seed, document.options.seed);
  EXPECT_EQ(again.options.stat_temperature, 1.0F);
  EXPECT_EQ(again.options.max_total_tokens, document.options.max_total_tokens);
  EXPECT_EQ(again.options.top_k, 7);
  EXPECT_EQ(again.options.sampling.temperature, 0.7F);
  EXPECT_EQ(again.options.sampling.top_k, 40);
  EXPECT_EQ(again.options.sampling.top_p, 0.95F);
  EXPECT_EQ(again.options.sampling.min_p, 0.05F);
  EXPECT_EQ(again.options.method.width, 3);
  EXPECT_EQ(again.options.method.branch.criterion, Criterion::kEither);
  EXPECT_TRUE(std::isinf(again.options.method.branch.tau_v));
  EXPECT_EQ(again.options.method.branch.tau_h, 0.1);
  EXPECT_EQ(again.options.method.branch.freeze, Freeze::kPermanent);
  EXPECT_EQ(again.options.method.stop.finished, StopRule::kAll);
  EXPECT_EQ(again.options.method.select, SelectRule::kMaxLogprob);
  EXPECT_EQ(again.outcome.reason, StopReason::kFailed);
  EXPECT_EQ(again.outcome.error, "device \"lost\"");
  EXPECT_EQ(again.outcome.account.attended_tokens, document.outcome.account.attended_tokens);
  EXPECT_EQ(again.flops, 1.25e18);
  EXPECT_EQ(again.times.decode, document.times.decode);
}

TEST(TreeFile, FloatsComeBackBitForBit) {
  Tree tree;
  const SegmentId root = tree.add_root();
  std::mt19937 random(3);
  std::vector<float> floats = {0.0F,
                               -0.0F,
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::lowest(),
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  while (floats.size() < 20000) floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (const float value : floats) tree.append(root, {0, value, value, value, value});
  tree.close(root, SegmentState::kCut);
  TreeDocument document = test::small_tree();
  document.outcome = {};
  document.tree = tree;
  document.texts = segment_texts(tree, [](Token) { return "x"; });
  expect_same_tree(document, tree_from_json_text(to_json_text(document), "test"));
}

// A tree of `pieces`, token i having the bytes pieces[i].
TreeDocument document_of(const Tree& tree, const std::vector<std::string>& pieces) {
  TreeDocument document = test::small_tree();
  document.outcome = {};
  document.tree = tree;
  document.texts = segment_texts(tree, [&](Token token) { return pieces[static_cast<std::size_t>(token)]; });
  return document;
}

TEST(SegmentTexts, ACharacterBelongsToTheTokenThatCompletesIt) {
  const std::vector<std::string> pieces = {"a\xf0\x9f", "\x99", "\x82z", "\xff", "\xe2\x82"};
  Tree tree;
  const SegmentId root = tree.add_root();
  for (Token token = 0; token < 5; ++token) tree.append(root, {.token = token});
  tree.close(root, SegmentState::kCut);
  const TreeDocument document = document_of(tree, pieces);
  const SegmentText& text = document.texts[0];
  EXPECT_EQ(text.piece(0), "a");
  EXPECT_EQ(text.piece(1), "");
  EXPECT_EQ(text.piece(2), "\U0001F642z");
  EXPECT_EQ(text.piece(3), "\uFFFD");
  EXPECT_EQ(text.piece(4), "\uFFFD\uFFFD");  // never completed
  expect_same_tree(document, tree_from_json_text(to_json_text(document), "test"));
}

TEST(SegmentTexts, ACharacterMaySpanADecision) {
  const std::vector<std::string> pieces = {"\xe2", "\x82\xac", "x"};
  Tree tree;
  const SegmentId root = tree.add_root();
  tree.append(root, {.token = 0});
  const SegmentId first = tree.split(root, 2);
  tree.append(first, {.token = 1});
  tree.append(first + 1, {.token = 2});
  tree.close(first, SegmentState::kCut);
  tree.close(first + 1, SegmentState::kCut);
  const TreeDocument document = document_of(tree, pieces);
  EXPECT_EQ(trajectory_text(document, first), "\u20ac");
  EXPECT_EQ(trajectory_text(document, first + 1), "\uFFFDx");
}

TEST(TreeFile, EmptyTrees) {
  TreeDocument none = test::small_tree();
  none.outcome = {};
  none.tree = {};
  none.texts = {};
  expect_same_tree(none, tree_from_json_text(to_json_text(none), "test"));

  Tree bare;
  bare.add_root();
  const TreeDocument only_root = document_of(bare, {});
  expect_same_tree(only_root, tree_from_json_text(to_json_text(only_root), "test"));
}

TEST(TreeFile, TakesFewBytesAToken) {
  SyntheticShape shape;
  shape.branches = 48;
  shape.decision_every = 40;
  shape.shortest = 900;
  shape.max_tokens = 1000;
  const TreeDocument document = test::synthetic_tree(shape);
  ASSERT_GT(document.tree.unique_tokens(), 20000U);
  EXPECT_LT(to_json_text(document).size(), 80 * document.tree.unique_tokens());
}

// Ten times the segments take about ten times as long to load; a hundred times would be quadratic.
TEST(TreeFile, LoadsInTimeThatGrowsWithItsSegments) {
  const auto text_with = [](int segments) {
    TreeDocument document = test::small_tree();
    document.outcome = {};
    document.texts.clear();
    Tree tree;
    for (int i = 0; i < segments; ++i) {
      const SegmentId root = tree.add_root();
      tree.append(root, {.token = i % 100});
      tree.close(root, SegmentState::kCut);
      document.texts.push_back({"x", {1}});
    }
    document.tree = std::move(tree);
    return to_json_text(document);
  };
  const auto clocks_of = [](const std::string& text, int rounds) {
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < rounds; ++i) {
      const std::clock_t start = std::clock();  // of this process: others on the machine do not count
      tree_from_json_text(text, "f.json");
      best = std::min(best, std::clock() - start);
    }
    return static_cast<double>(best);
  };
  EXPECT_LT(clocks_of(text_with(100'000), 1), 35 * std::max(clocks_of(text_with(10'000), 3), 1.0));
}

// A change to a good document, and what the error must say.
struct Broken {
  const char* pointer;  // JSON pointer of what is replaced
  const char* value;    // JSON; null: the member is removed
  const char* error;
};

TEST(TreeFile, SaysWhatIsWrong) {
  const std::string good = to_json_text(test::small_tree());
  const std::vector<Broken> broken = {
      {"/format", "\"other\"", "f.json: format is \"other\": this is no tree file"},
      {"/format", nullptr, "f.json: format is missing"},
      {"/version", "2", "f.json: version is 2: this program reads version 1"},
      {"/model", "7", "f.json: model is 7: it must be a string"},
      {"/prompt", "[]", "f.json: prompt is a list of 0: it must be an object"},
      {"/prompt/tokens/3", "-1", "f.json: prompt.tokens[3] is -1: it must be a whole number of at least 0"},
      {"/prompt/opens_thinking", "1", "f.json: prompt.opens_thinking is 1: it must be true or false"},
      {"/method/branch/criterion", "\"best\"", "it must be one of decision, high-entropy, either"},
      {"/method/branch/tau_v", "\"much\"", "f.json: method.branch.tau_v is \"much\": it must be a number"},
      {"/method/branch/k", "0", "f.json: method.branch.k is 0: it must be a whole number of at least 1"},
      {"/method/stop/finished", "\"some\"", "f.json: method.stop.finished is \"some\""},
      {"/seed", "-1", "f.json: seed is -1: it must be a whole number from 0 to 2^64 - 1"},
      {"/seed", "1.5", "f.json: seed is 1.5"},
      {"/sampling/temperature", "1e300", "too large for a single-precision number"},
      {"/reason", "\"bored\"", "f.json: reason is \"bored\": it must be one of running, enough-finished"},
      {"/segments", "{}", "f.json: segments is an object: it must be a list"},
      {"/segments/1/id", "5", "f.json: segments[1].id is 5: it must be 1"},
      {"/segments/1/parent", "1", "f.json: segments[1].parent is 1: it must be below 1"},
      {"/segments/0/parent", "0", "f.json: segments[0].parent is 0: there is nothing it could name"},
      {"/segments/1/start", "3", "f.json: segments: segment 1: starts at 3"},
      {"/segments/1/child", "1", "f.json: segments[1].child is 1: it must be 0"},
      {"/segments/1/state", "\"split\"", "f.json: segments: segment 1: exactly the split segments have children"},
      {"/segments/1/state", "\"tired\"", "f.json: segments[1].state is \"tired\": it must be one of live, split"},
      {"/segments/0/tokens/2", "\"x\"", "f.json: segments[0].tokens[2] is \"x\": it must be a whole number"},
      {"/segments/0/logprobs", "[1]", "f.json: segments[0].logprobs is a list of 1: it must be as long as"},
      {"/segments/0/entropy/1", "null", "f.json: segments[0].entropy[1] is null: it must be a number"},
      {"/segments/0/piece_bytes/1", "100000", "f.json: segments[0].piece_bytes[1] is 100000"},
      {"/segments/0/piece_bytes/1", "0", "f.json: segments[0].piece_bytes is a list"},
      {"/segments/0/text", "\"\"", "f.json: segments[0].piece_bytes[0] is"},
      {"/finished/0/leaf", "0", "f.json: finished[0].leaf is 0: it must be a segment without children"},
      {"/finished/0/length", "3", "f.json: finished[0].length is 3: it must be 17"},
      {"/finished/0/step", "0", "f.json: finished[0].step is 0"},
      {"/votes/0/first", "9", "f.json: votes[0].first is 9: it must be below 4"},
      {"/votes/0/votes", "5", "f.json: votes[0].votes is 5: it must be a whole number from 1 to 4"},
      {"/winner", "4", "f.json: winner is 4: it must be below 4"},
      {"/winner", "\"\\u001b[31m\"", "f.json: winner is \"\\u001b[31m\""},
      {"/best_leaf", "99", "f.json: best_leaf is 99: it must be below 12"},
      {"/account/steps", nullptr, "f.json: account.steps is missing"},
      {"/account/unique_tokens", "1000.5", "f.json: account.unique_tokens is 1000.5"},
      {"/times/decode", "[]", "f.json: times.decode is a list of 0"},
  };
  for (const Broken& change : broken) {
    json document = json::parse(good);
    const json::json_pointer pointer(change.pointer);
    ASSERT_TRUE(document.contains(pointer)) << change.pointer;
    if (change.value == nullptr) {
      document.at(pointer.parent_pointer()).erase(pointer.back());
    } else {
      document[pointer] = json::parse(change.value);
    }
    const std::string text = document.dump();
    const std::string error = error_of([&] { tree_from_json_text(text, "f.json"); });
    EXPECT_NE(error.find(change.error), std::string::npos) << change.pointer << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(TreeFile, AFinishedTraceMustEndInAFinishedSegment) {
  json document = json::parse(to_json_text(test::small_tree()));
  document["segments"][document["finished"][0]["leaf"].get<std::size_t>()]["state"] = "cut";
  EXPECT_NE(error_of([&] { tree_from_json_text(document.dump(), "f"); }).find("state is not finished"),
            std::string::npos);
}

TEST(TreeFile, ACutThroughACharacterIsRefused) {
  Tree tree;
  const SegmentId root = tree.add_root();
  tree.append(root, {.token = 0});
  tree.append(root, {.token = 0});
  json document = json::parse(to_json_text(document_of(tree, {"\u20ac"})));
  document["segments"][0]["piece_bytes"] = {1, 5};
  EXPECT_NE(error_of([&] { tree_from_json_text(document.dump(), "f"); }).find("cuts a character"), std::string::npos);
}

TEST(TreeFile, WhatIsNoJson) {
  EXPECT_EQ(error_of([] { tree_from_json_text("", "f"); }), "f: ends after 0 bytes, before its JSON does");
  EXPECT_EQ(error_of([] { tree_from_json_text("no", "f"); }), "f: not valid JSON at byte 2");
  EXPECT_EQ(error_of([] { tree_from_json_text("{\"format\": \"\xff\"}", "f"); }), "f: not valid JSON at byte 13");
  EXPECT_EQ(error_of([] { tree_from_json_text("[]", "f"); }), "f: the document is a list of 0: it must be an object");
  EXPECT_NE(error_of([] { tree_from_json_text("{\"format\": 1e999}", "f"); }).find("f: not valid JSON"),
            std::string::npos);
  const std::string deep(10U << 20U, '[');
  EXPECT_EQ(error_of([&] { tree_from_json_text(deep, "f"); }), "f: no tree file: its values are nested deeper than 16");
}

// Whatever is accepted must be drawable: a document that was read needs no further checks.
void draw_everything(const TreeDocument& document) {
  EXPECT_FALSE(draw_text(document).empty());
  EXPECT_FALSE(draw_dot(document).empty());
  EXPECT_FALSE(draw_svg(document).empty());
  EXPECT_FALSE(draw_html(document).empty());
  EXPECT_FALSE(to_json_text(document).empty());
}

TEST(TreeFileFuzz, BytesOfAGoodDocument) {
  const std::string good = to_json_text(test::small_tree());
  const std::string alphabet = "{}[]\",:0123456789-+.eE\\ tfn\x01\x7f\xff\xc3";
  std::mt19937_64 random(17);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    const std::size_t changes = 1 + random() % 4;
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 32));
          break;
        default:
          text.resize(random() % 8 == 0 ? at + 1 : text.size());
      }
    }
    try {
      const TreeDocument document = tree_from_json_text(text, "f");
      ++accepted;
      if (accepted % 16 == 0) draw_everything(document);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);  // else the mutations were too coarse to test more than the JSON parser
}

// Values, rather than bytes: most of these get past the JSON parser.
TEST(TreeFileFuzz, ValuesOfAGoodDocument) {
  const json good = json::parse(to_json_text(test::small_tree()));
  std::vector<json::json_pointer> places;
  const json flat = good.flatten();
  for (const auto& [path, value] : flat.items()) {
    json::json_pointer pointer(path);
    while (!pointer.empty()) {
      places.push_back(pointer);
      pointer.pop_back();
    }
  }
  const std::vector<json> values = {nullptr,
                                    true,
                                    0,
                                    1,
                                    -1,
                                    3,
                                    2147483647,
                                    2147483648LL,
                                    1e308,
                                    0.5,
                                    "",
                                    "inf",
                                    "nan",
                                    "all",
                                    "split",
                                    "cut",
                                    "finished",
                                    "live",
                                    json::array(),
                                    json::object(),
                                    json::array({1, 2}),
                                    std::numeric_limits<std::uint64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
  std::mt19937_64 random(19);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    json document = good;
    document[places[random() % places.size()]] = values[random() % values.size()];
    const std::string text = document.dump();
    try {
      draw_everything(tree_from_json_text(text, "f"));
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

class TreeFileOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "dts-tree-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  static std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  fs::path directory_;
};

TEST_F(TreeFileOnDisk, SavesAndLoads) {
  const TreeDocument document = test::small_tree();
  save_tree(path("tree.json"), document);
  EXPECT_EQ(files(), 1U);
  expect_same_tree(document, load_tree(path("tree.json")));
}

TEST_F(TreeFileOnDisk, ReplacesAFileAndKeepsItsMode) {
  std::ofstream(path("tree.json")) << "old";
  fs::permissions(path("tree.json"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  save_tree(path("tree.json"), test::small_tree());
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(fs::status(path("tree.json")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  EXPECT_EQ(load_tree(path("tree.json")).model, test::small_tree().model);
}

TEST_F(TreeFileOnDisk, ReplacesWhatALinkPointsTo) {
  std::ofstream(path("real.json")) << "old";
  fs::create_symlink("real.json", path("link.json"));
  save_tree(path("link.json"), test::small_tree());
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(load_tree(path("real.json")).model, test::small_tree().model);
}

TEST_F(TreeFileOnDisk, NamesTheFileItCannotWrite) {
  const TreeDocument document = test::small_tree();
  EXPECT_EQ(error_of([&] { save_tree(directory_.string(), document); }),
            directory_.string() + ": cannot write: Is a directory");
  EXPECT_EQ(error_of([&] { save_tree(path("no/tree.json"), document); }),
            path("no/tree.json") + ": cannot write: No such file or directory");
  EXPECT_EQ(error_of([&] { save_tree("/dev/full", document); }), "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(TreeFileOnDisk, NamesTheFileItCannotRead) {
  EXPECT_EQ(error_of([&] { load_tree(path("tree.json")); }),
            path("tree.json") + ": cannot read: No such file or directory");
  EXPECT_EQ(error_of([&] { load_tree(directory_.string()); }), directory_.string() + ": cannot read: Is a directory");
  std::ofstream(path("empty.json")) << "";
  EXPECT_EQ(error_of([&] { load_tree(path("empty.json")); }),
            path("empty.json") + ": ends after 0 bytes, before its JSON does");
}

// A limit on the size of files fails writes half-way, as a full disk does.
TEST_F(TreeFileOnDisk, AFailedSaveLeavesWhatWasThere) {
  std::ofstream(path("tree.json")) << "old";
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string error = error_of([&] { save_tree(path("tree.json"), test::small_tree()); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(error, path("tree.json") + ": cannot write: File too large");
  EXPECT_EQ(contents(path("tree.json")), "old");
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace dts
