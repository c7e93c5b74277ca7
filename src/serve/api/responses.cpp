#include "serve/api/responses.h"

#include <fmt/format.h>

#include <utility>

#include "json/field.h"
#include "serve/api/known_fields.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

// A text that may be missing. `field`: the object's own name.
std::string word(const Ordered& object, const char* name, const std::string& field, const char* otherwise = "") {
  const Ordered* found = member(object, name);
  if (found == nullptr || found->is_null()) return otherwise;
  if (!found->is_string()) wrong_field(field + "." + name, found, "it must be a string");
  return *found;
}

// A string, or parts that are text.
Ordered text_of(const Ordered& content, const std::string& field) {
  if (content.is_string()) return content;
  if (!content.is_array()) wrong_field(field, &content, "it must be a string or a list of parts");
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Ordered& part = content[i];
    const std::string where = fmt::format("{}[{}]", field, i);
    if (!part.is_object()) wrong_field(where, &part, "it must be an object");
    const std::string type = word(part, "type", where);
    if (type != "input_text" && type != "output_text" && type != "text") {
      wrong_field(where + ".type", member(part, "type"),
                  "this model reads text only: it must be input_text or output_text");
    }
    const Ordered* said = member(part, "text");
    if (said == nullptr || !said->is_string()) wrong_field(where + ".text", said, "it must be a string");
    text += said->get<std::string>();
  }
  return text;
}

// Adds what an item of the input says; `field` is its name.
void add_item(const Ordered& item, const std::string& field, RewrittenRequest& request) {
  Ordered& messages = request.body["messages"];
  if (!item.is_object()) wrong_field(field, &item, "it must be an object");
  const std::string type = word(item, "type", field, "message");
  const std::string place = fmt::format("messages[{}]", messages.size());  // where it will be, if it is a message
  if (type == "message") {
    const Ordered* role = member(item, "role");
    const Ordered* content = member(item, "content");
    if (role == nullptr) wrong_field(field + ".role", role, "a message has a role");
    if (content == nullptr) wrong_field(field + ".content", content, "a message has a content");
    messages.push_back({{"role", *role}, {"content", text_of(*content, field + ".content")}});
    request.names.add(place, field);
  } else if (type == "function_call") {
    Ordered call = {
        {"id", word(item, "call_id", field)},
        {"type", "function"},
        {"function", {{"name", word(item, "name", field)}, {"arguments", word(item, "arguments", field, "{}")}}}};
    // Calls made together are one message.
    if (messages.empty() || messages.back()["role"] != "assistant" || !messages.back().contains("tool_calls")) {
      messages.push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Ordered::array()}});
    }
    Ordered& calls = messages.back()["tool_calls"];
    request.names.add(fmt::format("messages[{}].tool_calls[{}].function", messages.size() - 1, calls.size()), field);
    calls.push_back(std::move(call));
  } else if (type == "function_call_output") {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", word(item, "call_id", field)},
                        {"content", text_of(item.value("output", Ordered("")), field + ".output")}});
    request.names.add(place, field);
  } else if (type != "reasoning") {  // what was thought in earlier turns is not shown again
    wrong_field(field + ".type", member(item, "type"),
                "it must be message, function_call, function_call_output or reasoning");
  }
}

void read_input(const Ordered& json, RewrittenRequest& request) {
  Ordered& messages = request.body["messages"];
  messages = Ordered::array();
  request.names.add("messages", "input");
  if (const Ordered* instructions = member(json, "instructions"); instructions != nullptr && !instructions->is_null()) {
    messages.push_back({{"role", "system"}, {"content", text_of(*instructions, "instructions")}});
    request.names.add("messages[0].content", "instructions");
  }
  const Ordered* input = member(json, "input");
  if (input != nullptr && input->is_string()) {
    request.names.add(fmt::format("messages[{}].content", messages.size()), "input");
    messages.push_back({{"role", "user"}, {"content", *input}});
    return;
  }
  if (input == nullptr || !input->is_array()) wrong_field("input", input, "it must be a string or a list of items");
  for (std::size_t i = 0; i < input->size(); ++i) add_item((*input)[i], fmt::format("input[{}]", i), request);
}

