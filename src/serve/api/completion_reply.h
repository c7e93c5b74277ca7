// Replies that wait for runs: a whole completion, or one that is streamed while it is made.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/api/api_error.h"
#include "serve/api/choice_reader.h"
#include "serve/api/completion_json.h"
#include "serve/http/http.h"
#include "serve/runs/run.h"

namespace dts::serve {

// The runs of one completion, one a choice. The client owns them: when it goes, they are cancelled.
class CompletionRuns {
 public:
  CompletionRuns(std::vector<std::shared_ptr<Run>> runs, std::function<void(const Run&)> cancel);
  ~CompletionRuns();
  CompletionRuns(const CompletionRuns&) = delete;
  CompletionRuns& operator=(const CompletionRuns&) = delete;

  void on_change(const std::function<void()>& wake);
  const std::vector<std::shared_ptr<Run>>& all() const { return runs_; }

 private:
  std::vector<std::shared_ptr<Run>> runs_;
  std::function<void(const Run&)> cancel_;
  std::vector<Listeners::Id> listening_;
};

// How a reply is written.
struct CompletionFormat {
  enum class Dialect {
    kOpenAi,
    kResponses,
    kOllamaChat,
    kOllamaGenerate,
    kTree,  // no completion: the run's id at once, and the run belongs to nobody's connection
  };

  Dialect dialect = Dialect::kOpenAi;
  Json asked = {};  // kResponses: the request, of which replies repeat some
  CompletionTitle title = {};
  bool logprobs = false;
  bool include_usage = false;                   // in a stream
  const std::atomic<bool>* draining = nullptr;  // the server's, for what to say of a run that was cancelled
  std::function<int()> retry_after = {};        // seconds, for one that waited in vain
  // Another API's: makes a reply, an error as that API tells it. For what is found out on a worker.
  using Make = std::function<std::unique_ptr<Reply>()>;
  std::function<std::unique_ptr<Reply>(const Make&)> in_words = {};
};

// Why a run that is done has nothing to give to its client.
std::optional<ApiError> failure_of(const Run& run, const CompletionFormat& format);
// Of runs that are done.
Usage usage_of(const CompletionRuns& runs, std::int64_t content_tokens);

class WholeCompletion final : public Reply {
 public:
  WholeCompletion(CompletionFormat format, std::unique_ptr<CompletionRuns> runs);
  void on_change(std::function<void()> wake) override { runs_->on_change(wake); }
  std::optional<HttpResponse> head() override;

 private:
  CompletionFormat format_;
  std::unique_ptr<CompletionRuns> runs_;
};

class StreamedCompletion final : public Reply {
 public:
  // How often a client that waits is told how far it is.
  static constexpr std::chrono::milliseconds kProgressEvery{250};

  StreamedCompletion(CompletionFormat format, std::unique_ptr<CompletionRuns> runs);
  void on_change(std::function<void()> wake) override { runs_->on_change(wake); }
  std::optional<HttpResponse> head() override;
  bool streams() const override { return true; }
  Piece next() override;

 private:
  struct Choice {
    ChoiceReader reader;
    bool begun = false;  // its first chunk was sent
    bool ended = false;
  };

  void add_chunk(std::string& out, const Json& choice) const;
  // False when the choice failed: nothing may follow.
  bool add_choice(std::string& out, std::size_t index, bool tell_progress);
  std::string last_chunks() const;

  CompletionFormat format_;
  std::unique_ptr<CompletionRuns> runs_;
  std::vector<Choice> choices_;
  std::chrono::steady_clock::time_point progress_told_;
};

}  // namespace dts::serve
