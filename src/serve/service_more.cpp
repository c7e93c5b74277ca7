// Routes beside OpenAI's completions: its Responses, Ollama's API, and text in and out of the vocabulary.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "dts/error.h"
#include "json/field.h"
#include "serve/api/api_error.h"
#include "serve/api/body_limits.h"
#include "serve/api/completion_reply.h"
#include "serve/api/known_fields.h"
#include "serve/api/ollama.h"
#include "serve/api/option_fields.h"
#include "serve/api/responses.h"
#include "serve/api/token_list_reply.h"
#include "serve/api/token_weights.h"
#include "serve/api/tree_replies.h"
#include "serve/http/ids.h"
#include "serve/service.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

// What Ollama's clients compare: the version whose API this is.
constexpr const char* kOllamaVersion = "0.9.0";

std::unique_ptr<Reply> json_reply(const Json& json) {
  HttpResponse response;
  response.body = json.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

// The body, its keys in order.
Ordered read_body(const HttpRequest& request, const Limits& limits) {
  require_method(request, {"POST"});
  require_json(request);
  parse_body(request.body, limits);
  return parse_ordered_json(request.body, body_limits(limits));
}

// What we have below /api/.
bool is_ollama(const std::string& path) {
  constexpr std::array<std::string_view, 6> kPaths = {"version", "tags", "ps", "show", "chat", "generate"};
  return std::find(kPaths.begin(), kPaths.end(), path) != kPaths.end();
}

// An error as Ollama tells it.
std::unique_ptr<Reply> in_ollamas_words(const CompletionFormat::Make& make) {
  try {
    return make();
  } catch (const ApiError& error) {
    return std::make_unique<ReadyReply>(ollama_error(error));
  }
}

nlohmann::json sorted(const Ordered& json) { return nlohmann::json::parse(json.dump()); }

}  // namespace

Service::Routed Service::route_more(const HttpRequest& request, const Caller& caller, Handled& handled) {
  const std::string& path = request.path;
  if (path == "/v1/responses") {
    handled.route = "responses";
    handled.id = new_id("resp_");
    return on_worker_if_long(
        caller.owner, request, [this, admission = admit(caller), id = handled.id](const HttpRequest& whole) {
          CompletionFormat format;
          format.dialect = CompletionFormat::Dialect::kResponses;
          format.asked = read_body(whole, options_.limits);
          const RewrittenRequest asked = read_responses_request(format.asked);
          format.title.id = id;
          format.in_words = [names = asked.names](const CompletionFormat::Make& make) {
            return names.in_their_words(make);
          };
          return asked.names.in_their_words([&] {
            return complete_body(sorted(asked.body), asked.body, admission, CompletionKind::kChat, std::move(format));
          });
        });
  }
  if (path == "/tokenize" || path == "/detokenize" || path == "/apply-template") {
    handled.route = "text";
    // Short ones cost nothing worth a place.
    return on_worker_if_long(caller.owner, request,
                             [this, admission = is_long(request) ? admit(caller) : nullptr](const HttpRequest& whole) {
                               return text_tools(whole);
                             });
  }
  if (!path.starts_with("/api/")) return nullptr;
  const std::string below = path.substr(5);
  if (!is_ollama(below)) return nullptr;
  handled.route = "ollama";
  handled.id = new_id("ollama-");
  return in_ollamas_words([&] {
    const bool asks = below == "chat" || below == "generate";
    return on_worker_if_long(
        caller.owner, request,
        [=, this, admission = asks ? admit(caller) : nullptr, id = handled.id](const HttpRequest& whole) {
          return in_ollamas_words([&] { return ollama(whole, admission, below, id); });
        });
  });
}

Service::Routed Service::ollama(const HttpRequest& request, const std::shared_ptr<Admission>& admission,
                                const std::string& path, const std::string& id) {
  if (path == "version" || path == "tags" || path == "ps") {
    require_method(request, {"GET"});
    return json_reply(path == "version" ? Json{{"version", kOllamaVersion}} : ollama_tags_json(options_));
  }
  if (path == "show") {
    check_model(ollama_model_name(read_body(request, options_.limits)));
    return json_reply(ollama_show_json(options_, engine_.info()));
  }
  const bool generate = path == "generate";
  const OllamaRequest asked = read_ollama_request(read_body(request, options_.limits), generate);
  CompletionFormat format;
  format.dialect = generate ? CompletionFormat::Dialect::kOllamaGenerate : CompletionFormat::Dialect::kOllamaChat;
  if (asked.load) {
    check_model(ollama_model_name(asked.body));
    format.title.model = options_.model.id;
    return json_reply(ollama_loaded_json(format));
  }
  format.title.id = id;
  format.in_words = [names = asked.names](const CompletionFormat::Make& make) {
    return in_ollamas_words([&] { return names.in_their_words(make); });
  };
  return asked.names.in_their_words(
      [&] { return complete_body(sorted(asked.body), asked.body, admission, asked.kind, std::move(format)); });
}

// As llama.cpp's server has them.
Service::Routed Service::text_tools(const HttpRequest& request) {
  const Ordered ordered = read_body(request, options_.limits);
  const nlohmann::json json = sorted(ordered);
  const JsonField body(json);
  check_fields(body, request.path == "/tokenize"     ? Api::kTokenize
                     : request.path == "/detokenize" ? Api::kDetokenize
                                                     : Api::kApplyTemplate);
  const auto flag = [&](const char* name, bool otherwise) {
    return body[name].absent() ? otherwise : body[name].boolean();
  };
  try {
    if (request.path == "/tokenize") {
      const std::string& content = body["content"].string();
      // The place in the queue is given back once the tokens are known. What is kept until they have been read is
      // counted with the other replies that take long to read, and bounded in time as runs are.
      std::shared_ptr<const OpenStream> open = is_long(request) ? open_stream() : nullptr;
      std::vector<Token> tokens = flag("add_special", false)
                                      ? vocabulary_.tokenize_prompt(content)
                                      : vocabulary_.tokenize(content, flag("parse_special", true));
      return std::make_unique<TokenListReply>(std::move(tokens), flag("with_pieces", false) ? &vocabulary_ : nullptr,
                                              std::move(open), last_moment());
    }
    if (request.path == "/detokenize") {
      const JsonField list = body["tokens"];
      std::vector<Token> tokens;
      for (std::size_t i = 0; i < list.size(); ++i) {
        tokens.push_back(list.item(i).whole(0, vocabulary_.size() - 1));
      }
      return json_reply({{"content", text::valid_utf8(vocabulary_.detokenize(tokens, true))}});
    }
    const std::vector<ChatMessage> messages = read_messages(body["messages"], options_.limits);
    const ToolsAsked tools = read_tools(body, ordered, options_.limits);
    ChatOptions options;
    if (tools.shown()) options.tools = tools.list.dump();
    options.variables = read_template_variables(body);
    return json_reply({{"prompt", text::valid_utf8(vocabulary_.chat_with(messages, options).text)}});
  } catch (const Error& error) {
    throw api_error(error);
  }
}

}  // namespace dts::serve
