#include "serve/runs/tree_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/machine.h"
#include "core/words.h"
#include "dts/text_search.h"
#include "serve/api/votes_json.h"
#include "text/utf8.h"
#include "tree_file/tree_json.h"

namespace dts::serve {
namespace {

using namespace text;

using nlohmann::ordered_json;

// Five digits are more than a plot can show, and half of what a float has.
void append_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "{:.5g}", value);
  } else {
    out += "null";
  }
}

std::string number(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::string json_string(std::string_view text) { return ordered_json(text::valid_utf8(text)).dump(); }

bool has_ended(const Segment& segment) {
  return segment.state != SegmentState::kLive && segment.state != SegmentState::kSplit;
}

}  // namespace

TreeEvents::TreeEvents(const Search& search, const Vocabulary& vocabulary, EventLog& log)
    : search_(search), vocabulary_(vocabulary), log_(log) {}

void TreeEvents::open(const RunTitle& title, bool opens_thinking) {
  ordered_json json;
  json["id"] = title.id;
  json["created"] = title.created;
  json["model"] = text::valid_utf8(title.model);
  json["question"] = text::valid_utf8(title.question);
  put_options(json, search_.options());
  json["prompt_tokens"] = search_.prompt().size();
  json["opens_thinking"] = opens_thinking;
  log_.append("open", json.dump());
}

void TreeEvents::prefilled(const JobProgress& progress) {
  begun_ = std::chrono::steady_clock::now();
  log_.append("prefill", fmt::format(R"({{"done":{},"total":{}}})", progress.prefilled, progress.prompt));
}

void TreeEvents::on_event(const SearchEvent& event) {
  tell_roots();
  switch (event.type) {
    case SearchEvent::Type::kBranch:
      tell_growth();
      tell_split(event.segment);
      break;
    case SearchEvent::Type::kFinish:
    case SearchEvent::Type::kExhaust:
    case SearchEvent::Type::kRetire:
      tell_growth();
      tell_end(event.segment);
      break;
    case SearchEvent::Type::kStep:
      if (search_.finished().size() > finished_told_) tell_votes();
      if (std::chrono::steady_clock::now() - last_growth_ >= kPatience) tell_growth();
      break;
    case SearchEvent::Type::kDone: {
      const std::vector<SegmentId> left = watched_;
      tell_growth();
      for (const SegmentId id : left) {
        if (search_.tree().segment(id).state == SegmentState::kCut) tell_end(id);
      }
      break;
    }
  }
}

void TreeEvents::done(const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  const bool won = outcome.winner.has_value();
  ordered_json json;
  json["reason"] = to_string(outcome.reason);
  if (!outcome.error.empty()) json["error"] = text::valid_utf8(outcome.error);
  json["answer"] = won ? ordered_json(text::valid_utf8(outcome.finished[*outcome.winner].answer)) : ordered_json();
  json["winner_leaf"] = won ? ordered_json(outcome.finished[*outcome.winner].leaf) : ordered_json();
  json["best_leaf"] = outcome.best_leaf == kNoSegment ? ordered_json() : ordered_json(outcome.best_leaf);
  json["votes"] = votes_json(outcome.votes);
  json["account"] = account_json(outcome.account, document.flops);
  json["times"] = times_json(document.times);
  log_.append("done", json.dump());
  log_.close();
}

void TreeEvents::watch(SegmentId segment, std::string begun) {
  const auto index = static_cast<std::size_t>(segment);
  if (told_.size() <= index) told_.resize(index + 1);
  told_[index] = {0, std::move(begun)};
  watched_.push_back(segment);
}

void TreeEvents::tell_roots() {
  const std::span<const SegmentId> roots = search_.tree().roots();
  for (; roots_told_ < roots.size(); ++roots_told_) {
    const SegmentId root = roots[roots_told_];
    watch(root, {});
    log_.append("root", fmt::format(R"({{"segment":{},"child":{}}})", root, search_.tree().segment(root).child_index));
  }
}

void TreeEvents::tell_growth() {
  last_growth_ = std::chrono::steady_clock::now();
  std::string segments;
  for (const SegmentId id : watched_) {
    const std::string part = growth_of(id);
    if (!part.empty()) segments += (segments.empty() ? "" : ",") + part;
  }
  if (segments.empty()) return;
  const std::chrono::duration<double> spent = last_growth_ - begun_.value_or(last_growth_);
  log_.append("grow",
              fmt::format(R"({{"step":{},"live":{},"finished":{},"seconds":{:.3f},"memory":{},"segments":[{}]}})",
                          search_.step(), search_.live(), search_.finished().size(), spent.count(), resident_memory(),
                          segments));
}

