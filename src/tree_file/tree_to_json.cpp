#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.h"
#include "dts/options.h"
#include "json/option_json.h"
#include "text/utf8.h"
#include "tree_file/tree_json.h"

namespace dts {
namespace {

using namespace text;

using nlohmann::ordered_json;

// JSON has no word for numbers that are not finite.
ordered_json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// The shortest digits that give the float back; as a double it would take seventeen.
ordered_json number(float value) {
  if (!std::isfinite(value)) return number(static_cast<double>(value));
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits - 1, value);
  *end.ptr = '\0';
  const double shortest = std::strtod(digits, nullptr);
  return static_cast<float>(shortest) == value ? shortest : static_cast<double>(value);
}

ordered_json text_json(std::string_view bytes) { return valid_utf8(bytes); }

ordered_json id_or_null(SegmentId id) { return id == kNoSegment ? ordered_json() : ordered_json(id); }

}  // namespace

namespace {

// Its place in the file, made when it is not there yet.
ordered_json& place(ordered_json& json, std::string_view path) {
  const std::size_t slash = path.find('/');
  ordered_json& member = json[std::string(path.substr(0, slash))];
  return slash == std::string_view::npos ? member : place(member, path.substr(slash + 1));
}

}  // namespace

void put_options(ordered_json& json, const SearchOptions& options) {
  const Method& method = options.method;
  ordered_json& out = json["method"];
  out["name"] = text_json(method.name);
  out["width"] = method.width;
  out["branch"]["enabled"] = method.branch.enabled;
  out["retire"]["enabled"] = method.retire.enabled;
  out["stop"]["finished"] =
      method.stop.finished == StopRule::kAll ? ordered_json("all") : ordered_json(method.stop.finished);
  json["sampling"] = ordered_json::object();
  for (const OptionInfo& option : decoding_options()) {
    if (option.stored.empty()) continue;
    place(json, option.stored) = option_json(option.get_stored(options));
    if (option.name == "warmup") place(json, "method/retire/keep") = number(method.retire.keep);
  }
  json["method"]["select"] = name_of(kSelectRules, method.select);
}

ordered_json account_json(const Account& account, double flops) {
  ordered_json json;
  json["steps"] = account.steps;
  json["branch_events"] = account.branch_events;
  json["branches"] = account.branches;
  json["branch_tokens"] = account.branch_tokens;
  json["unique_tokens"] = account.unique_tokens;
  json["sharing_ratio"] = number(account.sharing_ratio());
  json["fed_tokens"] = account.fed_tokens;
  json["attended_tokens"] = account.attended_tokens;
  json["prompt_tokens"] = account.prompt_tokens;
  json["peak_live"] = account.peak_live;
  json["exhausted"] = account.exhausted;
  json["retired"] = account.retired;
  json["capped_decisions"] = account.capped_decisions;
  if (account.undecided > 0) json["undecided"] = account.undecided;
  json["flops"] = number(flops);
  return json;
}

ordered_json engine_json(const EngineRecord& engine) {
  const EngineCapabilities& can = engine.capabilities;
  ordered_json json;
  json["kind"] = text_json(engine.kind);
  json["honours_draws"] = can.honours_draws;
  json["exact_statistics"] = can.exact_statistics;
  json["batch_invariant"] = can.batch_invariant;
  json["max_top_k"] = can.max_top_k == EngineCapabilities().max_top_k ? ordered_json() : ordered_json(can.max_top_k);
  return json;
}

ordered_json times_json(const TreeTimes& times) {
  ordered_json json;
  json["load"] = number(times.load);
  json["queued"] = number(times.queued);
  json["prefill"] = number(times.prefill);
  json["decode"] = number(times.decode);
  json["model"] = number(times.model);
  json["statistics"] = number(times.statistics);
  json["forks"] = number(times.forks);
  json["bookkeeping"] = number(times.bookkeeping);
  return json;
}

