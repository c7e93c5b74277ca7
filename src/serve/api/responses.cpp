#include "serve/api/responses.h"

#include <fmt/format.h>

#include <utility>

#include "serve/api/other_requests.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

[[noreturn]] void unsupported(const std::string& field, const std::string& why) {
  throw ApiError(400, fmt::format("{} is not supported: {}", field, why), field, "unsupported_parameter");
}

// A text that may be missing.
std::string word(const Ordered& object, const char* name, const char* otherwise = "") {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return otherwise;
  if (!found->is_string()) wrong_field(name, "it must be a string");
  return *found;
}

// A string, or parts that are text.
Ordered text_of(const Ordered& content, const std::string& field) {
  if (content.is_string()) return content;
  if (!content.is_array()) wrong_field(field, "it must be a string or a list of parts");
  std::string text;
  for (const Ordered& part : content) {
    const std::string type = part.is_object() ? word(part, "type") : std::string();
    if (type != "input_text" && type != "output_text" && type != "text") {
      wrong_field(field, "this model reads text only: each part must be of type input_text or output_text");
    }
    if (!part.contains("text") || !part["text"].is_string()) wrong_field(field, "a part has no text");
    text += part["text"].get<std::string>();
  }
  return text;
}

void add_item(const Ordered& item, const std::string& field, Ordered& messages) {
  if (!item.is_object()) wrong_field(field, "it must be an object");
  const std::string type = word(item, "type", "message");
  if (type == "message") {
    if (!item.contains("role") || !item.contains("content")) wrong_field(field, "a message has a role and a content");
    messages.push_back({{"role", item["role"]}, {"content", text_of(item["content"], field + ".content")}});
  } else if (type == "function_call") {
    Ordered call = {{"id", word(item, "call_id")},
                    {"type", "function"},
                    {"function", {{"name", word(item, "name")}, {"arguments", word(item, "arguments", "{}")}}}};
    // Calls made together are one message.
    if (!messages.empty() && messages.back()["role"] == "assistant" && messages.back().contains("tool_calls")) {
      messages.back()["tool_calls"].push_back(std::move(call));
    } else {
      messages.push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Ordered::array({call})}});
    }
  } else if (type == "function_call_output") {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", word(item, "call_id")},
                        {"content", text_of(item.value("output", Ordered("")), field + ".output")}});
  } else if (type != "reasoning") {  // what was thought in earlier turns is not shown again
    unsupported(field + ".type", "it must be message, function_call, function_call_output or reasoning");
  }
}

Ordered read_input(const Ordered& json) {
  Ordered messages = Ordered::array();
  if (const auto instructions = json.find("instructions"); instructions != json.end() && !instructions->is_null()) {
    messages.push_back({{"role", "system"}, {"content", text_of(*instructions, "instructions")}});
  }
  const auto input = json.find("input");
  if (input == json.end()) wrong_field("input", "it is missing");
  if (input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
    return messages;
  }
  if (!input->is_array()) wrong_field("input", "it must be a string or a list of items");
  for (std::size_t i = 0; i < input->size(); ++i) add_item((*input)[i], fmt::format("input[{}]", i), messages);
  return messages;
}

void read_tools(const Ordered& json, Ordered& body) {
  const auto tools = json.find("tools");
  if (tools != json.end() && !tools->is_null()) {
    if (!tools->is_array()) wrong_field("tools", "it must be a list");
    for (const Ordered& tool : *tools) {
      if (!tool.is_object() || word(tool, "type") != "function") {
        unsupported("tools", "each must be of type \"function\"");
      }
      Ordered function = tool;
      function.erase("type");
      body["tools"].push_back({{"type", "function"}, {"function", std::move(function)}});
    }
  }
  const auto choice = json.find("tool_choice");
  if (choice == json.end() || choice->is_null()) return;
  if (!choice->is_object()) {
    body["tool_choice"] = *choice;
    return;
  }
  if (word(*choice, "type") != "function") {
    unsupported("tool_choice", "its type must be \"function\"");
  }
  body["tool_choice"] = {{"type", "function"}, {"function", {{"name", word(*choice, "name")}}}};
}

void read_text_format(const Ordered& json, Ordered& body) {
  const auto text = json.find("text");
  if (text == json.end() || !text->is_object()) return;
  const auto format = text->find("format");
  if (format == text->end() || !format->is_object()) return;
  const std::string type = word(*format, "type");
  if (type == "json_schema") {
    body["response_format"] = {{"type", type},
                               {"json_schema", {{"name", "answer"}, {"schema", format->value("schema", Ordered())}}}};
  } else {
    body["response_format"] = {{"type", type}};
  }
}

}  // namespace

