#include "serve/api/ollama.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "json/field.h"
#include "serve/api/known_fields.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

// Those that would change the text and that we do not have are refused where OpenAI's fields are read.
void read_options(const Ordered& json, OllamaRequest& request) {
  const Ordered* options = member(json, "options");
  if (options == nullptr || options->is_null()) return;
  if (!options->is_object()) wrong_field("options", options, "it must be an object");
  for (const char* name :
       {"temperature", "top_p", "top_k", "min_p", "seed", "stop", "repeat_penalty", "presence_penalty",
        "frequency_penalty", "mirostat", "typical_p", "tfs_z", "repeat_last_n"}) {
    move_field(*options, name, request.body, name);
    request.names.add(name, std::string("options.") + name);
  }
  // -1: to the end of the context; -2: the same.
  const Ordered* predict = member(*options, "num_predict");
  if (predict != nullptr && predict->is_number_integer() && predict->get<std::int64_t>() < 0) return;
  move_field(*options, "num_predict", request.body, "max_tokens");
  request.names.add("max_tokens", "options.num_predict");
}

void read_format(const Ordered& json, OllamaRequest& request) {
  const Ordered* format = member(json, "format");
  const bool empty = format != nullptr && format->is_string() && format->get_ref<const std::string&>().empty();
  if (format == nullptr || format->is_null() || empty) return;
  Ordered& asked = request.body["response_format"];
  if (*format == "json") {
    asked = {{"type", "json_object"}};
  } else if (format->is_object()) {
    asked = {{"type", "json_schema"}, {"json_schema", {{"name", "format"}, {"schema", *format}}}};
  } else {
    wrong_field("format", format, "it must be \"json\" or a JSON schema");
  }
  request.names.add("response_format", "format");
  request.names.add("response_format.json_schema.schema", "format");
}

void read_think(const Ordered& json, OllamaRequest& request) {
  const Ordered* think = member(json, "think");
  if (think == nullptr || think->is_null()) return;
  if (think->is_boolean()) {
    request.body["enable_thinking"] = *think;
  } else if (think->is_string()) {
    request.body["reasoning_effort"] = *think;
  } else {
    wrong_field("think", think, "it must be true, false, or how much: low, medium, high");
  }
  request.names.add("reasoning_effort", "think");
}

// A string; empty where there is none.
std::string read_text(const Ordered& json, const char* name) {
  const Ordered* text = member(json, name);
  if (text == nullptr || text->is_null()) return "";
  if (!text->is_string()) wrong_field(name, text, "it must be a string");
  return *text;
}

bool read_flag(const Ordered& json, const char* name, bool otherwise) {
  const Ordered* flag = member(json, name);
  if (flag == nullptr || flag->is_null()) return otherwise;
  if (!flag->is_boolean()) wrong_field(name, flag, "it must be true or false");
  return *flag;
}

void add_system(const Ordered& json, OllamaRequest& request) {
  const std::string system = read_text(json, "system");
  if (system.empty()) return;
  request.body["messages"].push_back({{"role", "system"}, {"content", system}});
  request.names.add("messages[0].content", "system");
}

void read_messages(const Ordered& json, OllamaRequest& request) {
  const Ordered* messages = member(json, "messages");
  request.load = messages == nullptr || messages->is_null() || messages->empty();
  if (messages == nullptr || messages->is_null()) return;
  if (!messages->is_array()) wrong_field("messages", messages, "it must be a list");
  add_system(json, request);
  Ordered& list = request.body["messages"];
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const Ordered& message = (*messages)[i];
    const std::string field = fmt::format("messages[{}]", i);
    if (!message.is_object()) wrong_field(field, &message, "it must be an object");
    const Ordered* images = member(message, "images");
    if (images != nullptr && !images->empty()) wrong_field(field + ".images", images, "this model reads text only");
    Ordered read = message;
    const std::string place = fmt::format("messages[{}]", list.size());
    if (place != field) request.names.add(place, field);
    const auto move = [&](const char* theirs, const char* ours) {
      if (!message.contains(theirs)) return;
      move_field(message, theirs, read, ours);
      request.names.add(place + "." + ours, field + "." + theirs);
    };
    move("thinking", "reasoning_content");
    move("tool_name", "name");
    list.push_back(std::move(read));
  }
}

}  // namespace

std::string ollama_model_name(const Ordered& json) {
  std::string name = read_text(json, json.contains("model") ? "model" : "name");
  // A tag that Ollama adds to every name.
  constexpr std::string_view kLatest = ":latest";
  if (name.ends_with(kLatest)) name.resize(name.size() - kLatest.size());
  return name;
}

OllamaRequest read_ollama_request(const Ordered& json, bool generate) {
  const nlohmann::json plain(json);
  check_fields(JsonField(plain), generate ? Api::kOllamaGenerate : Api::kOllamaChat);
  OllamaRequest request;
  Ordered& body = request.body;
  body = Ordered::object();
  if (const std::string name = ollama_model_name(json); !name.empty()) body["model"] = name;
  body["stream"] = read_flag(json, "stream", true);
  move_field(json, "tools", body, "tools");
  move_field(json, "dts", body, "dts");
  read_options(json, request);
  read_format(json, request);
  read_think(json, request);
  body["messages"] = Ordered::array();
  if (!generate) {
    read_messages(json, request);
    return request;
  }
  const std::string prompt = read_text(json, "prompt");
  request.load = prompt.empty();
  if (read_flag(json, "raw", false)) {
    constexpr const char* kAsItIs = "a raw prompt is given to the model as it is";
    if (!read_text(json, "system").empty()) unsupported_field("system", kAsItIs);
    if (body.contains("reasoning_effort") || body.value("enable_thinking", false)) unsupported_field("think", kAsItIs);
    body.erase("enable_thinking");
    request.kind = CompletionKind::kText;
    body.erase("messages");
    body["prompt"] = prompt;
    return request;
  }
  request.names.add("messages", "prompt");
  add_system(json, request);
  request.names.add(fmt::format("messages[{}].content", body["messages"].size()), "prompt");
  body["messages"].push_back({{"role", "user"}, {"content", prompt}});
  return request;
}

