// A model of one's own behind dts::Engine, decoded as a tree.
//
// The model adds seven and eight in one of three ways. The way it likes best is wrong, the other two agree: one
// trajectory would most probably answer 14, the tree's vote answers 15.
#include <dts/distribution.h>
#include <dts/engine.h>
#include <dts/scheduler.h>
#include <dts/search.h>

#include <array>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

enum : dts::Token { kQuestion, kRemember, kCount, kMakeTen, kFourteen, kFifteen, kEnd, kVocabularySize };
constexpr std::array<const char*, kVocabularySize> kPieces = {
    "7 + 8 =", "I remember: ", "counting on: ", "making ten: ", "14", "15", "."};

class Adder final : public dts::Engine {
 public:
  Adder() {
    info_.name = "adder";
    info_.kind = "a table";
    info_.n_vocab = kVocabularySize;
    info_.context_length = 16;
    info_.max_branches = 8;
  }

  const dts::EngineInfo& info() const override { return info_; }
  dts::EngineTimes times() const override { return {}; }

  // The next token depends on the last one alone, so that a branch holds nothing but its name.
  dts::BranchId open() override { return next_++; }
  dts::BranchId fork(dts::BranchId /*parent*/) override { return next_++; }
  void release(dts::BranchId /*branch*/) override {}

  void step(std::span<const dts::Feed> feeds, std::span<dts::Prediction> out) override {
    std::vector<dts::LogitsRow> rows;
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      if (feeds[i].spec == nullptr) continue;  // a stretch of a prompt: nothing is to be predicted after it
      rows.push_back({logits_after(feeds[i].tokens.back()), feeds[i].draw, feeds[i].spec, &out[i]});
    }
    predictor_.predict(rows);
  }

 private:
  // What follows a token: the whole of this model. [kVocabularySize]
  static std::span<const float> logits_after(dts::Token token) {
    using Row = std::array<float, kVocabularySize>;
    static constexpr float kNo = -9.0F;
    static constexpr Row kWays{kNo, 3.0F, 2.4F, 2.2F, kNo, kNo, kNo};
    static constexpr Row kWrong{kNo, kNo, kNo, kNo, 9.0F, kNo, kNo};
    static constexpr Row kRight{kNo, kNo, kNo, kNo, kNo, 9.0F, kNo};
    static constexpr Row kStop{kNo, kNo, kNo, kNo, kNo, kNo, 9.0F};
    switch (token) {
      case kQuestion:
        return kWays;
      case kRemember:
        return kWrong;
      case kCount:
      case kMakeTen:
        return kRight;
      default:
        return kStop;
    }
  }

  dts::EngineInfo info_;
  dts::Predictor predictor_;
  dts::BranchId next_ = 0;
};

std::string text_of(std::span<const dts::Token> tokens) {
  std::string text;
  for (const dts::Token token : tokens) text += kPieces.at(static_cast<std::size_t>(token));
  return text;
}

dts::SearchOptions search_options() {
  dts::MethodOptions options;
  options.branch.tau_v = 0.05;  // nats^2: this model hesitates far less than a language model does
  options.branch.max_branches = 8;
  options.votes = 3;
  dts::SearchOptions search;
  search.method = dts::make_method("dts-stable", options);
  search.max_tokens = 8;
  return search;
}

}  // namespace

int main() {
  dts::SearchText text;
  text.is_end = [](dts::Token token) { return token == kEnd; };
  text.answer_of = [](std::span<const dts::Token> tokens) {
    return tokens.size() < 2 ? std::string() : text_of(tokens.subspan(tokens.size() - 2, 1));
  };
  const auto search =
      std::make_shared<dts::Search>(std::vector<dts::Token>{kQuestion}, search_options(), text, kVocabularySize);

  Adder engine;
  dts::Scheduler scheduler(engine);
  dts::Job job;
  job.search = search;
  scheduler.submit(job);
  scheduler.run();

  const dts::Outcome outcome = search->outcome();
  for (const dts::FinishedTrace& trace : outcome.finished) {
    std::printf("%s\n", text_of(search->tree().tokens_of(trace.leaf)).c_str());
  }
  if (!outcome.winner) return 1;
  std::printf("answer: %s (%d of %zu votes)\n", outcome.votes.front().answer.c_str(), outcome.votes.front().votes,
              outcome.finished.size());
  return 0;
}