Ordered read_responses_request(const Ordered& json) {
  for (const char* name : {"previous_response_id", "conversation", "prompt"}) {
    if (const auto field = json.find(name); field != json.end() && !field->is_null()) {
      unsupported(name, "this server keeps no conversations: send all of it as input");
    }
  }
  if (json.value("background", Ordered(false)) == true) unsupported("background", "leave it out");
  if (json.value("truncation", Ordered("disabled")) == "auto") unsupported("truncation", "it must be \"disabled\"");
  Ordered body = Ordered::object();
  for (const char* name : {"model", "stream", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "dts",
                           "parallel_tool_calls", "logit_bias", "presence_penalty", "frequency_penalty"}) {
    move_field(json, name, body, name);
  }
  move_field(json, "max_output_tokens", body, "max_completion_tokens");
  if (const auto reasoning = json.find("reasoning"); reasoning != json.end() && reasoning->is_object()) {
    move_field(*reasoning, "effort", body, "reasoning_effort");
  }
  body["messages"] = read_input(json);
  read_tools(json, body);
  read_text_format(json, body);
  return body;
}

ResponsesReply::ResponsesReply(CompletionFormat format, std::unique_ptr<CompletionRuns> runs, bool stream)
    : format_(std::move(format)), runs_(std::move(runs)), stream_(stream), reader_(runs_->all().front(), false) {}

