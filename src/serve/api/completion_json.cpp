#include "serve/api/completion_json.h"

#include <cmath>
#include <utility>

#include "serve/api/votes_json.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using namespace text;

// JSON has no infinity; this is what OpenAI's API puts in its place.
constexpr double kImprobable = -9999.0;

// Null where it is not known, as OpenAI's lists have it; its chats have no such thing, and a token is left out there.
Json logprob_json(float logprob) {
  if (std::isnan(logprob)) return nullptr;
  return std::isfinite(logprob) ? static_cast<double>(logprob) : kImprobable;
}

Json bytes_json(const std::string& piece) {
  Json bytes = Json::array();
  for (const char byte : piece) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

Json token_json(const std::string& piece, float logprob) {
  Json json;
  json["token"] = text::valid_utf8(piece);
  json["logprob"] = logprob_json(logprob);
  json["bytes"] = bytes_json(piece);
  return json;
}

Json chat_logprobs(const std::vector<ShownToken>& tokens) {
  Json content = Json::array();
  for (const ShownToken& token : tokens) {
    if (std::isnan(token.logprob)) continue;
    Json entry = token_json(token.piece, token.logprob);
    entry["top_logprobs"] = Json::array();
    for (const ShownToken::Alternative& other : token.top) {
      entry["top_logprobs"].push_back(token_json(other.piece, other.logprob));
    }
    content.push_back(std::move(entry));
  }
  Json json;
  json["content"] = std::move(content);
  json["refusal"] = nullptr;
  return json;
}

Json text_logprobs(const ChoiceReader::Delta& delta) {
  Json json = {{"tokens", Json::array()},
               {"token_logprobs", Json::array()},
               {"top_logprobs", Json::array()},
               {"text_offset", Json::array()}};
  std::size_t offset = delta.text_offset;
  for (const ShownToken& token : delta.tokens) {
    const std::string text = text::valid_utf8(token.piece);
    json["tokens"].push_back(text);
    json["token_logprobs"].push_back(logprob_json(token.logprob));
    Json top = Json::object();
    for (const ShownToken::Alternative& other : token.top)
      top[text::valid_utf8(other.piece)] = logprob_json(other.logprob);
    json["top_logprobs"].push_back(std::move(top));
    json["text_offset"].push_back(offset);
    offset += count_characters(token.piece);
  }
  return json;
}

Json logprobs_json(CompletionKind kind, const ChoiceReader::Delta& delta, bool logprobs) {
  if (!logprobs) return nullptr;
  return kind == CompletionKind::kChat ? chat_logprobs(delta.tokens) : text_logprobs(delta);
}

Json calls_json(const ChoiceReader::Delta& delta, bool indexed) {
  Json list = Json::array();
  for (const ToolCall& call : delta.calls) {
    Json json = Json::object();
    if (indexed) json["index"] = delta.first_call + list.size();
    json["id"] = call.id;
    json["type"] = "function";
    json["function"] = {{"name", text::valid_utf8(call.name)}, {"arguments", text::valid_utf8(call.arguments)}};
    list.push_back(std::move(json));
  }
  return list;
}

Json title_json(const CompletionTitle& title, const char* object) {
  Json json;
  json["id"] = title.id;
  json["object"] = object;
  json["created"] = title.created;
  json["model"] = title.model;
  return json;
}

}  // namespace

const char* finish_reason(const Outcome& outcome, bool called) {
  if (!outcome.winner) return "length";
  return called ? "tool_calls" : "stop";
}

Json completion_json(const CompletionTitle& title) {
  return title_json(title, title.kind == CompletionKind::kChat ? "chat.completion" : "text_completion");
}

Json chunk_json(const CompletionTitle& title) {
  return title_json(title, title.kind == CompletionKind::kChat ? "chat.completion.chunk" : "text_completion");
}

