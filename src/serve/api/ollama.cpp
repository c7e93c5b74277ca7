#include "serve/api/ollama.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "serve/api/other_requests.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

// Those that would change the text and that we do not have are refused where OpenAI's fields are read.
void read_options(const Ordered& json, Ordered& body) {
  const auto options = json.find("options");
  if (options == json.end() || options->is_null()) return;
  if (!options->is_object()) wrong_field("options", "it must be an object");
  for (const char* name :
       {"temperature", "top_p", "top_k", "min_p", "seed", "stop", "repeat_penalty", "presence_penalty",
        "frequency_penalty", "mirostat", "typical_p", "tfs_z", "repeat_last_n"}) {
    move_field(*options, name, body, name);
  }
  // -1: to the end of the context; -2: the same.
  const auto predict = options->find("num_predict");
  if (predict != options->end() && predict->is_number_integer() && predict->get<std::int64_t>() < 0) return;
  move_field(*options, "num_predict", body, "max_tokens");
}

void read_format(const Ordered& json, Ordered& body) {
  const auto format = json.find("format");
  if (format == json.end() || format->is_null() || *format == "") return;
  if (*format == "json") {
    body["response_format"] = {{"type", "json_object"}};
  } else if (format->is_object()) {
    body["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"name", "format"}, {"schema", *format}}}};
  } else {
    wrong_field("format", "it must be \"json\" or a JSON schema");
  }
}

void read_think(const Ordered& json, Ordered& body) {
  const auto think = json.find("think");
  if (think == json.end() || think->is_null()) return;
  if (think->is_boolean()) {
    body["enable_thinking"] = *think;
  } else {
    body["reasoning_effort"] = *think;
  }
}

Ordered read_messages(const Ordered& messages) {
  if (!messages.is_array()) wrong_field("messages", "it must be a list");
  Ordered list = Ordered::array();
  for (const Ordered& message : messages) {
    Ordered read = message;
    if (!message.is_object()) wrong_field("messages", "each must be an object");
    const auto images = message.find("images");
    if (images != message.end() && !images->empty()) wrong_field("messages.images", "this model reads text only");
    move_field(message, "thinking", read, "reasoning_content");
    move_field(message, "tool_name", read, "name");
    list.push_back(std::move(read));
  }
  return list;
}

}  // namespace

OllamaRequest read_ollama_request(const Ordered& json, bool generate) {
  OllamaRequest request;
  Ordered& body = request.body;
  body = Ordered::object();
  move_field(json, "model", body, "model");
  // A tag that Ollama adds to every name.
  if (body.contains("model") && body["model"].is_string()) {
    std::string name = body["model"];
    if (name.ends_with(":latest")) body["model"] = name.substr(0, name.size() - 7);
  }
  body["stream"] = json.value("stream", Ordered(true));
  move_field(json, "tools", body, "tools");
  move_field(json, "dts", body, "dts");
  read_options(json, body);
  read_format(json, body);
  read_think(json, body);
  if (!generate) {
    body["messages"] = read_messages(json.value("messages", Ordered::array()));
    request.load = body["messages"].empty();
    return request;
  }
  for (const char* name : {"images", "suffix", "context", "template"}) {
    const auto field = json.find(name);
    if (field != json.end() && !field->is_null() && !field->empty() && *field != "") {
      throw ApiError(400, fmt::format("{} is not supported: leave it out", name), name, "unsupported_parameter");
    }
  }
  const Ordered prompt = json.value("prompt", Ordered(""));
  request.load = prompt == "";
  if (json.value("raw", Ordered(false)) == true) {
    request.kind = CompletionKind::kText;
    body["prompt"] = prompt;
    return request;
  }
  body["messages"] = Ordered::array();
  if (const Ordered system = json.value("system", Ordered("")); system != "") {
    body["messages"].push_back({{"role", "system"}, {"content", system}});
  }
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
  json["created_at"] = time_text(format.title.created);
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
