#include "engine/llama/chat_template.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <string_view>
#include <utility>

#include "dts/error.h"
#include "engine/llama/jinja.h"
#include "engine/llama/template_guard.h"

namespace dts {
namespace {

// The parser and the runtime recurse into expressions; a real template nests a dozen deep and is a few dozen KiB long.
constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20U;
constexpr int kMaxNesting = 200;    // of brackets in one tag, of blocks
constexpr int kMaxBranches = 1000;  // `elif`, in all
constexpr std::size_t kMaxTagTokens = 2000;

// The engine's errors quote the template over several lines and say what is wrong in the last, after "Error: ".
std::string reason(std::string_view text) {
  for (const std::string_view mark : {std::string_view("\nError: "), std::string_view("Jinja Exception: ")}) {
    if (const auto at = text.rfind(mark); at != std::string_view::npos) text.remove_prefix(at + mark.size());
  }
  return std::string(text.substr(0, text.find('\n')));
}

[[noreturn]] void refuse_unreal() {
  throw Error("the model's chat template is too large or nested too deeply to be a real one; " +
              option_name("no_template") + " goes without it");
}

// Whether the statement whose first word is tokens[at] goes on until another one ends it.
bool opens_block(const std::vector<jinja::token>& tokens, std::size_t at) {
  if (at >= tokens.size()) return false;
  const std::string_view word = tokens[at].value;
  if (word != "set") {
    constexpr std::array<std::string_view, 6> kBlocks = {"if", "for", "macro", "call", "filter", "generation"};
    return std::find(kBlocks.begin(), kBlocks.end(), word) != kBlocks.end();
  }
  for (; at < tokens.size() && tokens[at].t != jinja::token::close_statement; ++at) {
    if (tokens[at].t == jinja::token::equals) return false;
  }
  return true;
}

// Model files are untrusted, and a stack overflow cannot be caught: bound before parsing whatever the parser, the
// runtime and the destructors recurse into. That is brackets, blocks in blocks, the branches of one condition, and in
// one tag also what stands side by side, such as `not not x` and `1 + 1 + 1`.
void check_nesting(const std::vector<jinja::token>& tokens) {
  using Type = jinja::token::type;
  int brackets = 0;
  int blocks = 0;
  int branches = 0;
  std::size_t tag = 0;  // tokens of it so far
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    switch (tokens[i].t) {
      case Type::open_paren:
      case Type::open_square_bracket:
      case Type::open_curly_bracket:
        ++brackets;
        break;
      case Type::close_paren:
      case Type::close_square_bracket:
      case Type::close_curly_bracket:
        brackets = std::max(0, brackets - 1);
        break;
      case Type::open_expression:
        tag = 0;
        break;
      case Type::open_statement: {
        tag = 0;
        const std::string_view word = i + 1 < tokens.size() ? std::string_view(tokens[i + 1].value) : "";
        if (word.starts_with("end")) blocks = std::max(0, blocks - 1);
        if (word == "elif") ++branches;
        if (opens_block(tokens, i + 1)) ++blocks;
        break;
      }
      default:
        break;
    }
    const int deepest = std::max(brackets, blocks);
    if (deepest > kMaxNesting || branches > kMaxBranches || ++tag > kMaxTagTokens) refuse_unreal();
  }
}

std::string today(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

jinja::value string_value(const std::string& text, bool from_message = false) {
  auto value = jinja::mk_val<jinja::value_string>(text);
  if (from_message) value->val_str.mark_input();
  return value;
}

jinja::value json_value(const std::string& json) {
  jinja::context context;
  jinja::global_from_json(context, common_json::object({{"value", common_json::parse(json)}}), /*mark_input=*/true);
  return context.get_val("value");
}

jinja::value tool_calls_value(std::span<const ToolCall> calls, bool object_arguments) {
  auto list = jinja::mk_val<jinja::value_array>();
  for (const ToolCall& call : calls) {
    auto function = jinja::mk_val<jinja::value_object>();
    function->insert("name", string_value(call.name, /*from_message=*/true));
    function->insert("arguments", object_arguments ? json_value(call.arguments)
                                                   : jinja::value(string_value(call.arguments, /*from_message=*/true)));
    auto entry = jinja::mk_val<jinja::value_object>();
    entry->insert("id", string_value(call.id, /*from_message=*/true));
    entry->insert("type", string_value("function"));
    entry->insert("function", function);
    list->push_back(entry);
  }
  return list;
}

}  // namespace

struct [[gnu::visibility("hidden")]] ChatTemplate::Impl {
  jinja::program program;
  std::string source;
  std::string bos;
  std::string eos;
  double max_seconds = 0;
  bool typed_content = false;  // the template reads content only as [{"type": "text", "text": ...}]
  bool tools = false;
  bool object_arguments = false;  // of calls; else they are text
};

ChatTemplate::ChatTemplate(const std::string& source, std::string bos, std::string eos, double max_seconds) {
  if (source.size() > kMaxSourceBytes) refuse_unreal();
  auto impl = std::make_unique<Impl>();
  try {
    jinja::lexer lexer;
    const auto tokens = lexer.tokenize(source);
    check_nesting(tokens.tokens);
    impl->program = jinja::parse_from_tokens(tokens);
    impl->source = tokens.source;
    guard(impl->program);
    const TemplateBudget budget(max_seconds);
    const jinja::caps caps = jinja::caps_get(impl->program);
    impl->tools = caps.supports_tools;
    impl->object_arguments = caps.supports_object_arguments;
    impl->typed_content = caps.supports_typed_content && !caps.supports_string_content;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error("the model's chat template does not parse (" + reason(error.what()) + "); " +
                option_name("no_template") + " goes without it");
  }
  impl->max_seconds = max_seconds;
  impl->bos = std::move(bos);
  impl->eos = std::move(eos);
  impl_ = std::move(impl);
}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

bool ChatTemplate::supports_tools() const { return impl_->tools; }

std::vector<PromptPart> ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  std::vector<PromptPart> prompt;
  const TemplateBudget budget(impl_->max_seconds);
  try {
    auto list = jinja::mk_val<jinja::value_array>();
    for (const ChatMessage& message : messages) {
      auto entry = jinja::mk_val<jinja::value_object>();
      entry->insert("role", string_value(message.role));
      const jinja::value content = string_value(message.content, /*from_message=*/true);
      if (impl_->typed_content) {
        auto part = jinja::mk_val<jinja::value_object>();
        part->insert("type", string_value("text"));
        part->insert("text", content);
        auto parts = jinja::mk_val<jinja::value_array>();
        parts->push_back(part);
        entry->insert("content", parts);
      } else {
        entry->insert("content", content);
      }
      if (!message.tool_calls.empty()) {
        entry->insert("tool_calls", tool_calls_value(message.tool_calls, impl_->object_arguments));
      }
      const auto insert = [&](const char* key, const std::string& text) {
        if (!text.empty()) entry->insert(key, string_value(text, /*from_message=*/true));
      };
      insert("tool_call_id", message.tool_call_id);
      insert("name", message.name);
      insert("reasoning_content", message.reasoning);
      list->push_back(entry);
    }

    jinja::context context(impl_->source);
    context.set_val("enable_thinking", jinja::mk_val<jinja::value_bool>(true));
    context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(true));
    if (!options.variables.empty()) {
      jinja::global_from_json(context, common_json::parse(options.variables), /*mark_input=*/true);
    }
    context.set_val("messages", list);
    if (!options.tools.empty()) context.set_val("tools", json_value(options.tools));
    context.set_val("bos_token", string_value(impl_->bos));
    context.set_val("eos_token", string_value(impl_->eos));
    // llama.cpp's own extras, which some templates ask for.
    context.set_val("datetime", string_value(today("%b %d %Y")));
    context.set_val("date_string", string_value(today("%d %b %Y")));