Json whole_choice_json(CompletionKind kind, int index, const ChoiceReader::Delta& delta, bool logprobs,
                       const Json& finish) {
  Json json;
  json["index"] = index;
  if (kind == CompletionKind::kChat) {
    json["message"] = {{"role", "assistant"}, {"content", delta.content}, {"refusal", nullptr}};
    if (!delta.reasoning.empty()) json["message"]["reasoning_content"] = delta.reasoning;
    if (!delta.calls.empty()) {
      if (delta.content.empty()) json["message"]["content"] = nullptr;
      json["message"]["tool_calls"] = calls_json(delta, /*indexed=*/false);
    }
  } else {
    json["text"] = delta.content;
  }
  json["logprobs"] = logprobs_json(kind, delta, logprobs);
  json["finish_reason"] = finish;
  return json;
}

Json chunk_choice_json(CompletionKind kind, int index, const ChoiceReader::Delta& delta, bool logprobs, bool first,
                       const Json& finish) {
  Json json;
  json["index"] = index;
  if (kind == CompletionKind::kChat) {
    Json change = Json::object();
    if (first) change["role"] = "assistant";
    if (first && delta.content.empty()) change["content"] = "";
    if (!delta.reasoning.empty()) change["reasoning_content"] = delta.reasoning;
    if (!delta.content.empty()) change["content"] = delta.content;
    if (!delta.calls.empty()) change["tool_calls"] = calls_json(delta, /*indexed=*/true);
    json["delta"] = std::move(change);
  } else {
    json["text"] = delta.content;
  }
  json["logprobs"] = delta.tokens.empty() ? Json() : logprobs_json(kind, delta, logprobs);
  json["finish_reason"] = finish;
  return json;
}

Json progress_json(const Run& run) {
  const RunProgress progress = run.progress();
  Json json;
  json["tree"] = run.title().id;
  json["state"] = to_string(progress.state);
  json["prefilled"] = progress.prefilled;
  json["prompt_tokens"] = run.options().prompt.tokens.size();
  json["step"] = progress.step;
  json["live"] = progress.live;
  json["finished"] = progress.finished;
  json["unique_tokens"] = progress.unique_tokens;
  json["votes"] = votes_json(progress.votes);
  return json;
}

Json result_json(const Run& run, const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  const Account& account = outcome.account;
  Json json;
  json["tree"] = run.title().id;
  json["state"] = "done";
  json["method"] = document.options.method.name;
  json["seed"] = document.options.seed;
  // By its seed, whatever else is decoded.
  json["reproducible"] = document.engine.capabilities.honours_draws && document.engine.capabilities.batch_invariant;
  json["reason"] = to_string(outcome.reason);
  json["answer"] = outcome.winner ? Json(text::valid_utf8(outcome.finished[*outcome.winner].answer)) : Json();
  json["votes"] = votes_json(outcome.votes);
  json["finished"] = outcome.finished.size();
  json["branches"] = account.branches;
  json["branch_events"] = account.branch_events;
  json["unique_tokens"] = account.unique_tokens;
  json["branch_tokens"] = account.branch_tokens;
  json["steps"] = account.steps;
  json["peak_live"] = account.peak_live;
  json["exhausted"] = account.exhausted;
  json["retired"] = account.retired;
  json["seconds"] = {
      {"queued", document.times.queued}, {"prefill", document.times.prefill}, {"decode", document.times.decode}};
  return json;
}

Json usage_json(const Usage& usage) {
  Json json;
  json["prompt_tokens"] = usage.prompt_tokens;
  json["completion_tokens"] = usage.completion_tokens;
  json["total_tokens"] = usage.prompt_tokens + usage.completion_tokens;
  json["prompt_tokens_details"] = {{"cached_tokens", usage.cached_tokens}};
  json["completion_tokens_details"] = {{"reasoning_tokens", usage.completion_tokens - usage.content_tokens}};
  return json;
}

}  // namespace dts::serve
