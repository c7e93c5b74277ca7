// Each protocol's reader on what servers send, and on what they should not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "dts/error.h"
#include "engine/remote/answer_text.h"
#include "engine/remote/event_lines.h"
#include "engine/remote/logprobs_scale.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {
namespace {

struct Pieces final : PieceSink {
  void learn(Token token, std::string_view bytes) override { pieces[token] = bytes; }
  void learn_end(Token token) override { ends.push_back(token); }
  Token token_of(std::string_view bytes) override {
    for (const auto& [token, text] : pieces) {
      if (text == bytes) return token;
    }
    const auto token = static_cast<Token>(1000 + pieces.size());
    pieces[token] = bytes;
    return token;
  }
  std::vector<Token> words_of(std::string_view text) override { return {token_of(text)}; }
  std::string text_of(Token token) override { return pieces[token]; }
  Token end_token() override { return 77; }
  std::map<Token, std::string> pieces;
  std::vector<Token> ends;
};

struct Reading {
  std::vector<DrawnToken> tokens;
  AnswerReader::End end = AnswerReader::End::kNone;
  int missing = 0;
};

Reading read_all(const Protocol& protocol, int top_n, const std::vector<std::string>& events, Pieces& pieces) {
  const auto reader = protocol.reader({.max_tokens = 10, .top_n = top_n}, pieces);
  Reading reading;
  for (const std::string& event : events) reader->read(event, reading.tokens);
  reading.end = reader->end();
  reading.missing = reader->missing();
  return reading;
}

const auto kVllm = make_vllm_protocol("m");
const auto kSglang = make_sglang_protocol("m");
const auto kLlama = make_llama_server_protocol("");
const auto kOpenai = make_openai_protocol("m");

// A line may have 64 MiB: what is built of it must not be many times that.
TEST(RemoteProtocol, JsonThatNestsWithoutEndIsRefused) {
  Pieces pieces;
  for (const char* open : {"[", "{\"a\":", "[[],"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += open;
    EXPECT_THROW(read_all(*kVllm, 2, {deep}, pieces), Error);
    EXPECT_THROW(read_all(*kLlama, 2, {R"({"stop":false,"tokens":)" + deep}, pieces), Error);
    EXPECT_EQ(complaint_of(500, deep).find('\n'), std::string::npos);
  }
}

TEST(RemoteProtocol, WordsOfStrangersAreShownOnOneLine) {
  EXPECT_EQ(shown("a\x1b[31m\nb"), "a\u241b[31m b");
  EXPECT_LT(shown(std::string(1 << 20, 'x')).size(), 310U);
  const std::vector<std::string> headers = {"Authorization: Bearer sk-1"};
  EXPECT_EQ(without_secrets("no sk-1, no Bearer sk-1", headers), "no [key], no Bearer [key]");
  EXPECT_EQ(without_secrets("nothing", {}), "nothing");
  const std::vector<std::string> short_key = {"Authorization: Bearer key"};
  EXPECT_EQ(without_secrets("no key, no keys", short_key), "no [key], no [key]s") << "and it ends";
  EXPECT_EQ(without_secrets("bad: sk-1...", std::vector<std::string>{"Authorization: Bearer sk-1234"}), "bad: [key]...")
      << "what is left of a key where a text was cut";
}

TEST(RemoteProtocol, VllmReadsChunksAsPublished) {
  Pieces pieces;
  const Reading reading = read_all(
      *kVllm, 2,
      {R"({"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" a","logprobs":{"text_offset":[0],"token_logprobs":[-0.1],"tokens":["token_id:5"],"top_logprobs":[{"token_id:5":-0.1,"token_id:9":-3.0}]},"finish_reason":null,"stop_reason":null,"prompt_token_ids":[1,2],"token_ids":[5]}],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1}})",
       // Two tokens at once; the second was not among the two most probable, so there are three.
       R"({"choices":[{"index":0,"text":"","logprobs":{"text_offset":[0,0],"token_logprobs":[-0.5,-4.0],"tokens":["token_id:6","token_id:2"],"top_logprobs":[{"token_id:7":-1.5,"token_id:6":-0.5},{"token_id:2":-4.0,"token_id:8":-0.3,"token_id:1":-2.0}]},"finish_reason":"stop","stop_reason":null,"token_ids":[6,2]}],"usage":{"completion_tokens":3}})",
       R"({"id":"cmpl-1","choices":[],"usage":{"prompt_tokens":2,"total_tokens":5,"completion_tokens":3}})", "[DONE]"},
      pieces);
  ASSERT_EQ(reading.tokens.size(), 3U);
  EXPECT_EQ(reading.tokens[0].token, 5);
  EXPECT_EQ(reading.tokens[1].top.front(), (Candidate{6, -0.5F}));
  EXPECT_EQ(reading.tokens[2].token, 2);
  EXPECT_FLOAT_EQ(reading.tokens[2].logprob, -4.0F);
  EXPECT_EQ(reading.tokens[2].top, (std::vector<Candidate>{{8, -0.3F}, {1, -2.0F}}));
  EXPECT_EQ(reading.end, AnswerReader::End::kStopped);
  EXPECT_EQ(pieces.ends, std::vector<Token>{2});
}