namespace {

ordered_json segment_json(SegmentId id, const Segment& segment, const SegmentText& segment_text) {
  ordered_json json;
  json["id"] = id;
  json["parent"] = id_or_null(segment.parent);
  json["start"] = segment.start;
  json["child"] = segment.child_index;
  json["state"] = name_of(kSegmentStates, segment.state);
  json["text"] = text_json(segment_text.text);
  const auto column = [&](const char* name, auto value_of_record) {
    ordered_json::array_t values;
    values.reserve(segment.tokens.size());
    for (const TokenRecord& record : segment.tokens) values.push_back(value_of_record(record));
    json[name] = std::move(values);
  };
  column("tokens", [](const TokenRecord& record) -> ordered_json { return record.token; });
  column("logprobs", [](const TokenRecord& record) { return number(record.logprob); });
  column("entropy", [](const TokenRecord& record) { return number(record.entropy); });
  column("varentropy", [](const TokenRecord& record) { return number(record.varentropy); });
  column("confidence", [](const TokenRecord& record) { return number(record.confidence); });
  ordered_json::array_t sizes;
  sizes.reserve(segment_text.ends.size());
  for (std::size_t i = 0; i < segment_text.ends.size(); ++i) sizes.push_back(segment_text.piece(i).size());
  json["piece_bytes"] = std::move(sizes);
  return json;
}

ordered_json finished_json(const FinishedTrace& trace) {
  ordered_json json;
  json["leaf"] = trace.leaf;
  json["length"] = trace.length;
  json["step"] = trace.step;
  json["mean_logprob"] = number(trace.mean_logprob);
  json["mean_confidence"] = number(trace.mean_confidence);
  json["lowest_confidence"] = number(trace.lowest_confidence);
  json["warmup"] = trace.warmup;
  json["answer"] = text_json(trace.answer);
  return json;
}

// Everything but the segments.
ordered_json head_json(const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  ordered_json json;
  json["format"] = kTreeFormat;
  json["version"] = kTreeVersion;
  json["model"] = text_json(document.model);
  json["question"] = text_json(document.question);
  json["answer"] = outcome.winner ? text_json(outcome.finished[*outcome.winner].answer) : ordered_json();
  json["reason"] = to_string(outcome.reason);
  json["error"] = text_json(outcome.error);
  json["prompt"]["text"] = text_json(document.prompt);
  json["prompt"]["tokens"] = document.prompt_tokens;
  json["prompt"]["opens_thinking"] = document.opens_thinking;
  for (const std::string& text : document.stop) json["prompt"]["stop"].push_back(text_json(text));
  put_options(json, document.options);
  json["top_k"] = document.options.top_k;
  json["winner"] = outcome.winner ? ordered_json(*outcome.winner) : ordered_json();
  json["best_leaf"] = id_or_null(outcome.best_leaf);
  json["confidence_bar"] = outcome.confidence_bar ? number(*outcome.confidence_bar) : ordered_json();
  json["votes"] = ordered_json::array();
  for (const AnswerCount& count : outcome.votes) {
    ordered_json vote;
    vote["answer"] = text_json(count.answer);
    vote["votes"] = count.votes;
    vote["weight"] = number(count.weight);
    vote["first"] = count.first;
    vote["shortest"] = count.shortest;
    json["votes"].push_back(std::move(vote));
  }
  json["finished"] = ordered_json::array();
  for (const FinishedTrace& trace : outcome.finished) json["finished"].push_back(finished_json(trace));
  json["account"] = account_json(outcome.account, document.flops);
  if (!document.engine.kind.empty()) json["engine"] = engine_json(document.engine);
  json["times"] = times_json(document.times);
  return json;
}

ordered_json segment_json(const TreeDocument& document, std::size_t id) {
  return segment_json(static_cast<SegmentId>(id), document.tree.segments()[id], document.texts.at(id));
}

}  // namespace

std::string to_json_text(const TreeDocument& document) {
  std::string out = "{\n";
  const ordered_json head = head_json(document);
  for (const auto& [key, value] : head.items()) {
    out += ordered_json(key).dump() + ": ";
    // Lists of objects as one object a line: that is what a person, or diff, can read.
    const bool rows = value.is_array() && !value.empty() && value.front().is_object();
    if (rows) {
      for (std::size_t i = 0; i < value.size(); ++i) out += (i == 0 ? "[\n  " : ",\n  ") + value[i].dump();
      out += "\n]";
    } else {
      out += value.dump();
    }
    out += ",\n";
  }
  // One segment at a time: a large tree as one JSON value would take several times its memory.
  out += "\"segments\": [";
  for (std::size_t id = 0; id < document.tree.segments().size(); ++id) {
    out += (id == 0 ? "\n  " : ",\n  ") + segment_json(document, id).dump();
  }
  out += "\n]\n}\n";
  return out;
}

}  // namespace dts
