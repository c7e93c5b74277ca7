// A run from its first event to its last, on random trees with awkward text: what is streamed is what comes out, and
// the events tell the whole tree.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "serve/api/choice_reader.h"
#include "serve/runs/run.h"
#include "serve/runs/run_store.h"
#include "support/scripted_engine.h"
#include "support/serve_support.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using nlohmann::json;

struct Event {
  EventId id = 0;
  std::string type;
  std::string data;  // JSON
};

std::vector<Event> parse_events(const std::string& text) {
  std::vector<Event> events;
  std::istringstream lines(text);
  Event event;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("id: ")) event.id = std::stoull(line.substr(4));
    if (line.starts_with("event: ")) event.type = line.substr(7);
    if (line.starts_with("data: ")) event.data = line.substr(6);
    if (line.empty()) events.push_back(std::exchange(event, {}));
  }
  return events;
}

// The tree as a client builds it from the events.
struct Told {
  struct Segment {
    int parent = -1;
    int child = 0;
    std::vector<std::string> pieces;
    std::string state = "live";
  };
  std::map<int, Segment> segments;
  int finished = 0;
  std::string done;  // JSON
};

Told replay(const std::vector<Event>& events) {
  Told told;
  EventId expected = 1;
  for (const Event& event : events) {
    EXPECT_EQ(event.id, expected++);
    const json data = json::parse(event.data);
    if (event.type == "root") told.segments[data["segment"]].child = data["child"];
    if (event.type == "grow") {
      for (const json& part : data["segments"]) {
        Told::Segment& segment = told.segments.at(part["segment"]);
        EXPECT_EQ(segment.state, "live");
        EXPECT_EQ(part["text"].size(), part["entropy"].size());
        EXPECT_EQ(part["text"].size(), part["varentropy"].size());
        EXPECT_EQ(part["text"].size(), part["logprob"].size());
        for (const json& piece : part["text"]) segment.pieces.push_back(piece);
      }
    }
    if (event.type == "split") {
      told.segments.at(data["segment"]).state = "split";
      for (const json& child : data["children"]) {
        told.segments[child["segment"]] = {data["segment"], child["child"], {child["text"]}, "live"};
      }
    }
    if (event.type == "end") {
      Told::Segment& segment = told.segments.at(data["segment"]);
      segment.state = data["state"];
      if (data.contains("text")) segment.pieces.back() += data["text"].get<std::string>();
      told.finished += segment.state == "finished" ? 1 : 0;
    }
    if (event.type == "done") told.done = event.data;
  }
  return told;
}

void expect_told(const Told& told, const TreeDocument& document) {
  ASSERT_EQ(told.segments.size(), document.tree.segments().size());
  const std::map<SegmentState, std::string> states = {{SegmentState::kSplit, "split"},
                                                      {SegmentState::kFinished, "finished"},
                                                      {SegmentState::kExhausted, "exhausted"},
                                                      {SegmentState::kRetired, "retired"},
                                                      {SegmentState::kCut, "cut"}};
  for (const auto& [id, segment] : told.segments) {
    const Segment& real = document.tree.segment(id);
    EXPECT_EQ(segment.parent, real.parent);
    EXPECT_EQ(segment.child, real.child_index);
    EXPECT_EQ(segment.state, states.at(real.state)) << "segment " << id;
    const SegmentText& text = document.texts[static_cast<std::size_t>(id)];
    ASSERT_EQ(segment.pieces.size(), real.tokens.size()) << "segment " << id;
    for (std::size_t i = 0; i < segment.pieces.size(); ++i) EXPECT_EQ(segment.pieces[i], text.piece(i));
  }
  EXPECT_EQ(told.finished, static_cast<int>(document.outcome.finished.size()));
  const json done = json::parse(told.done);
  EXPECT_EQ(done["best_leaf"].is_null(), document.outcome.best_leaf == kNoSegment);
  EXPECT_EQ(done["account"]["unique_tokens"], document.outcome.account.unique_tokens);
}

// In a test's body Run is a member of GoogleTest's: hence serve::Run.
struct Bench {
  PieceVocabulary vocabulary{awkward_pieces()};

  RunOptions random_options(std::mt19937_64& random) const {
    RunOptions options;
    options.title = {"tree-1", 1, "model", "question"};
    options.prompt = vocabulary.chat(std::vector<ChatMessage>{{"user", "hi"}});
    options.prompt.opens_thinking = random() % 3 == 0;
    MethodOptions numbers;
    numbers.votes = 1 + static_cast<int>(random() % 5);
    numbers.samples = 6;
    numbers.branch.max_branches = 1 + static_cast<int>(random() % 8);
    numbers.branch.tau_v = 0.4;
    options.search.method = make_method(methods()[random() % methods().size()].name, numbers);
    options.search.seed = random();
    options.search.sampling.temperature = 1.0F;
    options.search.max_tokens = 2 + static_cast<int>(random() % 40);
    options.text.opens_thinking = options.prompt.opens_thinking;
    options.text.split_thinking = random() % 4 != 0;
    if (random() % 2 == 0) options.text.stop = {"STOP", "b<", "\xC3\xA9"};
    options.top_logprobs = random() % 2 == 0 ? 3 : 0;
    options.search.top_k = options.top_logprobs;
    return options;
  }