void read_tools(const Ordered& json, RewrittenRequest& request) {
  Ordered& body = request.body;
  const Ordered* tools = member(json, "tools");
  if (tools != nullptr && !tools->is_null()) {
    if (!tools->is_array()) wrong_field("tools", tools, "it must be a list");
    for (std::size_t i = 0; i < tools->size(); ++i) {
      const Ordered& tool = (*tools)[i];
      const std::string field = fmt::format("tools[{}]", i);
      if (!tool.is_object()) wrong_field(field, &tool, "it must be an object");
      if (word(tool, "type", field) != "function") {
        wrong_field(field + ".type", member(tool, "type"),
                    "it must be \"function\": this server has no tools of its own");
      }
      Ordered function = tool;
      function.erase("type");
      body["tools"].push_back({{"type", "function"}, {"function", std::move(function)}});
      request.names.add(field + ".function", field);
    }
  }
  const Ordered* choice = member(json, "tool_choice");
  if (choice == nullptr || choice->is_null()) return;
  if (choice->is_object() && word(*choice, "type", "tool_choice") == "function") {
    body["tool_choice"] = {{"type", "function"}, {"function", {{"name", word(*choice, "name", "tool_choice")}}}};
    request.names.add("tool_choice.function", "tool_choice");
    return;
  }
  if (*choice != "none" && *choice != "auto" && *choice != "required") {
    wrong_field("tool_choice", choice, "it must be none, auto, required, or {\"type\": \"function\", \"name\": ...}");
  }
  body["tool_choice"] = *choice;
}

void read_text_format(const Ordered& json, RewrittenRequest& request) {
  const Ordered* text = member(json, "text");
  const Ordered* format = text == nullptr || text->is_null() ? nullptr : member(*text, "format");
  if (format == nullptr || format->is_null()) return;
  if (!format->is_object()) wrong_field("text.format", format, "it must be an object");
  Ordered& asked = request.body["response_format"];
  move_field(*format, "type", asked, "type");
  if (asked.value("type", Ordered()) == "json_schema") {
    asked["json_schema"] = {{"name", "answer"}};
    move_field(*format, "schema", asked["json_schema"], "schema");
  }
  request.names.add("response_format", "text.format");
  request.names.add("response_format.json_schema.schema", "text.format.schema");
}

void check_text(const JsonField& text) {
  if (text.absent()) return;
  text.each_member([](const std::string& name, const JsonField& value) {
    if (name == "format" || value.absent()) return;
    if (name != "verbosity") unknown_field(value.path());
    if (!value.is_word("medium")) unsupported_field(value.path(), "it must be \"medium\" or left out");
  });
}

void check_reasoning(const JsonField& reasoning) {
  if (reasoning.absent()) return;
  reasoning.each_member([](const std::string& name, const JsonField& value) {
    // All of the reasoning is in the answer, so nobody needs a summary of it.
    if (name == "effort" || name == "summary" || name == "generate_summary" || value.absent()) return;
    if (name == "mode") {
      if (!value.is_word("standard")) unsupported_field(value.path(), "it must be \"standard\" or left out");
    } else if (name == "context") {
      if (value.is_word("all_turns")) unsupported_field(value.path(), "earlier reasoning is not shown again");
    } else {
      unknown_field(value.path());
    }
  });
}

// Most of what can be included is of tools that are not here.
void check_include(const JsonField& include) {
  if (include.absent()) return;
  for (std::size_t i = 0; i < include.size(); ++i) {
    if (include.item(i).string() == "message.output_text.logprobs") {
      unsupported_field("include", "logprobs are told by /v1/chat/completions");
    }
  }
}

void check_request(const Ordered& json) {
  const nlohmann::json plain(json);
  const JsonField body(plain);
  try {
    check_fields(body, Api::kResponses);
    check_text(body["text"]);
    check_reasoning(body["reasoning"]);
    check_include(body["include"]);
  } catch (const Error& error) {
    throw api_error(error);
  }
}

}  // namespace

RewrittenRequest read_responses_request(const Ordered& json) {
  check_request(json);
  RewrittenRequest request;
  Ordered& body = request.body;
  body = Ordered::object();
  for (const char* name :
       {"model", "stream", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "dts", "parallel_tool_calls",
        "logit_bias", "presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty"}) {
    move_field(json, name, body, name);
  }
  move_field(json, "max_output_tokens", body, "max_completion_tokens");
  request.names.add("max_completion_tokens", "max_output_tokens");
  request.names.add("max_tokens", "max_output_tokens");
  if (const Ordered* reasoning = member(json, "reasoning"); reasoning != nullptr && !reasoning->is_null()) {
    move_field(*reasoning, "effort", body, "reasoning_effort");
    request.names.add("reasoning_effort", "reasoning.effort");
  }
  read_input(json, request);
  read_tools(json, request);
  read_text_format(json, request);
  return request;
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
  const auto echo = [&](const char* name, const Json& otherwise) {
    const auto found = asked.find(name);
    return found == asked.end() ? otherwise : *found;
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
