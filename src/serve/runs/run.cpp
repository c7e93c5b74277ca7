#include "serve/runs/run.h"

#include <exception>
#include <utility>

#include "dts/answer.h"

namespace dts::serve {

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::kQueued:
      return "queued";
    case RunState::kPrefill:
      return "prefill";
    case RunState::kDecoding:
      return "decoding";
    case RunState::kDone:
      return "done";
  }
  return "";
}

Run::Run(RunOptions options, const Vocabulary& vocabulary, const EngineInfo& engine)
    : options_(std::move(options)), vocabulary_(vocabulary), engine_(engine), search_(make_search()) {
  effective_ = search_->options();
  tree_events_.emplace(*search_, vocabulary_, events_);
  tree_events_->open(options_.title, options_.prompt.opens_thinking);
}

Run::~Run() = default;

std::shared_ptr<Search> Run::make_search() {
  TextSearchOptions text;
  text.stop = options_.text.stop;
  text.split_thinking = options_.text.split_thinking;
  text.filter = std::move(options_.filter);  // what a grammar has found out goes with the search
  if (options_.answer) {
    text.read_answer = form_reader(*options_.answer, options_.title.question, options_.prompt.opens_thinking);
    text.same_answer = form_equality(*options_.answer);
  }
  if (options_.tools || options_.votes_by_content) {
    text.read_answer = [this](std::string_view said) { return answer_of(said); };
  }
  return make_text_search(vocabulary_, options_.prompt, options_.search, std::move(text));
}

std::string Run::answer_of(std::string_view text) const {
  ReplyText reader({options_.text.split_thinking, options_.text.opens_thinking, {}});
  reader.feed(text);
  reader.finish();
  const std::string content = reader.take_content();
  if (options_.votes_by_content) return canonical_json(content);
  ToolReader calls(*options_.tools);
  calls.feed(content);
  calls.finish();
  const std::string called = canonical_calls(calls.take_calls());
  return called.empty() ? extract_answer(text, options_.prompt.opens_thinking) : called;
}

Job Run::job() {
  // The scheduler lets go of the job once it is done, and with it of the run.
  const std::shared_ptr<Run> self = shared_from_this();
  search_->on_event = [this](const SearchEvent& event) { on_event(event); };
  if (options_.top_logprobs > 0) {
    search_->on_predictions = [this](std::span<const Prediction> predictions) { on_predictions(predictions); };
  }
  Job job;
  job.search = search_;
  job.max_seconds = options_.max_seconds;
  job.max_queue_seconds = options_.max_queue_seconds;
  job.owner = options_.owner;
  job.on_prefill = [self](const JobProgress& progress) { self->on_prefill(progress); };
  job.on_done = [self](const JobTimes& times) { self->on_done(times); };
  return job;
}

void Run::on_predictions(std::span<const Prediction> predictions) {
  const std::vector<SegmentId> leaves = search_->live_leaves();
  tops_.resize(search_->tree().segments().size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    tops_[static_cast<std::size_t>(leaves[i])].push_back(predictions[i].top);
  }
}

void Run::on_event(const SearchEvent& event) {
  if (untellable_) return;
  try {
    switch (event.type) {
      case SearchEvent::Type::kFinish:
      case SearchEvent::Type::kExhaust:
      case SearchEvent::Type::kRetire:
        ended_ = true;
        break;
      case SearchEvent::Type::kBranch:
      case SearchEvent::Type::kStep:
      case SearchEvent::Type::kDone:
        break;
    }
    tree_events_->on_event(event);
    const bool told = event.type == SearchEvent::Type::kStep || event.type == SearchEvent::Type::kDone;
    if (told) publish();
  } catch (const std::exception& error) {
    // What cannot be told must not take the other searches down.
    untellable_ = true;
    search_->stop(StopReason::kFailed, unspelled(error));
  }
}

void Run::on_prefill(const JobProgress& progress) {
  tree_events_->prefilled(progress);
  {
    const std::scoped_lock lock(mutex_);
    progress_.state = RunState::kPrefill;
    progress_.prefilled = progress.prefilled;
  }
  listeners_.notify();
}

