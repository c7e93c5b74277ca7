#include "engine/remote/token_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/check.h"
#include "dts/error.h"
#include "engine/remote/answer_text.h"

namespace dts::remote {
namespace {

constexpr double kEndSeconds = 1;  // that a server has to end a request of which all has come
// A refusal is believed when so many endpoints agree, or all; or when none of the others has given anybody a token for
// a while, and none comes back in some seconds.
constexpr std::size_t kRefusals = 3;
constexpr double kSilentSeconds = 60;
constexpr double kRefusedSeconds = 3;

}  // namespace

TokenStream::TokenStream(StreamContext& context, std::shared_ptr<SharedPrompt> question, std::vector<Token> prefix,
                         StreamSpec spec)
    : context_(context),
      question_(std::move(question)),
      spec_(std::move(spec)),
      first_(prefix.size()),
      tokens_(std::move(prefix)),
      has_statistics_(spec_.top_n > 0),
      progressed_at_(context.clock.now()) {
  check(first_ > 0, "a stream follows at least one token");
  error_ = spec_.refusal;
  need_attention();
}

TokenStream::~TokenStream() {
  close();
  if (noticed_) std::erase(context_.attention, this);
  context_.traffic.overshoot_tokens += static_cast<std::int64_t>(tokens_.size() - std::max(used_, first_));
}

void TokenStream::need_attention() {
  if (noticed_) return;
  noticed_ = true;
  context_.attention.push_back(this);
}

void TokenStream::break_off(CallFailure failure) {
  broken_ = true;
  failure_ = std::move(failure);
  failure_.text = without_secrets(shown(failure_.text), context_.options.headers);
  need_attention();
}

template <typename Work>
void TokenStream::guarded(Work work) {
  try {
    work();
  } catch (const CannotServe& error) {
    break_off({.permanent = true, .text = error.what()});
  } catch (const std::exception& error) {
    break_off({.text = error.what()});
  }
}

void TokenStream::forgo_statistics(bool at_once) {
  spec_.top_n = 0;
  spec_.watch.reset();
  const bool open = streams_statistics();
  if (open && !at_once) return;
  has_statistics_ = false;
  if (!open) return;  // the next request does without, if there is one
  close();
  need_attention();
}

void TokenStream::close() {
  if (endpoint_ < 0) return;
  context_.transport.cancel(call_);
  context_.fleet.closed(endpoint_);
  endpoint_ = -1;
}

double TokenStream::pump() {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  noticed_ = false;
  const double now = context_.clock.now();
  if (ended_ && broken_) {  // it has given all that was asked for before that
    broken_ = false;
    close();
  }
  // Nothing more of use comes of this request, or too much of it at once.
  if (endpoint_ >= 0 && !broken_ && (missing_ > 0 || rests_)) close();
  // All of it has come: the server is left to end it, so that its connection can be used again, but not for long.
  if (endpoint_ >= 0 && !broken_ && (ended_ || answered())) {
    const double until = heard_at_ + std::min(kEndSeconds, context_.options.stall_seconds);
    if (now < until) return until;
    close();
  }
  if (over()) return kNever;
  if (endpoint_ >= 0 && !broken_) {
    const double limit = any_token_ ? context_.options.stall_seconds : context_.options.first_token_seconds;
    const double deadline = heard_at_ + limit;
    if (now < deadline) return deadline;
    broken_ = true;
    failure_ = {.text = fmt::format("no token for {:.0f} s", limit)};
  }
  if (broken_) {
    fail_over(failure_);
    if (over()) return kNever;
  }
  // Whoever takes from it may not go on with what would be drawn there: that is not read ahead.
  if (decision_ && std::max(used_, first_) < tokens_.size()) return kNever;
  if (rests_) return kNever;
  if (now < resumes_at_) return resumes_at_;
  if (refused_for_good(now)) {
    error_ = refusal_;
    return kNever;
  }
  const std::optional<int> endpoint = context_.fleet.choose(*question_, refused_);
  if (!endpoint) {
    const double up = context_.fleet.next_up(refused_);
    return refused_.empty() ? up : std::min(up, std::max(now, refused_at_) + kRefusedSeconds);
  }
  ask(*endpoint);
  return over() ? kNever : now + (any_token_ ? context_.options.stall_seconds : context_.options.first_token_seconds);
}

void TokenStream::ask(int endpoint) {
  try {
    start(endpoint);
  } catch (const std::exception& error) {
    error_ = error.what();  // what cannot be asked for at all is this branch's failure, and no other's
  }
}

void TokenStream::start(int endpoint) {
  asked_whole_ = missing_ > 0;
  GenerationRequest request;
  request.prefix = tokens_;
  request.sampling = spec_.sampling;
  request.max_tokens = asked_whole_ ? std::min(left(), missing_ + 1) : left();
  request.top_n = spec_.top_n;
  has_statistics_ = spec_.top_n > 0;
  // A branch that is asked for again after some tokens must not draw the same numbers again.
  request.seed = (spec_.seed + static_cast<std::uint32_t>(tokens_.size() - first_)) & 0x7FFFFFFFU;
  request.watch = spec_.watch ? &*spec_.watch : nullptr;
  request.unwatched = decision_ ? 1 : 0;  // the one that it was ended before
  request.whole = asked_whole_;
  missing_ = 0;
  reader_ = context_.protocol.reader(request, context_.pieces);
  lines_ = EventLines();
  whole_.clear();
  began_ = comes_whole_ = false;
  broken_ = false;
  any_token_ = false;
  opened_at_ = heard_at_ = context_.clock.now();
  const ServerCall call = context_.protocol.generate(request, context_.pieces);
  OutgoingRequest http;
  http.url = context_.fleet.url(endpoint) + call.path;
  http.post = call.post;
  http.body = call.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  http.headers = context_.options.headers;
  http.connect_seconds = context_.options.connect_seconds;
  call_ = context_.transport.start(http, *this);
  endpoint_ = endpoint;
  context_.fleet.opened(endpoint);
  ++context_.traffic.requests;
  if (fruitless_ > 0) ++context_.traffic.retries;
}

const DrawnToken& TokenStream::take(std::size_t position) {
  while (first_ + forgotten_ < position) {
    ahead_ -= 1 + drawn_.front().top.size();
    drawn_.pop_front();
    ++forgotten_;
  }
  used_ = std::max(used_, position + 1);
  const bool rested = rests_ && (ahead_ <= context_.options.most_ahead / 2 || used_ == tokens_.size());
  if (rested) rests_ = false;
  if ((decision_ || rested) && endpoint_ < 0) need_attention();
  return drawn_.front();
}

void TokenStream::data(std::string_view bytes) {
  context_.traffic.received_bytes += static_cast<std::int64_t>(bytes.size());
  if (broken_ || reader_->end() != AnswerReader::End::kNone) return;
  // A server that does not stream answers with an object where events would begin.
  if (!began_) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return;
    began_ = true;
    comes_whole_ = asked_whole_ || bytes[first] == '{';
  }
  guarded([&] {
    if (!comes_whole_) return read_lines(bytes);
    whole_ += bytes;
    if (whole_.size() > EventLines::kLongestLine) throw Error("an answer is too long");
  });
}