// What a reader makes of one event, or that it will not have it.
std::string made_of(const Protocol& protocol, int top_n, const std::string& event) {
  Pieces pieces;
  try {
    const Reading reading = read_all(protocol, top_n, {event}, pieces);
    std::string made = fmt::format("end {} missing {}:", static_cast<int>(reading.end), reading.missing);
    for (const DrawnToken& drawn : reading.tokens) {
      made += fmt::format(" {}/{:a}", drawn.token, drawn.logprob);
      for (const Candidate& candidate : drawn.top) made += fmt::format(",{}={:a}", candidate.token, candidate.logprob);
    }
    for (const auto& [token, bytes] : pieces.pieces) made += fmt::format(" {}:{}", token, bytes);
    return made;
  } catch (const Error&) {
    return "refused";
  }
}

// Events are read without building them where they are as usual. A member that is an object makes an event unusual, and
// it is parsed in full: both must come to the same, whatever is in it.
TEST(RemoteProtocol, EventsReadQuicklyAreReadAsThoseParsed) {
  const std::vector<std::tuple<const Protocol*, int, std::string>> usual = {
      {kLlama.get(), 0,
       R"({"index":0,"content":" 9\"4\u00e9","tokens":[355],"stop":false,"id_slot":-1,"tokens_predicted":1,"tokens_evaluated":3})"},
      {kLlama.get(), 2,
       R"({"index":0,"content":" 94","tokens":[355],"stop":false,"id_slot":-1,"tokens_predicted":1,"completion_probabilities":[{"id":355,"token":" 94","bytes":[32,57,52],"logprob":-0.76,"top_logprobs":[{"id":355,"token":" 94","bytes":[32,57,52],"logprob":-0.7634850740432739},{"id":357,"token":" 96","bytes":[32,57,54],"logprob":-1.435360074043274e0}]}]})"},
      {kVllm.get(), 0,
       R"({"id":"c","created":1,"choices":[{"index":0,"text":" a","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":[1,2],"token_ids":[5,6]}],"usage":{"prompt_tokens":2,"completion_tokens":2}})"},
  };
  std::mt19937_64 random(3);
  int refused = 0;
  int taken = 0;
  for (const auto& [protocol, top_n, event] : usual) {
    for (int i = 0; i < 4000; ++i) {
      std::string text = event;
      for (int change = 0; change < i % 4; ++change) {
        const std::size_t at = 1 + random() % (text.size() - 1);
        switch (random() % 4) {
          case 0:
            text.erase(at, 1 + random() % 3);
            break;
          case 1:
            text.insert(at, 1, R"(0123456789-.e{}[],:"\ nft)"[random() % 25]);
            break;
          case 2:
            text[at] = R"(0123456789-.e{}[],:"\ nft)"[random() % 25];
            break;
          default:
            text.insert(at, text.substr(random() % text.size(), 12));
        }
      }
      if (text.size() < 3) continue;
      const std::string quick = made_of(*protocol, top_n, text);
      ASSERT_EQ(quick, made_of(*protocol, top_n, R"({"unusual":{},)" + text.substr(1))) << text;
      ++(quick == "refused" ? refused : taken);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 3000);
}