OllamaReply::OllamaReply(CompletionFormat format, std::unique_ptr<CompletionRuns> runs, bool stream)
    : format_(std::move(format)), runs_(std::move(runs)), stream_(stream), reader_(runs_->all().front(), false) {}

Json OllamaReply::line(const ChoiceReader::Delta& delta) const {
  Json json;
  json["model"] = format_.title.model;
  json["created_at"] = time_text(format_.title.created);
  if (format_.dialect == CompletionFormat::Dialect::kOllamaGenerate) {
    json["response"] = delta.content;
    if (!delta.reasoning.empty()) json["thinking"] = delta.reasoning;
  } else {
    Json message = {{"role", "assistant"}, {"content", delta.content}};
    if (!delta.reasoning.empty()) message["thinking"] = delta.reasoning;
    for (const ToolCall& call : delta.calls) {
      // Arguments are an object here: there is no way to tell those of a call that was cut.
      Json arguments = Json::parse(call.arguments, nullptr, /*allow_exceptions=*/false);
      if (arguments.is_discarded()) continue;
      message["tool_calls"].push_back({{"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}});
    }
    json["message"] = std::move(message);
  }
  json["done"] = false;
  return json;
}

void OllamaReply::add_end(Json& json, const TreeDocument& document) const {
  const Outcome& outcome = document.outcome;
  json["done"] = true;
  json["done_reason"] = outcome.winner ? "stop" : "length";
  json["total_duration"] = nanoseconds(document.times.queued + document.times.prefill + document.times.decode);
  json["load_duration"] = 0;
  json["prompt_eval_count"] = outcome.account.prompt_tokens;
  json["prompt_eval_duration"] = nanoseconds(document.times.prefill);
  json["eval_count"] = outcome.account.unique_tokens;
  json["eval_duration"] = nanoseconds(document.times.decode);
  json["dts"] = result_json(*runs_->all().front(), document);
}

std::optional<HttpResponse> OllamaReply::head() {
  HttpResponse response;
  if (stream_) {
    response.content_type = "application/x-ndjson";
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
  }
  const auto document = runs_->all().front()->document();
  if (!document) return std::nullopt;
  if (const auto failure = failure_of(*runs_->all().front(), format_)) return ollama_error(*failure);
  Json json = line(reader_.read());
  add_end(json, *document);
  response.body = json.dump();
  return response;
}

Reply::Piece OllamaReply::next() {
  Piece piece;
  const ChoiceReader::Delta delta = reader_.read();
  const auto document = delta.done ? runs_->all().front()->document() : nullptr;
  if (document) {
    if (const auto failure = failure_of(*runs_->all().front(), format_)) {
      return {Json{{"error", failure->what()}}.dump() + "\n", true};
    }
  }
  if (!delta.content.empty() || !delta.reasoning.empty() || !delta.calls.empty())
    piece.data = line(delta).dump() + "\n";
  if (document) {
    Json last = line({});
    add_end(last, *document);
    piece.data += last.dump() + "\n";
    piece.end = true;
  }
  return piece;
}

HttpResponse ollama_error(const ApiError& error) {
  HttpResponse response = error_response(error);
  response.body = Json{{"error", error.what()}}.dump();
  return response;
}

Json ollama_loaded_json(const CompletionFormat& format) {
  Json json;
  json["model"] = format.title.model;
  json["created_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
  if (format.dialect == CompletionFormat::Dialect::kOllamaGenerate) {
    json["response"] = "";
  } else {
    json["message"] = {{"role", "assistant"}, {"content", ""}};
  }
  json["done"] = true;
  json["done_reason"] = "load";
  return json;
}

namespace {

Json details_json(const ServedModel& model) {
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", "dts"},
          {"families", Json::array({"dts"})},
          {"parameter_size", fmt::format("{:.1f}M", static_cast<double>(model.parameters) / 1e6)},
          {"quantization_level", ""}};
}

}  // namespace

Json ollama_tags_json(const ServiceOptions& options) {
  Json list = Json::array();
  const auto add = [&](const std::string& name) {
    list.push_back({{"name", name},
                    {"model", name},
                    {"modified_at", time_text(options.model.created)},
                    {"size", 0},
                    {"digest", ""},
                    {"details", details_json(options.model)}});
  };
  add(options.model.id);
  for (const MethodInfo& method : methods()) add(options.model.id + ":" + std::string(method.name));
  return {{"models", std::move(list)}};
}

Json ollama_show_json(const ServiceOptions& options, const EngineInfo& engine) {
  return {{"modelfile", ""},
          {"parameters", ""},
          {"template", ""},
          {"details", details_json(options.model)},
          {"model_info",
           {{"general.architecture", "dts"},
            {"general.parameter_count", options.model.parameters},
            {"dts.context_length", engine.context_length}}},
          {"capabilities", Json::array({"completion", "tools", "thinking"})},
          {"modified_at", time_text(options.model.created)}};
}

}  // namespace dts::serve