void TokenStream::read_lines(std::string_view bytes) {
  lines_.feed(bytes, [this](std::string_view event) {
    read(event);
    return reader_->end() == AnswerReader::End::kNone && reader_->missing() == 0;
  });
}

void TokenStream::read(std::string_view event) {
  arrived_.clear();
  reader_->read(event, arrived_);
  if (!arrived_.empty()) {
    heard_at_ = context_.clock.now();
    any_token_ = true;
    fruitless_ = 0;
    progressed_at_ = heard_at_;
    context_.fleet.progressed(endpoint_);
  }
  for (DrawnToken& drawn : arrived_) {
    if (left() <= 0) break;  // more than was asked for
    if (spec_.watch) {
      drawn.decision = decision_ ? Prediction::Decision::kYes : Prediction::Decision::kNo;
    }
    decision_ = false;
    ++context_.traffic.received_tokens;
    ahead_ += 1 + drawn.top.size();
    tokens_.push_back(drawn.token);
    drawn_.push_back(std::move(drawn));
  }
  if (reader_->end() == AnswerReader::End::kStopped || left() <= 0) ended_ = true;
  if (reader_->missing() > 0) missing_ = reader_->missing();
  if (reader_->end() == AnswerReader::End::kDecision) {
    if (decision_) throw Error("the server ended a branch before a token that it was to draw");
    decision_ = true;
    ++question_->requests;  // the one that draws it
  }
  if (!ended_ && ahead_ > context_.options.most_ahead && used_ < tokens_.size()) rests_ = true;
  if (reader_->end() != AnswerReader::End::kNone || missing_ > 0 || ended_ || rests_) need_attention();
  if (reader_->end() == AnswerReader::End::kLength && !any_token_ && left() > 0) {
    break_off({.permanent = true,
               .text = fmt::format("the server ends a branch of {} tokens: its context is full", tokens_.size())});
  }
}