TEST(RemoteProtocol, VllmAsksForWhatItNeedsAndNothingMore) {
  Pieces pieces;
  const std::vector<Token> prefix = {1, 2, 3};
  GenerationRequest request{.prefix = prefix, .sampling = {}, .max_tokens = 9, .top_n = 20, .seed = 4};
  const ServerCall with = kVllm->generate(request, pieces);
  EXPECT_EQ(with.path, "/v1/completions");
  EXPECT_EQ(with.body["prompt"].get<std::vector<Token>>(), prefix);
  EXPECT_EQ(with.body["logprobs"], 20);
  EXPECT_EQ(with.body["top_k"], -1) << "the model's generation_config must not decide";
  EXPECT_FALSE(with.body.contains("prompt_logprobs"));
  request.top_n = 0;
  EXPECT_FALSE(kVllm->generate(request, pieces).body.contains("logprobs"));
  EXPECT_FALSE(kSglang->generate(request, pieces).body.contains("return_logprob"));
  EXPECT_FALSE(kLlama->generate(request, pieces).body.contains("n_probs"));
}

TEST(RemoteProtocol, SglangReadsWholeListsAndNewOnes) {
  for (const bool incremental : {false, true}) {
    Pieces pieces;
    const std::string second =
        incremental
            ? R"({"text":"b","output_ids":[6],"meta_info":{"id":"r","finish_reason":null,"completion_tokens":2,"output_token_logprobs":[[-0.5,6,null]],"output_top_logprobs":[[[-0.5,6,null],[-1.5,7,null]]]}})"
            : R"({"text":"ab","output_ids":[5,6],"meta_info":{"id":"r","finish_reason":null,"completion_tokens":2,"output_token_logprobs":[[-0.1,5,null],[-0.5,6,null]],"output_top_logprobs":[[[-0.1,5,null],[-3.0,9,null]],[[-0.5,6,null],[-1.5,7,null]]]}})";
    const Reading reading = read_all(
        *kSglang, 2,
        {R"({"text":"a","output_ids":[5],"meta_info":{"id":"r","finish_reason":null,"completion_tokens":1,"output_token_logprobs":[[-0.1,5,null]],"output_top_logprobs":[[[-0.1,5,null],[-3.0,9,null]]]}})",
         second, second,  // a repeated chunk
         // The stop token is matched but not among the ids.
         incremental
             ? R"({"text":"","output_ids":[],"meta_info":{"finish_reason":{"type":"stop","matched":2},"completion_tokens":3,"output_token_logprobs":[[-0.2,2,null]],"output_top_logprobs":[[[-0.2,2,null],[-2.0,1,null]]]}})"
             : R"({"text":"","output_ids":[5,6],"meta_info":{"finish_reason":{"type":"stop","matched":2},"completion_tokens":3,"output_token_logprobs":[[-0.1,5,null],[-0.5,6,null],[-0.2,2,null]],"output_top_logprobs":[[[-0.1,5,null]],[[-0.5,6,null]],[[-0.2,2,null],[-2.0,1,null]]]}})"},
        pieces);
    ASSERT_EQ(reading.tokens.size(), 3U) << incremental;
    EXPECT_EQ(reading.tokens[1].token, 6);
    EXPECT_EQ(reading.tokens[2].token, 2);
    EXPECT_EQ(reading.end, AnswerReader::End::kStopped);
    EXPECT_EQ(pieces.ends, std::vector<Token>{2});
  }
}

