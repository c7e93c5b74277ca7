#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/words.h"
#include "dts/error.h"
#include "dts/options.h"
#include "json/field.h"
#include "json/option_json.h"
#include "tree_file/tree_json.h"

namespace dts {
namespace {

// What follows from the options: how many start, which rules are on.
Method read_method(const JsonField& json) {
  Method method;
  method.name = json["name"].string();
  method.width = json["width"].whole(1);
  method.branch.enabled = json["branch"]["enabled"].boolean();
  method.retire.enabled = json["retire"]["enabled"].boolean();
  method.retire.keep = json["retire"]["keep"].number();
  const JsonField finished = json["stop"]["finished"];
  method.stop.finished = finished.is_word("all") ? StopRule::kAll : finished.whole(1);
  method.select = json["select"].one_of(kSelectRules);
  return method;
}

// "method/branch/k"
JsonField field_at(const JsonField& json, std::string_view path) {
  const std::size_t slash = path.find('/');
  const JsonField member = json[path.substr(0, slash)];
  return slash == std::string_view::npos ? member : field_at(member, path.substr(slash + 1));
}

SearchOptions read_options(const JsonField& json) {
  SearchOptions options;
  options.method = read_method(json["method"]);
  for (const OptionInfo& option : decoding_options()) {
    if (option.stored.empty()) continue;
    const JsonField field = field_at(json, option.stored);
    if (option.newer && field.absent()) continue;
    option.set_stored(options, read_stored_option(option, field));
  }
  options.top_k = json["top_k"].whole(0);
  return options;
}

// One column of a segment's tokens.
template <typename Set>
void read_column(const JsonField& json, std::vector<TokenRecord>& tokens, Set set) {
  if (json.size() != tokens.size()) {
    json.fail("it must be as long as the segment's tokens, " + std::to_string(tokens.size()));
  }
  std::size_t i = 0;
  json.each([&](const JsonField& item) { set(tokens[i++], item); });
}

SegmentText read_text(const JsonField& json, std::size_t n_tokens) {
  SegmentText text;
  text.text = json["text"].string();
  const JsonField sizes = json["piece_bytes"];
  if (sizes.size() != n_tokens) sizes.fail("it must be as long as the segment's tokens, " + std::to_string(n_tokens));
  std::size_t end = 0;
  text.ends.reserve(n_tokens);
  sizes.each([&](const JsonField& size) {
    end += static_cast<std::size_t>(size.integer(0, static_cast<std::int64_t>(text.text.size() - end)));
    // The parser has made sure of valid UTF-8: only the cuts can be wrong.
    const bool within_character =
        end < text.text.size() && (static_cast<unsigned char>(text.text[end]) & 0xC0U) == 0x80U;
    if (within_character) size.fail("it cuts a character of the text in two");
    text.ends.push_back(static_cast<std::uint32_t>(end));
  });
  if (end != text.text.size()) sizes.fail("its sum must be the bytes of the text, " + std::to_string(text.text.size()));
  return text;
}

void read_segments(const JsonField& json, TreeDocument& document, const std::string& name) {
  std::vector<Segment> segments;
  segments.reserve(json.size());
  json.each([&](const JsonField& item) {
    Segment segment;
    const auto id = static_cast<SegmentId>(segments.size());
    item["id"].whole(id, id);
    const JsonField parent = item["parent"];
    // Parents come before their children, which is also what rules out cycles.
    if (!parent.is_null()) segment.parent = static_cast<SegmentId>(parent.index(segments.size()));
    segment.start = item["start"].whole(0);
    segment.child_index = item["child"].whole(0);
    segment.state = item["state"].one_of(kSegmentStates);
    segment.tokens.resize(item["tokens"].size());
    read_column(item["tokens"], segment.tokens, [](TokenRecord& r, const JsonField& v) { r.token = v.whole(0); });
    read_column(item["logprobs"], segment.tokens, [](TokenRecord& r, const JsonField& v) { r.logprob = v.real(); });
    read_column(item["entropy"], segment.tokens, [](TokenRecord& r, const JsonField& v) { r.entropy = v.real(); });
    read_column(item["varentropy"], segment.tokens,
                [](TokenRecord& r, const JsonField& v) { r.varentropy = v.real(); });
    read_column(item["confidence"], segment.tokens,
                [](TokenRecord& r, const JsonField& v) { r.confidence = v.real(); });
    document.texts.push_back(read_text(item, segment.tokens.size()));
    if (segment.parent != kNoSegment) {
      std::vector<SegmentId>& siblings = segments[static_cast<std::size_t>(segment.parent)].children;
      item["child"].whole(static_cast<int>(siblings.size()), static_cast<int>(siblings.size()));
      siblings.push_back(id);
    }
    segments.push_back(std::move(segment));
  });
  try {
    document.tree = Tree::from_segments(std::move(segments));
  } catch (const Error& error) {
    throw Error(name + ": segments: " + error.what());
  }
}

SegmentId read_leaf(const JsonField& json, const Tree& tree) {
  const auto leaf = static_cast<SegmentId>(json.index(tree.segments().size()));
  if (!tree.segment(leaf).children.empty()) json.fail("it must be a segment without children");
  return leaf;
}

Account read_account(const JsonField& json) {
  Account account;
  account.steps = json["steps"].whole(0);
  account.branch_events = json["branch_events"].count();
  account.branches = json["branches"].count();
  account.branch_tokens = json["branch_tokens"].count();
  account.unique_tokens = json["unique_tokens"].count();
  account.fed_tokens = json["fed_tokens"].count();
  account.attended_tokens = json["attended_tokens"].count();
  account.prompt_tokens = json["prompt_tokens"].count();
  account.peak_live = json["peak_live"].whole(0);
  account.exhausted = json["exhausted"].whole(0);
  account.retired = json["retired"].whole(0);
  account.capped_decisions = json["capped_decisions"].whole(0);
  if (!json["undecided"].absent()) account.undecided = json["undecided"].count();
  return account;
}

StopReason read_reason(const JsonField& json) {
  const std::string& word = json.string();
  std::string words;
  for (const StopReason reason : kStopReasons) {
    if (word == to_string(reason)) return reason;
    words += (words.empty() ? "" : ", ") + std::string(to_string(reason));
  }
  json.fail("it must be one of " + words);
}

Outcome read_outcome(const JsonField& json, const Tree& tree) {
  Outcome outcome;
  outcome.reason = read_reason(json["reason"]);
  outcome.error = json["error"].string();
  json["finished"].each([&](const JsonField& item) {
    FinishedTrace trace;
    trace.leaf = read_leaf(item["leaf"], tree);
    const Segment& segment = tree.segment(trace.leaf);
    if (segment.state != SegmentState::kFinished) item["leaf"].fail("that segment's state is not finished");
    trace.length = item["length"].whole(segment.end(), segment.end());
    trace.step = item["step"].whole(1);
    trace.mean_logprob = item["mean_logprob"].number();
    trace.mean_confidence = item["mean_confidence"].number();
    trace.lowest_confidence = item["lowest_confidence"].number();
    trace.warmup = item["warmup"].boolean();
    trace.answer = item["answer"].string();
    outcome.finished.push_back(std::move(trace));
  });
  json["votes"].each([&](const JsonField& item) {
    AnswerCount count;
    count.answer = item["answer"].string();
    count.votes = item["votes"].whole(1, static_cast<int>(outcome.finished.size()));
    count.weight = item["weight"].number();
    count.first = static_cast<int>(item["first"].index(outcome.finished.size()));
    count.shortest = static_cast<int>(item["shortest"].index(outcome.finished.size()));
    outcome.votes.push_back(std::move(count));
  });
  if (!json["winner"].is_null()) outcome.winner = json["winner"].index(outcome.finished.size());
  if (!json["best_leaf"].is_null()) outcome.best_leaf = read_leaf(json["best_leaf"], tree);
  if (!json["confidence_bar"].is_null()) outcome.confidence_bar = json["confidence_bar"].number();
  outcome.account = read_account(json["account"]);
  return outcome;
}

TreeTimes read_times(const JsonField& json) {
  TreeTimes times;
  times.load = json["load"].number();
  times.queued = json["queued"].number();
  times.prefill = json["prefill"].number();
  times.decode = json["decode"].number();
  times.model = json["model"].number();
  times.statistics = json["statistics"].number();
  times.forks = json["forks"].number();
  times.bookkeeping = json["bookkeeping"].number();
  return times;
}

// Files of earlier versions have none.
EngineRecord read_engine(const JsonField& json) {
  EngineRecord engine;
  if (json.absent()) return engine;
  engine.kind = json["kind"].string();
  engine.capabilities.honours_draws = json["honours_draws"].boolean();
  engine.capabilities.exact_statistics = json["exact_statistics"].boolean();
  engine.capabilities.batch_invariant = json["batch_invariant"].boolean();
  if (!json["max_top_k"].absent()) engine.capabilities.max_top_k = json["max_top_k"].whole(0);
  return engine;
}

}  // namespace

TreeDocument tree_from_json(const nlohmann::json& json, const std::string& name) {
  const JsonField root(json, name);
  if (!root["format"].is_word(kTreeFormat)) root["format"].fail("this is no tree file, whose format is \"dts-tree\"");
  if (root["version"].integer(1, std::numeric_limits<int>::max()) != kTreeVersion) {
    root["version"].fail("this program reads version " + std::to_string(kTreeVersion));
  }
  TreeDocument document;
  document.model = root["model"].string();
  document.question = root["question"].string();
  document.prompt = root["prompt"]["text"].string();
  root["prompt"]["tokens"].each([&](const JsonField& token) { document.prompt_tokens.push_back(token.whole(0)); });
  document.opens_thinking = root["prompt"]["opens_thinking"].boolean();
  if (const auto stop = root["prompt"]["stop"]; !stop.absent()) {
    for (std::size_t i = 0; i < stop.size(); ++i) document.stop.push_back(stop.item(i).string());
  }
  document.options = read_options(root);
  read_segments(root["segments"], document, name);
  document.outcome = read_outcome(root, document.tree);
  document.engine = read_engine(root["engine"]);
  document.times = read_times(root["times"]);
  document.flops = root["account"]["flops"].number();
  return document;
}

}  // namespace dts