std::string TreeEvents::growth_of(SegmentId id) {
  const Segment& segment = search_.tree().segment(id);
  Told& told = told_[static_cast<std::size_t>(id)];
  if (told.tokens == segment.tokens.size()) return {};
  std::string text, entropy, varentropy, logprob;
  // A token that leaves a character incomplete waits for the next one, unless there is none: then children go on with
  // it, or it never becomes one.
  std::string begun = told.begun;
  std::size_t complete = told.tokens;
  struct Lengths {
    std::size_t text, entropy, varentropy, logprob;
  } lengths{};
  for (std::size_t i = told.tokens; i < segment.tokens.size(); ++i) {
    const TokenRecord& record = segment.tokens[i];
    begun += shown_piece(vocabulary_, record.token);
    std::string piece;
    text::move_complete(begun, piece);
    const bool last = i + 1 == segment.tokens.size();
    if (last && has_ended(segment)) {
      piece += text::valid_utf8(begun);
      begun.clear();
    }
    const char* comma = i == told.tokens ? "" : ",";
    text += comma + json_string(piece);
    const auto append = [&](std::string& list, float value) {
      list += comma;
      append_number(list, static_cast<double>(value));
    };
    append(entropy, record.entropy);
    append(varentropy, record.varentropy);
    append(logprob, record.logprob);
    if (begun.empty() || (last && segment.state == SegmentState::kSplit)) {
      complete = i + 1;
      lengths = {text.size(), entropy.size(), varentropy.size(), logprob.size()};
      told.begun = begun;
    }
  }
  if (complete == told.tokens) return {};
  told.tokens = complete;
  text.resize(lengths.text);
  entropy.resize(lengths.entropy);
  varentropy.resize(lengths.varentropy);
  logprob.resize(lengths.logprob);
  return fmt::format(R"({{"segment":{},"text":[{}],"entropy":[{}],"varentropy":[{}],"logprob":[{}]}})", id, text,
                     entropy, varentropy, logprob);
}

void TreeEvents::tell_split(SegmentId parent) {
  const Tree& tree = search_.tree();
  const Segment& segment = tree.segment(parent);
  std::string children;
  const TokenRecord& decision = tree.segment(segment.children.front()).tokens.front();
  for (const SegmentId id : segment.children) {
    const Segment& child = tree.segment(id);
    watch(id, told_[static_cast<std::size_t>(parent)].begun);
    Told& told = told_[static_cast<std::size_t>(id)];
    std::string piece;
    told.begun += shown_piece(vocabulary_, child.tokens.front().token);
    text::move_complete(told.begun, piece);
    if (has_ended(child) && child.tokens.size() == 1) piece += text::valid_utf8(std::exchange(told.begun, {}));
    told.tokens = 1;
    children +=
        fmt::format(R"({}{{"segment":{},"child":{},"text":{},"logprob":{}}})", children.empty() ? "" : ",", id,
                    child.child_index, json_string(piece), number(static_cast<double>(child.tokens.front().logprob)));
  }
  std::erase(watched_, parent);
  log_.append("split", fmt::format(R"({{"step":{},"segment":{},"position":{},"entropy":{},"varentropy":{},)"
                                   R"("children":[{}]}})",
                                   search_.step(), parent, segment.end(), number(static_cast<double>(decision.entropy)),
                                   number(static_cast<double>(decision.varentropy)), children));
}

void TreeEvents::tell_end(SegmentId leaf) {
  const Segment& segment = search_.tree().segment(leaf);
  const std::span<const FinishedTrace> finished = search_.finished();
  const auto trace = std::find_if(finished.rbegin(), finished.rend(),
                                  [leaf](const FinishedTrace& candidate) { return candidate.leaf == leaf; });
  const bool has_finished = trace != finished.rend();
  // A first token that began a character was told with its split, before anyone knew that nothing would follow.
  const std::string rest = std::exchange(told_[static_cast<std::size_t>(leaf)].begun, {});
  std::erase(watched_, leaf);
  log_.append("end",
              fmt::format(R"({{"step":{},"segment":{},"state":"{}","length":{},"answer":{},"mean_logprob":{}{}}})",
                          search_.step(), leaf, name_of(kSegmentStates, segment.state), segment.end(),
                          has_finished ? json_string(trace->answer) : "null",
                          has_finished ? number(trace->mean_logprob) : "null",
                          rest.empty() ? "" : R"(,"text":)" + json_string(rest)));
}

void TreeEvents::tell_votes() {
  finished_told_ = search_.finished().size();
  const int needed = search_.options().method.stop.finished;
  ordered_json json;
  json["votes"] = votes_json(search_.outcome().votes);
  json["finished"] = finished_told_;
  json["needed"] = needed == StopRule::kAll ? ordered_json("all") : ordered_json(needed);
  log_.append("votes", json.dump());
}

}  // namespace dts::serve