TEST(RemoteProtocol, LlamaServerReadsEventsAndNoticesTokensInsideACharacter) {
  Pieces pieces;
  const std::string first =
      R"({"index":0,"content":"a","tokens":[5],"stop":false,"id_slot":0,"tokens_predicted":1,"tokens_evaluated":3,"completion_probabilities":[{"id":5,"token":"a","bytes":[97],"logprob":-0.1,"top_logprobs":[{"id":5,"token":"a","bytes":[97],"logprob":-0.1},{"id":9,"token":"","bytes":[226,130],"logprob":-3.0}]}]})";
  Reading reading = read_all(*kLlama, 2, {first, first}, pieces);
  ASSERT_EQ(reading.tokens.size(), 1U) << "a repeated event is passed over";
  EXPECT_EQ(pieces.pieces[9], "\xE2\x82") << "bytes, also when they are no text";
  reading = read_all(*kLlama, 0, {R"({"content":"\u20ac","tokens":[8],"stop":false,"tokens_predicted":3})"}, pieces);
  EXPECT_EQ(reading.missing, 2);
  EXPECT_TRUE(reading.tokens.empty());
}

TEST(RemoteProtocol, OpenaiNamesTokensByText) {
  Pieces pieces;
  const Reading reading = read_all(
      *kOpenai, 2,
      {R"({"choices":[{"text":"Hi","index":0,"logprobs":{"tokens":["Hi"],"token_logprobs":[-0.2],"top_logprobs":[{"Hi":-0.2,"bytes:\\xe2\\x82":-2.0}],"text_offset":[0]},"finish_reason":null}]})",
       R"({"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]})"},
      pieces);
  ASSERT_EQ(reading.tokens.size(), 2U);
  EXPECT_EQ(pieces.text_of(reading.tokens[0].token), "Hi");
  EXPECT_EQ(pieces.text_of(reading.tokens[0].top[1].token), "\xE2\x82");
  EXPECT_EQ(reading.tokens[1].token, 77);
  EXPECT_EQ(reading.end, AnswerReader::End::kStopped);
}

// Which of the two a server gives does not hang on what it drew, on how many candidates it tells or on its digits.
TEST(LogprobsScale, IsFoundWhateverTheDistribution) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(1e-9, 1.0);
  int found = 0;
  for (int i = 0; i < 4000; ++i) {
    const int n_vocab = 20 + static_cast<int>(500 * unit(random));
    std::vector<double> logits;
    const double sharp = 0.02 + 6 * unit(random);
    for (int k = 0; k < n_vocab; ++k) logits.push_back(-sharp * std::log(unit(random)));
    const std::size_t seen = 2 + random() % 19;
    const auto candidates = [&](double temperature, double noise) {
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit / temperature);
      std::vector<Candidate> all;
      for (int k = 0; k < n_vocab; ++k) {
        const double logprob = logits[static_cast<std::size_t>(k)] / temperature - std::log(sum) + noise * unit(random);
        all.push_back({k, static_cast<float>(std::round(logprob * 1e4) / 1e4)});
      }
      std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.logprob > b.logprob; });
      all.resize(seen);
      return all;
    };
    const auto at_one = candidates(1, 0.001);
    const FoundScale before = compare_scales(at_one, candidates(1, 0.001));
    const FoundScale after = compare_scales(at_one, candidates(0.5, 0.001));
    ASSERT_NE(before, FoundScale::kAfter) << i;
    ASSERT_NE(after, FoundScale::kBefore) << i;
    found += before != FoundScale::kUnclear && after != FoundScale::kUnclear ? 1 : 0;
  }
  EXPECT_GT(found, 3000);
  const std::vector<Candidate> alike = {{1, -1.0F}, {2, -1.0F}};
  EXPECT_EQ(compare_scales(alike, alike), FoundScale::kUnclear);
}

TEST(RemoteProtocol, SglangIsNotAskedForFiltersWhoseOrderIsItsOwn) {
  Pieces pieces;
  const std::vector<Token> prefix = {1};
  GenerationRequest request{.prefix = prefix, .sampling = {.top_k = 20, .min_p = 0.1F}, .max_tokens = 9};
  EXPECT_THROW(kSglang->generate(request, pieces), CannotServe);
  EXPECT_NO_THROW(kVllm->generate(request, pieces));
  request.sampling.top_k = 0;
  EXPECT_NO_THROW(kSglang->generate(request, pieces));
}

