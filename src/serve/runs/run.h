// One question being decoded for a client: a search, what can be shown of it already, and its events. The engine's
// thread drives it; everybody else reads what it publishes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/committed_prefix.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "question/answer_form.h"
#include "question/reply_text.h"
#include "question/tool_calls.h"
#include "serve/runs/event_log.h"
#include "serve/runs/listeners.h"
#include "serve/runs/tree_events.h"

namespace dts::serve {

struct RunOptions {
  RunTitle title;
  ChatPrompt prompt;
  SearchOptions search;
  double max_seconds = 0;                           // 0: no limit
  double max_queue_seconds = 0;                     // 0: no limit
  std::uint64_t owner = 0;                          // whose key asked
  ReplyTextOptions text;                            // how a trajectory is read, and where it stops
  int top_logprobs = 0;                             // alternatives to keep of each token
  std::shared_ptr<const LogitsFilter> filter = {};  // what a trajectory may say; null: anything
  std::optional<ToolSyntax> tools = {};             // the content may call some; trajectories that do vote by the call
  std::optional<AnswerForm> answer = {};            // in which form it was asked for; none: as the question is
  bool votes_by_content = false;                    // the content is JSON, or follows a grammar: it is the answer
};

// A token of the text that is certain.
struct ShownToken {
  struct Alternative {
    std::string piece;  // bytes
    float logprob = 0;
  };

  std::string piece;  // bytes; empty for an end token
  float logprob = 0;
  std::vector<Alternative> top;  // [RunOptions::top_logprobs], the most probable first
};

enum class RunState { kQueued, kPrefill, kDecoding, kDone };
std::string_view to_string(RunState state);

struct RunProgress {
  RunState state = RunState::kQueued;
  int prefilled = 0;  // prompt tokens in the engine
  int step = 0;
  int live = 0;
  int finished = 0;
  std::int64_t unique_tokens = 0;
  std::vector<AnswerCount> votes;
};

class Run : public std::enable_shared_from_this<Run> {
 public:
  // `vocabulary` and `engine` must outlive it. Throws a usage error when the options are out of range.
  Run(RunOptions options, const Vocabulary& vocabulary, const EngineInfo& engine);
  ~Run();

  const RunTitle& title() const { return options_.title; }
  const RunOptions& options() const { return options_; }
  const SearchOptions& search_options() const { return effective_; }
  const EventLog& events() const { return events_; }
  std::uint64_t owner() const { return options_.owner; }
  int max_live() const { return effective_.method.max_live(); }

  // To be submitted once; it keeps the run alive until it is done.
  Job job();

  // Below: any thread.
  RunProgress progress() const;
  // Appends the tokens after the first `from` that are certain, and says whether these are all there will be.
  bool shown_tokens(std::size_t from, std::vector<ShownToken>& out) const;
  // Once it is done. The client that asked may then forget_shown_tokens(): others read the document.
  std::shared_ptr<const TreeDocument> document() const;
  void forget_shown_tokens();
  // It is done, and never started: the queue took longer than it may.
  bool waited_in_vain() const;
  // What it takes in memory once it is done.
  std::size_t bytes() const;
  Listeners& listeners() { return listeners_; }

  // The document so far, the same one for all who ask in the same step; the engine's thread only.
  std::shared_ptr<const TreeDocument> snapshot();

 private:
  std::shared_ptr<Search> make_search();
  std::string answer_of(std::string_view text) const;
  void on_predictions(std::span<const Prediction> predictions);
  void on_event(const SearchEvent& event);
  void on_prefill(const JobProgress& progress);
  void on_done(const JobTimes& times);
  void publish();
  ShownToken shown_token(const TokenPlace& place) const;
  TreeDocument make_document(const JobTimes& times) const;

  RunOptions options_;  // without its filter, which the search has
  const Vocabulary& vocabulary_;
  const EngineInfo& engine_;
  EventLog events_;
  Listeners listeners_;

  // The engine's thread only.
  std::shared_ptr<Search> search_;
  SearchOptions effective_;
  std::optional<TreeEvents> tree_events_;
  // Made with the run: when it ends for want of memory there is none for this.
  std::shared_ptr<TreeDocument> last_word_ = std::make_shared<TreeDocument>();
  CommittedPrefix prefix_;
  // [segments][tokens]: what each token was chosen from. A child's first token was chosen from the last of its parent.
  std::vector<std::vector<std::vector<Candidate>>> tops_;
  bool ended_ = false;       // a trajectory has, in the step being told
  bool untellable_ = false;  // an event could not be told: the search is over
  EventId events_announced_ = 0;
  std::weak_ptr<const TreeDocument> snapshot_;  // as long as somebody reads it
  int snapshot_step_ = -1;

  mutable std::mutex mutex_;  // guards what follows
  RunProgress progress_;
  std::vector<ShownToken> shown_;
  bool forgotten_ = false;  // nobody will ask for them
  bool waited_in_vain_ = false;
  std::shared_ptr<const TreeDocument> document_;
};

}  // namespace dts::serve