void Run::publish() {
  std::vector<TokenPlace> places;
  if (ended_ || search_->done() || !prefix_.blocked()) prefix_.advance(*search_, places);
  std::vector<ShownToken> tokens;
  tokens.reserve(places.size());
  for (const TokenPlace& place : places) tokens.push_back(shown_token(place));
  {
    const std::scoped_lock lock(mutex_);
    progress_.state = RunState::kDecoding;
    progress_.step = search_->step();
    progress_.live = search_->live();
    progress_.finished = static_cast<int>(search_->finished().size());
    progress_.unique_tokens = static_cast<std::int64_t>(search_->tree().unique_tokens());
    if (ended_) progress_.votes = search_->outcome().votes;
    if (forgotten_) tokens.clear();
    shown_.insert(shown_.end(), std::make_move_iterator(tokens.begin()), std::make_move_iterator(tokens.end()));
  }
  ended_ = false;
  // Readers are woken when there is something for them, not in every step.
  const EventId last = events_.last();
  if (places.empty() && last == events_announced_) return;
  events_announced_ = last;
  listeners_.notify();
}

ShownToken Run::shown_token(const TokenPlace& place) const {
  const Segment& segment = search_->tree().segment(place.segment);
  const TokenRecord& record = segment.tokens[place.index];
  ShownToken token{shown_piece(vocabulary_, record.token), record.logprob, {}};
  if (options_.top_logprobs > 0) {
    const bool chosen_by_parent = place.index == 0 && segment.parent != kNoSegment;
    const auto& own = tops_[static_cast<std::size_t>(chosen_by_parent ? segment.parent : place.segment)];
    const auto& top = chosen_by_parent ? own.back() : own[place.index - (segment.parent == kNoSegment ? 0 : 1)];
    for (std::size_t i = 0; i < top.size() && i < static_cast<std::size_t>(options_.top_logprobs); ++i) {
      token.top.push_back({vocabulary_.piece(top[i].token, true), top[i].logprob});
    }
  }
  return token;
}

TreeDocument Run::make_document(const JobTimes& times) const {
  TreeDocument document = document_of(*search_, vocabulary_, options_.prompt, engine_, times);
  document.model = options_.title.model;
  document.question = options_.title.question;
  return document;
}

void Run::on_done(const JobTimes& times) {
  const std::shared_ptr<TreeDocument> document = std::move(last_word_);
  const StopReason reason = search_->reason();
  try {
    *document = make_document(times);
    tree_events_->done(*document);
  } catch (const std::exception& error) {
    document->outcome = {};
    document->outcome.reason = StopReason::kFailed;
    try {
      document->options = effective_;
      document->outcome.error = error.what();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it ends without words, then
    }
    events_.close();
  }
  {
    const std::scoped_lock lock(mutex_);
    // Whoever was admitted has spent time on its prompt.
    waited_in_vain_ = reason == StopReason::kTimeBudget && times.prefill == 0 && times.decode == 0;
    progress_.state = RunState::kDone;
    progress_.live = 0;
    document_ = document;
  }
  tree_events_.reset();
  search_.reset();
  tops_ = {};
  listeners_.notify();
}

bool Run::waited_in_vain() const {
  const std::scoped_lock lock(mutex_);
  return waited_in_vain_;
}

RunProgress Run::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

bool Run::shown_tokens(std::size_t from, std::vector<ShownToken>& out) const {
  const std::scoped_lock lock(mutex_);
  if (from < shown_.size()) out.insert(out.end(), shown_.begin() + static_cast<std::ptrdiff_t>(from), shown_.end());
  return document_ != nullptr;
}

std::shared_ptr<const TreeDocument> Run::document() const {
  const std::scoped_lock lock(mutex_);
  return document_;
}

void Run::forget_shown_tokens() {
  const std::scoped_lock lock(mutex_);
  forgotten_ = true;
  shown_ = {};
}

std::shared_ptr<const TreeDocument> Run::snapshot() {
  if (auto done = document()) return done;
  std::shared_ptr<const TreeDocument> shared = snapshot_step_ == search_->step() ? snapshot_.lock() : nullptr;
  if (!shared) shared = std::make_shared<TreeDocument>(make_document({}));
  snapshot_ = shared;
  snapshot_step_ = search_->step();
  return shared;
}

std::size_t Run::bytes() const {
  std::size_t bytes = events_.bytes();
  if (const auto tree = document()) {
    for (const Segment& segment : tree->tree.segments()) {
      bytes += sizeof segment + segment.tokens.capacity() * sizeof(TokenRecord) +
               segment.children.capacity() * sizeof(SegmentId);
    }
    for (const SegmentText& text : tree->texts) {
      bytes += sizeof text + text.text.capacity() + text.ends.capacity() * sizeof(std::uint32_t);
    }
    bytes += tree->prompt.capacity() + tree->question.capacity() + tree->prompt_tokens.capacity() * sizeof(Token);
  }
  return bytes + options_.title.question.capacity() + options_.prompt.text.capacity() +
         options_.prompt.tokens.capacity() * sizeof(Token) + sizeof *this;
}

}  // namespace dts::serve
