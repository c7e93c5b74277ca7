#include "serve/api/completion_reply.h"

#include <algorithm>
#include <string>
#include <utility>

#include "question/answer_filter.h"
#include "serve/api/api_error.h"

namespace dts::serve {

std::optional<ApiError> failure_of(const Run& run, const CompletionFormat& format) {
  if (run.waited_in_vain()) {
    return ApiError(503, "the queue is too long: the question waited as long as it may", {}, "queue_timeout")
        .with_header("Retry-After", std::to_string(format.retry_after()));
  }
  const Outcome& outcome = run.document()->outcome;
  // Nothing that trying again would change, which clients do after a 5xx.
  if (outcome.reason == StopReason::kFailed && outcome.error.starts_with(kGrammarGaveUp)) {
    return ApiError(400, outcome.error, {}, "invalid_value");
  }
  if (outcome.reason == StopReason::kFailed) return ApiError(500, "the decoding failed: " + outcome.error);
  if (outcome.reason != StopReason::kCancelled || outcome.winner) return std::nullopt;
  if (*format.draining) return ApiError(503, "the server is shutting down", {}, "shutting_down");
  // Clients try again after 409, 429 and whatever begins with a 5: not what somebody wants who cancelled it.
  return ApiError(410, "the request was cancelled before a trajectory had finished", {}, "cancelled");
}

Usage usage_of(const CompletionRuns& runs, std::int64_t content_tokens) {
  Usage usage;
  usage.prompt_tokens = static_cast<std::int64_t>(runs.all().front()->options().prompt.tokens.size());
  usage.cached_tokens = runs.all().front()->document()->outcome.account.cached_tokens;
  for (const auto& run : runs.all()) usage.completion_tokens += run->document()->outcome.account.unique_tokens;
  usage.content_tokens = content_tokens;
  return usage;
}

namespace {

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

}  // namespace

CompletionRuns::CompletionRuns(std::vector<std::shared_ptr<Run>> runs, std::function<void(const Run&)> cancel)
    : runs_(std::move(runs)), cancel_(std::move(cancel)) {}

CompletionRuns::~CompletionRuns() {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (i < listening_.size()) runs_[i]->listeners().remove(listening_[i]);
    if (!runs_[i]->document()) cancel_(*runs_[i]);
    runs_[i]->forget_shown_tokens();
  }
}

void CompletionRuns::on_change(const std::function<void()>& wake) {
  for (const auto& run : runs_) listening_.push_back(run->listeners().add(wake));
}

WholeCompletion::WholeCompletion(CompletionFormat format, std::unique_ptr<CompletionRuns> runs)
    : format_(std::move(format)), runs_(std::move(runs)) {}

std::optional<HttpResponse> WholeCompletion::head() {
  for (const auto& run : runs_->all()) {
    if (!run->document()) return std::nullopt;
  }
  Json json = completion_json(format_.title);
  json["choices"] = Json::array();
  std::int64_t content_tokens = 0;
  for (const auto& run : runs_->all()) {
    const auto document = run->document();
    if (const auto failure = failure_of(*run, format_)) return error_response(*failure);
    ChoiceReader reader(run, format_.logprobs);
    const ChoiceReader::Delta delta = reader.read();
    content_tokens += reader.content_tokens();
    const int index = static_cast<int>(json["choices"].size());
    json["choices"].push_back(whole_choice_json(format_.title.kind, index, delta, format_.logprobs,
                                                finish_reason(document->outcome, reader.called())));
    json["choices"].back()["dts"] = result_json(*run, *document);
  }
  json["usage"] = usage_json(usage_of(*runs_, content_tokens));
  HttpResponse response;
  response.body = json.dump();
  return response;
}

StreamedCompletion::StreamedCompletion(CompletionFormat format, std::unique_ptr<CompletionRuns> runs)
    : format_(std::move(format)), runs_(std::move(runs)) {
  for (const auto& run : runs_->all()) choices_.push_back({ChoiceReader(run, format_.logprobs)});
}

std::optional<HttpResponse> StreamedCompletion::head() {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

void StreamedCompletion::add_chunk(std::string& out, const Json& choice) const {
  Json chunk = chunk_json(format_.title);
  chunk["choices"] = Json::array({choice});
  if (format_.include_usage) chunk["usage"] = nullptr;  // as OpenAI has it in all but the last
  out += event(chunk.dump());
}

bool StreamedCompletion::add_choice(std::string& out, std::size_t index, bool tell_progress) {
  Choice& choice = choices_[index];
  if (choice.ended) return true;
  const Run& run = *runs_->all()[index];
  const ChoiceReader::Delta delta = choice.reader.read();
  const auto document = delta.done ? run.document() : nullptr;
  if (document) {
    if (const auto failure = failure_of(run, format_)) {
      out += event(error_json(failure->status(), failure->what(), failure->param(), failure->code()));
      return false;
    }
  }
  const bool news = !delta.reasoning.empty() || !delta.content.empty() || !delta.tokens.empty() || !delta.calls.empty();
  const CompletionKind kind = format_.title.kind;
  const auto chunk = [&](const ChoiceReader::Delta& part, const Json& finish) {
    return chunk_choice_json(kind, static_cast<int>(index), part, format_.logprobs, !std::exchange(choice.begun, true),
                             finish);
  };
  if (news || !choice.begun || (tell_progress && !document)) {
    Json json = chunk(delta, nullptr);
    // Plain clients see a change of nothing.
    if (tell_progress && !document) json["dts"] = progress_json(run);
    add_chunk(out, json);
  }
  if (document) {
    choice.ended = true;
    Json json = chunk({}, finish_reason(document->outcome, choice.reader.called()));
    json["dts"] = result_json(run, *document);
    add_chunk(out, json);
  }
  return true;
}

std::string StreamedCompletion::last_chunks() const {
  std::string out;
  if (format_.include_usage) {
    std::int64_t content_tokens = 0;
    for (const Choice& choice : choices_) content_tokens += choice.reader.content_tokens();
    Json chunk = chunk_json(format_.title);
    chunk["choices"] = Json::array();
    chunk["usage"] = usage_json(usage_of(*runs_, content_tokens));
    out += event(chunk.dump());
  }
  return out + event("[DONE]");
}

Reply::Piece StreamedCompletion::next() {
  Piece piece;
  const auto now = std::chrono::steady_clock::now();
  const bool tell_progress = now - progress_told_ >= kProgressEvery;
  if (tell_progress) progress_told_ = now;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!add_choice(piece.data, i, tell_progress)) {
      piece.end = true;
      return piece;
    }
  }
  piece.end = std::all_of(choices_.begin(), choices_.end(), [](const Choice& choice) { return choice.ended; });
  if (piece.end) piece.data += last_chunks();
  return piece;
}

}  // namespace dts::serve