bool TokenStream::answered() const { return reader_->end() != AnswerReader::End::kNone || reader_->missing() > 0; }

void TokenStream::done() {
  // Of a stream, what has come of a last line that the server has not ended.
  if (!broken_ && !answered()) guarded([this] { comes_whole_ ? read(whole_) : read_lines("\n"); });
  if (!broken_ && !answered()) break_off({.text = "the stream ended before the server was done"});
  if (broken_) return;  // pump() needs to know whose failure it is
  context_.fleet.closed(endpoint_);
  endpoint_ = -1;
  need_attention();
}

void TokenStream::failed(const CallFailure& failure) {
  if (broken_) return;            // what was wrong with the data is the better reason
  if (answered()) return done();  // a connection that breaks when all has been said
  break_off(failure);
}

void TokenStream::fail_over(const CallFailure& failure) {
  const int endpoint = endpoint_;
  broken_ = false;
  close();
  ++fruitless_;
  const double now = context_.clock.now();
  // A server that is busy with the others is no reason to give up: this one's turn comes.
  const double alive_at =
      failure.busy ? std::max(progressed_at_, context_.fleet.progressed_at(endpoint)) : progressed_at_;
  const bool long_enough = now - alive_at >= context_.options.give_up_seconds;
  const std::string words = fmt::format("{}: {}", context_.fleet.url(endpoint), failure.text);
  if (failure.permanent) {  // of this endpoint, which is well; others may be of another mind
    if (refusal_.empty()) refusal_ = words;
    refused_.push_back(endpoint);
    refused_at_ = now;
    const std::size_t enough = std::min(kRefusals, static_cast<std::size_t>(context_.fleet.size()));
    if (refused_.size() >= enough) error_ = refusal_;
    return;
  }
  if (long_enough && fruitless_ >= context_.options.attempts) {
    error_ = refusal_.empty() ? fmt::format("{} ({} requests in a row gave no token)", words, fruitless_) : refusal_;
    return;
  }
  context_.fleet.failed(endpoint, opened_at_, failure.retry_after);
  // Others' tokens say that the endpoint is well, so it is soon asked again: not by those for whom it has no room.
  const int refused = fruitless_ - context_.fleet.size();
  if (failure.busy && refused >= 0) resumes_at_ = now + context_.fleet.backoff(refused + 1);
}

bool TokenStream::refused_for_good(double now) const {
  if (refused_.empty() || now < refused_at_ + kRefusedSeconds) return false;
  for (int endpoint = 0; endpoint < context_.fleet.size(); ++endpoint) {
    if (std::find(refused_.begin(), refused_.end(), endpoint) != refused_.end()) continue;
    const double token_at = context_.fleet.progressed_at(endpoint);
    if (context_.fleet.up(endpoint) || (token_at > 0 && now - token_at < kSilentSeconds)) return false;
  }
  return true;
}

}  // namespace dts::remote