  ScriptedEngine engine(std::uint64_t seed) const {
    ScriptedEngineOptions sized;
    sized.n_vocab = vocabulary.size();
    return {sized, RandomScript{seed, vocabulary.size(), vocabulary.end(), 1.5}};
  }
};

// The definition, over the text of the whole trajectory.
std::string text_of(const Run& run, const PieceVocabulary& vocabulary) {
  const TreeDocument& document = *run.document();
  std::string text;
  if (document.outcome.best_leaf == kNoSegment) return text;
  for (const Token token : document.tree.tokens_of(document.outcome.best_leaf)) text += shown_piece(vocabulary, token);
  return text;
}

TEST(Run, StreamsThePartsOfTheFinalTextAndTellsTheWholeTree) {
  const Bench bench;
  std::mt19937_64 random(3);
  int stopped = 0;
  int early = 0;
  for (int round = 0; round < 300; ++round) {
    ScriptedEngine scripted = bench.engine(random() % 9);
    const RunOptions options = bench.random_options(random);
    auto run = std::make_shared<serve::Run>(options, bench.vocabulary, scripted.info());
    Scheduler scheduler(scripted);
    const JobId id = scheduler.submit(run->job());
    ChoiceReader reader(run, true);
    std::string reasoning, content;
    std::vector<ShownToken> tokens;
    const auto read = [&] {
      ChoiceReader::Delta delta = reader.read();
      ASSERT_EQ(delta.content, text::valid_utf8(delta.content));
      ASSERT_EQ(delta.text_offset, count_characters(content));
      reasoning += delta.reasoning;
      content += delta.content;
      tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    };
    const int cancel_at = round % 9 == 0 ? static_cast<int>(random() % 12) : -1;
    for (int step = 0; scheduler.step(); ++step) {
      if (step == cancel_at) scheduler.cancel(id);
      if (random() % 2 == 0) read();
      early += run->document() == nullptr && !content.empty() ? 1 : 0;
    }
    read();
    const auto document = run->document();
    ASSERT_NE(document, nullptr);

    ReplyText whole(options.text);
    whole.feed(text_of(*run, bench.vocabulary));
    whole.finish();
    EXPECT_EQ(reasoning, whole.take_reasoning());
    EXPECT_EQ(content, whole.take_content());
    // A trajectory ends with its first stop string.
    for (const FinishedTrace& trace : document->outcome.finished) {
      const std::vector<Token> path = document->tree.tokens_of(trace.leaf);
      ReplyText reading(options.text);
      for (std::size_t i = 0; i < path.size(); ++i) {
        reading.feed(shown_piece(bench.vocabulary, path[i]));
        EXPECT_EQ(reading.stopped() && i + 1 < path.size(), false);
      }
      EXPECT_TRUE(reading.stopped() || bench.vocabulary.is_end(path.back()));
      stopped += reading.stopped() ? 1 : 0;
    }
    // The tokens are those of the content: together they have all its bytes.
    std::string bytes;
    for (const ShownToken& token : tokens) {
      bytes += token.piece;
      EXPECT_EQ(token.top.size(), static_cast<std::size_t>(options.top_logprobs));
    }
    EXPECT_EQ(reader.content_tokens(), static_cast<std::int64_t>(tokens.size()));
    EXPECT_NE(text::valid_utf8(bytes).find(content), std::string::npos) << content << " in " << bytes;

    const EventLog::Page page = run->events().read(0, std::size_t{1} << 30U);
    EXPECT_TRUE(page.end);
    expect_told(replay(parse_events(page.text)), *document);
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(stopped, 50);
  EXPECT_GT(early, 50);
}

TEST(Run, TheMostProbableAlternativeIsWhatSamplingAtZeroTakes) {
  const Bench bench;
  ScriptedEngine scripted = bench.engine(4);
  std::mt19937_64 random(1);
  RunOptions options = bench.random_options(random);
  options.search.method = make_method("standard");
  options.search.sampling.temperature = 0;
  options.text = {false, false, {}};
  options.search.top_k = options.top_logprobs = 2;
  auto run = std::make_shared<serve::Run>(options, bench.vocabulary, scripted.info());
  Scheduler scheduler(scripted);
  scheduler.submit(run->job());
  scheduler.run();
  std::vector<ShownToken> tokens;
  EXPECT_TRUE(run->shown_tokens(0, tokens));
  ASSERT_FALSE(tokens.empty());
  for (const ShownToken& token : tokens) {
    ASSERT_EQ(token.top.size(), 2U);
    EXPECT_FLOAT_EQ(token.top.front().logprob, token.logprob);
    EXPECT_LE(token.top[1].logprob, token.logprob);
  }
}

TEST(Run, WhatNobodyWaitsForIsNotKept) {
  const Bench bench;
  ScriptedEngine scripted = bench.engine(4);
  std::mt19937_64 random(1);
  RunOptions options = bench.random_options(random);
  options.search.method = make_method("standard");
  options.search.max_tokens = 20;
  auto run = std::make_shared<serve::Run>(options, bench.vocabulary, scripted.info());
  Scheduler scheduler(scripted);
  scheduler.submit(run->job());
  std::vector<ShownToken> tokens;
  while (tokens.empty() && scheduler.step()) run->shown_tokens(0, tokens);
  EXPECT_FALSE(tokens.empty());
  EXPECT_EQ(run->document(), nullptr);
  run->forget_shown_tokens();
  scheduler.run();
  tokens.clear();
  EXPECT_TRUE(run->shown_tokens(0, tokens));
  EXPECT_TRUE(tokens.empty());
}

TEST(Run, WhoReadsTheSameStepReadsTheSameTree) {
  const Bench bench;
  ScriptedEngine scripted = bench.engine(4);
  std::mt19937_64 random(1);
  auto run = std::make_shared<serve::Run>(bench.random_options(random), bench.vocabulary, scripted.info());
  Scheduler scheduler(scripted);
  scheduler.submit(run->job());
  for (int i = 0; i < 3; ++i) scheduler.step();
  ASSERT_EQ(run->document(), nullptr);
  const auto one = run->snapshot();
  EXPECT_EQ(one, run->snapshot());
  scheduler.step();
  EXPECT_NE(one, run->snapshot());
}

TEST(EventLog, PagesAreWholeEventsAndResumeAnywhere) {
  EventLog log;
  for (int i = 1; i <= 50; ++i) log.append("grow", "{\"n\":" + std::to_string(i) + "}");
  const std::string all = log.read(0, 1U << 20U).text;
  EXPECT_EQ(parse_events(all).size(), 50U);
  for (EventId after : {0U, 1U, 17U, 49U, 50U}) {
    std::string text;
    EventId at = after;
    while (true) {
      const EventLog::Page page = log.read(at, 100);
      EXPECT_FALSE(page.end);
      if (page.text.empty()) break;
      EXPECT_LE(page.text.size(), 100U);
      text += page.text;
      at = page.last;
    }
    EXPECT_EQ(text, all.substr(all.size() - text.size()));
    EXPECT_EQ(parse_events(text).size(), 50 - after);
  }
  // An event longer than a page comes alone; an id beyond the last is taken for the last.
  log.append("grow", "\"" + std::string(500, '1') + "\"");
  EXPECT_EQ(parse_events(log.read(50, 100).text).size(), 1U);
  EXPECT_EQ(log.read(1000, 100).last, 51U);
  log.close();
  EXPECT_TRUE(log.read(1000, 100).end);
  EXPECT_FALSE(log.read(3, 100).end);
}

TEST(Run, TheStoreKeepsTheLatestWithinItsBounds) {
  const Bench bench;
  ScriptedEngine scripted = bench.engine(1);
  RunStore store(3, std::size_t{1} << 30U);
  std::mt19937_64 random(1);
  std::vector<std::shared_ptr<serve::Run>> runs;
  for (int i = 0; i < 5; ++i) {
    RunOptions options = bench.random_options(random);
    options.title.id = "tree-" + std::to_string(i);
    runs.push_back(std::make_shared<serve::Run>(options, bench.vocabulary, scripted.info()));
    store.add(runs.back());
  }
  EXPECT_EQ(store.newest_first().size(), 5U);  // what runs is always there
  Scheduler scheduler(scripted);
  for (const auto& run : runs) scheduler.submit(run->job());
  scheduler.run();
  for (const auto& run : runs) store.retire(run);
  EXPECT_EQ(store.newest_first().size(), 3U);
  EXPECT_EQ(store.newest_first().front()->title().id, "tree-4");
  EXPECT_EQ(store.find("tree-1"), nullptr);
  EXPECT_NE(store.find("tree-2"), nullptr);
  EXPECT_EQ(store.kept_bytes(), runs[2]->bytes() + runs[3]->bytes() + runs[4]->bytes());

  RunStore small(100, runs[3]->bytes() + runs[4]->bytes());
  for (const auto& run : runs) small.add(run);
  for (const auto& run : runs) small.retire(run);
  EXPECT_LE(small.kept_bytes(), runs[3]->bytes() + runs[4]->bytes());
  EXPECT_EQ(small.newest_first().size(), 2U);
}

}  // namespace
}  // namespace dts::serve