    jinja::runtime runtime(context);
    const jinja::value_string text = jinja::runtime::gather_string_parts(runtime.execute(impl_->program));
    for (const jinja::string_part& part : text->val_str.parts) {
      if (!part.val.empty()) prompt.push_back({.text = part.val, .from_message = part.is_input});
    }
  } catch (const std::exception& error) {
    throw Error("the model's chat template cannot render these messages: " + reason(error.what()));
  }
  return prompt;
}

std::string plain_json(const std::string& json) {
  try {
    return common_json::parse(json).dump();
  } catch (const std::exception& error) {
    throw Error("not JSON: " + reason(error.what()));
  }
}

std::int64_t reading_work(std::string_view json) {
  constexpr std::size_t kBytes = 32;  // of a name, compared as fast as one that is short
  std::int64_t work = 0;
  std::vector<std::int64_t> members;  // so far, of each object that is open
  std::size_t name = 0;               // bytes of the last string
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t begin = at;
      for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
      name = at - begin;
    } else if (c == '{') {
      members.push_back(0);
    } else if (c == '}' || c == ':') {
      if (members.empty()) break;  // no JSON: whoever reads it stops here
      if (c == '}') {
        members.pop_back();
      } else {
        work += members.back()++ * static_cast<std::int64_t>(1 + name / kBytes);
      }
    }
  }
  return work;
}

bool opens_thinking(std::span<const PromptPart> prompt) {
  std::string tail;
  for (const PromptPart& part : prompt) {
    if (part.from_message) {
      tail.clear();
    } else {
      tail += part.text;
    }
  }
  const auto opened = tail.rfind("<think>");
  return opened != std::string::npos && tail.find("</think>", opened) == std::string::npos;
}

}  // namespace dts