// A server that does not say how probable what it drew was: no more than the last that it tells of.
TEST(RemoteProtocol, OpenaiKnowsWhatItWasNotTold) {
  Pieces pieces;
  const Reading reading = read_all(
      *kOpenai, 2,
      {R"({"choices":[{"text":"Hi","logprobs":{"tokens":["Hi","x"],"token_logprobs":[null,null],"top_logprobs":[{"Hi":-0.2,"a":-2.0},{"b":-0.2,"a":-2.0}]},"finish_reason":null}]})"},
      pieces);
  ASSERT_EQ(reading.tokens.size(), 2U);
  EXPECT_FLOAT_EQ(reading.tokens[0].logprob, -0.2F);
  EXPECT_FLOAT_EQ(reading.tokens[1].logprob, -2.0F);
  EXPECT_THROW(
      read_all(
          *kOpenai, 2,
          {R"({"choices":[{"text":"Hi","logprobs":{"tokens":["Hi"],"token_logprobs":[-1],"top_logprobs":null}}]})"},
          pieces),
      NoLogprobs);
}

TEST(RemoteProtocol, LiesAreRefused) {
  Pieces pieces;
  const auto refused = [&](const Protocol& protocol, const std::string& event, const std::string& why) {
    try {
      read_all(protocol, 2, {event}, pieces);
      ADD_FAILURE() << "was taken: " << event;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  const auto vllm = [](const std::string& top, const std::string& token = "5", const std::string& usage = "1") {
    return R"({"choices":[{"index":0,"text":"","logprobs":{"token_logprobs":[-0.1],"tokens":["x"],"top_logprobs":[)" +
           top + R"(]},"finish_reason":null,"token_ids":[)" + token + R"(]}],"usage":{"completion_tokens":)" + usage +
           "}}";
  };
  refused(*kVllm, "nonsense", "not JSON");
  refused(*kVllm, "[1]", "not a JSON object");
  refused(*kVllm, R"({"error":{"message":"engine\nis dead","type":"x","code":500}})", "HTTP 500: engine");
  refused(*kVllm, vllm(R"({"token_id:5":NaN})"), "not JSON");
  refused(*kVllm, vllm(R"({"token_id:5":"x"})"), "not a number");
  refused(*kVllm, vllm(R"({"token_id:5":3.0})"), "at most 0");
  refused(*kVllm, vllm(R"({"token_id:5":-0.1,"token_id:6":-0.1})"), "add up to");
  refused(*kVllm, vllm(R"({" five":-0.1})"), "not named by its id");
  refused(*kVllm, vllm(R"({"token_id:5":-0.1})", "-5"), "0 or more");
  refused(*kVllm, vllm(R"({"token_id:5":-0.1})", "99999999999"), "0 or more");
  refused(*kVllm, vllm(R"({"token_id:5":-0.1})", "5", "7"), "out of order");
  refused(*kVllm, R"({"choices":[{"index":0,"text":"a","finish_reason":null}]})", "token_ids");
  refused(*kSglang, R"({"text":"a","output_ids":[5],"meta_info":{}})", "completion_tokens");
  refused(*kSglang, R"({"output_ids":[5],"meta_info":{"completion_tokens":3}})", "out of order");
  refused(
      *kSglang,
      R"({"output_ids":[5],"meta_info":{"completion_tokens":1,"output_token_logprobs":[[-1,6,null]],"output_top_logprobs":[[]]}})",
      "another token's");
  refused(*kSglang, R"({"meta_info":{"completion_tokens":0,"finish_reason":{"type":"abort","message":"oom"}}})", "oom");
  refused(*kLlama, R"({"tokens":[5],"stop":false,"tokens_predicted":1})", "no log-probabilities");
  refused(
      *kLlama,
      R"({"tokens":[5],"stop":false,"completion_probabilities":[{"id":5,"top_logprobs":[{"id":5,"logprob":-1},{"id":5,"logprob":-1}]}]})",
      "twice");
}

// Bytes changed at random are read or refused, never worse.
TEST(RemoteProtocol, SurvivesDamage) {
  const std::vector<std::string> events = {
      R"({"choices":[{"index":0,"text":" a","logprobs":{"token_logprobs":[-0.1],"tokens":["token_id:5"],"top_logprobs":[{"token_id:5":-0.1,"token_id:9":-3.0}]},"finish_reason":"stop","token_ids":[5]}],"usage":{"completion_tokens":1}})",
      R"({"text":"a","output_ids":[5],"meta_info":{"finish_reason":{"type":"stop","matched":5},"completion_tokens":1,"output_token_logprobs":[[-0.1,5,null]],"output_top_logprobs":[[[-0.1,5,null],[-3.0,9,null]]]}})",
      R"({"content":"a","tokens":[5],"stop":false,"tokens_predicted":1,"completion_probabilities":[{"id":5,"bytes":[97],"logprob":-0.1,"top_logprobs":[{"id":5,"bytes":[97],"logprob":-0.1}]}]})",
      R"({"choices":[{"text":"Hi","logprobs":{"tokens":["Hi"],"token_logprobs":[-0.2],"top_logprobs":[{"Hi":-0.2}]},"finish_reason":"length"}]})"};
  std::mt19937_64 random(7);
  const std::string alphabet = "{}[]\",:0123456789-eE.nulltrue\\x\xFF";
  for (int i = 0; i < 20000; ++i) {
    const Protocol& protocol = i % 4 == 0 ? *kVllm : i % 4 == 1 ? *kSglang : i % 4 == 2 ? *kLlama : *kOpenai;
    std::string event = events[static_cast<std::size_t>(i % 4)];
    for (int change = 0; change < 1 + i % 3; ++change) {
      const std::size_t at = random() % event.size();
      if (random() % 3 == 0) {
        event.erase(at, 1 + random() % 5);
      } else {
        event[at] = alphabet[random() % alphabet.size()];
      }
      if (event.empty()) break;
    }
    Pieces pieces;
    try {
      for (const DrawnToken& drawn : read_all(protocol, i % 2 == 0 ? 2 : 0, {event}, pieces).tokens) {
        EXPECT_GE(drawn.token, 0);
        for (const Candidate& candidate : drawn.top) EXPECT_LE(candidate.logprob, 0);
      }
    } catch (const Error&) {
    }
  }
}

TEST(EventLines, AreTheSameHoweverTheyAreCut) {
  const std::string body =
      ": a comment\r\nevent: x\ndata: one\n\ndata:two\r\n\r\ndata: \xE2\x82\xAC\n\ndata: unfinished";
  for (std::size_t step = 1; step <= body.size(); ++step) {
    EventLines lines;
    std::vector<std::string> taken;
    for (std::size_t at = 0; at < body.size(); at += step) {
      lines.feed(std::string_view(body).substr(at, step), [&](std::string_view data) {
        taken.emplace_back(data);
        return true;
      });
    }
    EXPECT_EQ(taken, (std::vector<std::string>{"one", "two", "\xE2\x82\xAC"}));
    EXPECT_TRUE(lines.cut());
  }
}

TEST(EventLines, AGiganticLineIsRefusedBeforeItIsKept) {
  EventLines lines(1000);
  const std::string part(400, 'x');
  const auto take = [](std::string_view) { return true; };
  lines.feed(part, take);
  lines.feed(part, take);
  EXPECT_THROW(lines.feed(part, take), Error);
}

TEST(AnswerText, SaysWhatTheServerSaidInOneLine) {
  EXPECT_EQ(complaint_of(400, R"({"error":{"message":"prompt too\nlong","code":400}})"), "HTTP 400: prompt too long");
  EXPECT_EQ(complaint_of(422, R"({"detail":"bad"})"), "HTTP 422: bad");
  EXPECT_EQ(complaint_of(500, ""), "HTTP 500");
  EXPECT_LT(complaint_of(500, std::string(5000, 'a')).size(), 400U);
  EXPECT_TRUE(is_refusal(301) && is_refusal(400) && is_refusal(401) && !is_refusal(429) && !is_refusal(503));
}

}  // namespace
}  // namespace dts::remote