Json ResponsesReply::part_json(const Item& item) const {
  if (item.type == "reasoning") return {{"type", "reasoning_text"}, {"text", item.text}};
  return {{"type", "output_text"}, {"text", item.text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
}

Json ResponsesReply::item_json(const Item& item) const {
  Json json;
  json["type"] = item.type;
  json["id"] = item.id;
  json["status"] = item.cut ? "incomplete" : item.done ? "completed" : "in_progress";
  if (item.type == "function_call") {
    json["call_id"] = item.call.id;
    json["name"] = item.call.name;
    json["arguments"] = item.text;
    return json;
  }
  const Json content = item.text.empty() && !item.done ? Json::array() : Json::array({part_json(item)});
  if (item.type == "reasoning") {
    json["summary"] = Json::array();
  } else {
    json["role"] = "assistant";
  }
  json["content"] = content;
  return json;
}

Json ResponsesReply::response_json(const TreeDocument* document) const {
  const Json& asked = format_.asked;
  const auto echo = [&](const char* name, Json otherwise) {
    const auto found = asked.find(name);
    return found == asked.end() ? std::move(otherwise) : *found;
  };
  const bool cut = document != nullptr && !document->outcome.winner;
  Json json;
  json["id"] = format_.title.id;
  json["object"] = "response";
  json["created_at"] = format_.title.created;
  json["status"] = document == nullptr ? "in_progress" : (cut ? "incomplete" : "completed");
  json["error"] = nullptr;
  json["incomplete_details"] = cut ? Json{{"reason", "max_output_tokens"}} : Json();
  json["instructions"] = echo("instructions", nullptr);
  json["max_output_tokens"] = echo("max_output_tokens", nullptr);
  json["model"] = format_.title.model;
  json["output"] = Json::array();
  for (const Item& item : items_) json["output"].push_back(item_json(item));
  json["parallel_tool_calls"] = echo("parallel_tool_calls", true);
  json["previous_response_id"] = nullptr;
  json["reasoning"] = echo("reasoning", {{"effort", nullptr}, {"summary", nullptr}});
  json["store"] = false;
  json["temperature"] = echo("temperature", nullptr);
  json["text"] = echo("text", {{"format", {{"type", "text"}}}});
  json["tool_choice"] = echo("tool_choice", "auto");
  json["tools"] = echo("tools", Json::array());
  json["top_p"] = echo("top_p", nullptr);
  json["truncation"] = "disabled";
  json["metadata"] = echo("metadata", Json::object());
  json["usage"] = nullptr;
  if (document == nullptr) return json;
  const Usage usage = usage_of(*runs_, reader_.content_tokens());
  json["usage"] = {{"input_tokens", usage.prompt_tokens},
                   {"input_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
                   {"output_tokens", usage.completion_tokens},
                   {"output_tokens_details", {{"reasoning_tokens", usage.completion_tokens - usage.content_tokens}}},
                   {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
  json["dts"] = result_json(*runs_->all().front(), *document);
  return json;
}

void ResponsesReply::add_event(std::string& out, const char* type, Json data) {
  if (!stream_) return;
  Json event;
  event["type"] = type;
  event["sequence_number"] = sequence_++;
  for (auto& [key, value] : data.items()) event[key] = value;
  out += fmt::format("event: {}\ndata: {}\n\n", type, event.dump());
}

ResponsesReply::Item& ResponsesReply::open_item(const std::string& type, std::string& out) {
  if (!items_.empty() && !items_.back().done && items_.back().type == type) return items_.back();
  close_item(out);
  const char* prefix = type == "reasoning" ? "rs" : (type == "message" ? "msg" : "fc");
  items_.push_back({type, fmt::format("{}_{}_{}", prefix, format_.title.id, items_.size()), {}, {}});
  return items_.back();
}

void ResponsesReply::close_item(std::string& out) {
  if (items_.empty() || items_.back().done) return;
  Item& item = items_.back();
  item.done = true;
  const std::size_t index = items_.size() - 1;
  Json at = {{"item_id", item.id}, {"output_index", index}};
  if (item.type == "function_call") {
    at["arguments"] = item.text;
    at["name"] = item.call.name;
    add_event(out, "response.function_call_arguments.done", at);
  } else {
    at["content_index"] = 0;
    Json text = at;
    text["text"] = item.text;
    if (item.type == "message") text["logprobs"] = Json::array();
    add_event(out, item.type == "message" ? "response.output_text.done" : "response.reasoning_text.done", text);
    at["part"] = part_json(item);
    add_event(out, "response.content_part.done", at);
  }
  add_event(out, "response.output_item.done", {{"output_index", index}, {"item", item_json(item)}});
}

void ResponsesReply::absorb(const ChoiceReader::Delta& delta, std::string& out) {
  const auto say = [&](const std::string& type, const std::string& text) {
    if (text.empty()) return;
    const std::size_t before = items_.size();
    Item& item = open_item(type, out);
    const std::size_t index = items_.size() - 1;
    const Json at = {{"item_id", item.id}, {"output_index", index}, {"content_index", 0}};
    if (items_.size() > before) {
      add_event(out, "response.output_item.added", {{"output_index", index}, {"item", item_json(item)}});
      Json part = at;
      part["part"] = part_json(item);
      add_event(out, "response.content_part.added", part);
    }
    item.text += text;
    Json change = at;
    change["delta"] = text;
    if (type == "message") change["logprobs"] = Json::array();
    add_event(out, type == "message" ? "response.output_text.delta" : "response.reasoning_text.delta", change);
  };
  say("reasoning", delta.reasoning);
  say("message", delta.content);
  for (const ToolCall& call : delta.calls) {
    close_item(out);
    Item& item = open_item("function_call", out);
    item.call = call;
    const std::size_t index = items_.size() - 1;
    add_event(out, "response.output_item.added", {{"output_index", index}, {"item", item_json(item)}});
    item.text = call.arguments;
    add_event(out, "response.function_call_arguments.delta",
              {{"item_id", item.id}, {"output_index", index}, {"delta", call.arguments}});
    item.cut = delta.last_call_is_cut && &call == &delta.calls.back();
    close_item(out);
  }
  // What is said last when a budget ended it is not all there was to say.
  const auto document = delta.done ? runs_->all().front()->document() : nullptr;
  if (document && !document->outcome.winner && !items_.empty() && !items_.back().done) items_.back().cut = true;
}

std::optional<HttpResponse> ResponsesReply::head() {
  HttpResponse response;
  if (stream_) {
    response.content_type = "text/event-stream";
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
  }
  const auto document = runs_->all().front()->document();
  if (!document) return std::nullopt;
  if (const auto failure = failure_of(*runs_->all().front(), format_)) return error_response(*failure);
  std::string unused;
  absorb(reader_.read(), unused);
  close_item(unused);
  response.body = response_json(document.get()).dump();
  return response;
}

Reply::Piece ResponsesReply::next() {
  Piece piece;
  if (!std::exchange(begun_, true)) {
    add_event(piece.data, "response.created", {{"response", response_json(nullptr)}});
    add_event(piece.data, "response.in_progress", {{"response", response_json(nullptr)}});
  }
  const ChoiceReader::Delta delta = reader_.read();
  const auto document = delta.done ? runs_->all().front()->document() : nullptr;
  if (document) {
    if (const auto failure = failure_of(*runs_->all().front(), format_)) {
      add_event(piece.data, "error", {{"code", failure->code()}, {"message", failure->what()}, {"param", nullptr}});
      piece.end = true;
      return piece;
    }
  }
  absorb(delta, piece.data);
  if (document) {
    close_item(piece.data);
    const char* type = document->outcome.winner ? "response.completed" : "response.incomplete";
    add_event(piece.data, type, {{"response", response_json(document.get())}});
    piece.end = true;
  }
  return piece;
}

}  // namespace dts::serve
