#include "question/tool_calls.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;
using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;  // writing JSON recurses

// Bytes at the end of `text` that may be the beginning of `word`, but not all of it.
std::size_t begun(std::string_view text, std::string_view word) {
  for (std::size_t n = std::min(text.size(), word.size() - 1); n > 0; --n) {
    if (text.ends_with(word.substr(0, n))) return n;
  }
  return 0;
}

std::optional<Json> parsed(std::string_view text) {
  bool deep = false;
  Json json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kMaxDepth;
        return !deep;
      },
      /*allow_exceptions=*/false);
  if (deep || json.is_discarded()) return std::nullopt;
  return json;
}

// 2.0 is 2.
nlohmann::json in_order(const Json& json) {
  if (json.is_object()) {
    nlohmann::json sorted = nlohmann::json::object();
    for (const auto& [key, value] : json.items()) sorted[key] = in_order(value);
    return sorted;
  }
  if (json.is_array()) {
    nlohmann::json list = nlohmann::json::array();
    for (const Json& value : json) list.push_back(in_order(value));
    return list;
  }
  if (json.is_number_float()) {
    const auto value = json.get<double>();
    if (std::nearbyint(value) == value && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
    return value;
  }
  return nlohmann::json::parse(json.dump());
}

// Dumping must not throw for what a model said.
std::string written(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<ToolCall> call_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string()) return std::nullopt;
  auto arguments = json.find("arguments");
  if (arguments == json.end()) arguments = json.find("parameters");
  ToolCall call;
  call.name = name->get<std::string>();
  call.arguments = "{}";
  if (arguments == json.end() || arguments->is_null()) return call;
  if (arguments->is_string()) {  // JSON in JSON
    const auto inner = parsed(arguments->get<std::string>());
    if (!inner || !inner->is_object()) return std::nullopt;
    call.arguments = inner->dump(-1, ' ', false, Json::error_handler_t::replace);
    return call;
  }
  if (!arguments->is_object()) return std::nullopt;
  call.arguments = arguments->dump(-1, ' ', false, Json::error_handler_t::replace);
  return call;
}

// Where the JSON value that begins at `at` ends; npos: not in `json`. Looks at strings and brackets only.
std::size_t value_end(std::string_view json, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = at; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c != '"') continue;
      in_string = false;
    } else if (c == '"') {
      in_string = true;
      continue;
    } else if (c == '{' || c == '[') {
      ++depth;
      continue;
    } else if (c == '}' || c == ']') {
      if (--depth < 0) return i;  // a plain value ends with what is around it
    } else if (depth > 0 || (c != ',' && !is_space(c))) {
      continue;
    } else {
      return i;
    }
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// A call of which the end is missing: as far as it goes.
ToolCall cut_call_of(std::string_view json) {
  ToolCall call;
  std::size_t at = 1;  // behind the bracket
  const auto skip = [&](char also) {
    while (at < json.size() && (is_space(json[at]) || json[at] == also)) ++at;
  };
  const auto text_at = [&](std::size_t end) {
    const auto text = parsed(json.substr(at, end - at));
    return text && text->is_string() ? text->get<std::string>() : std::string();
  };
  while (true) {
    skip(',');
    const std::size_t key_end = value_end(json, at);
    if (key_end == std::string_view::npos || key_end == at) return call;
    const std::string key = text_at(key_end);
    at = key_end;
    skip(':');
    const std::size_t end = value_end(json, at);
    if (key == "arguments" || key == "parameters") call.arguments = json.substr(at, end - at);
    if (end == std::string_view::npos || end == at) return call;
    if (key == "name") call.name = text_at(end);
    at = end;
  }
}

}  // namespace

ToolReader::ToolReader(ToolSyntax syntax) : syntax_(std::move(syntax)) {}

void ToolReader::feed(std::string_view content) {
  held_ += content;
  scan();
}

void ToolReader::finish(bool cut) {
  finished_ = true;
  cut_ = cut;
  scan();
  if (!called_) content_ += std::exchange(spaces_, {});
}

void ToolReader::scan() {
  switch (syntax_.format) {
    case ToolFormat::kHermes:
      scan_tagged("<tool_call>", "</tool_call>");
      return;
    case ToolFormat::kPhi4:
      scan_tagged("<|tool_call|>", "<|/tool_call|>");
      return;
    case ToolFormat::kLlama3:
      scan_bare();
      return;
  }
}

void ToolReader::scan_tagged(std::string_view open, std::string_view close) {
  while (true) {
    if (!inside_) {
      const std::size_t at = held_.find(open);
      const bool waits = !finished_ || (cut_ && syntax_.required);
      const std::size_t until = at != std::string::npos ? at : held_.size() - (waits ? begun(held_, open) : 0);
      say(std::string_view(held_).substr(0, until));
      held_.erase(0, until);
      if (at == std::string::npos) return;
      inside_ = true;
    }
    const std::size_t end = held_.find(close, open.size());
    if (end == std::string::npos && !finished_) return;
    // A model may end its turn instead of closing the tag.
    const std::size_t json_end = std::min(end, held_.size());
    const std::size_t after = end == std::string::npos ? held_.size() : end + close.size();
    inside_ = false;
    const std::string_view json = std::string_view(held_).substr(open.size(), json_end - open.size());
    const bool cut = cut_ && end == std::string::npos;
    if (!read_calls(json, false) && !(cut && (read_cut_calls(json) || syntax_.required))) {
      say(std::string_view(held_).substr(0, after));
    }
    held_.erase(0, after);
  }
}

// All of the content is a call, or none of it: the beginning tells which it may be.
void ToolReader::scan_bare() {
  constexpr std::string_view kTag = "<|python_tag|>";
  const std::string_view text = trim(held_);
  const bool may_call =
      !plain_ && (text.empty() || text.front() == '{' || kTag.starts_with(text.substr(0, kTag.size())));
  if (may_call && !finished_) return;
  const std::string all = std::exchange(held_, {});
  if (!may_call) {
    plain_ = true;
    say(all);
    return;
  }
  std::string_view json = trim(all);
  if (json.starts_with(kTag)) json.remove_prefix(kTag.size());
  // Several are told apart by semicolons.
  std::string list = "[";
  for (const char c : json) list += c;
  list += "]";
  for (std::size_t at = list.find("};"); at != std::string::npos; at = list.find("};", at)) list[at + 1] = ',';
  if (!json.empty() && (read_calls(json, true) || read_calls(list, true))) return;
  if (cut_ && (read_cut_calls(json) || syntax_.required)) return;
  say(all);
}

bool ToolReader::read_calls(std::string_view json, bool known_names_only) {
  const auto value = parsed(json);
  if (!value) return false;
  std::vector<ToolCall> calls;
  const auto take = [&](const Json& one) {
    auto call = call_of(one);
    const auto& names = syntax_.names;
    if (!call || (known_names_only && std::find(names.begin(), names.end(), call->name) == names.end())) return false;
    calls.push_back(std::move(*call));
    return true;
  };
  if (value->is_array()) {
    if (value->empty() || !std::all_of(value->begin(), value->end(), take)) return false;
  } else if (!take(*value)) {
    return false;
  }
  for (ToolCall& call : calls) add(std::move(call));
  return true;
}

bool ToolReader::read_cut_calls(std::string_view json) {
  bool found = false;
  for (std::size_t at = json.find('{'); at < json.size(); at = json.find('{', at)) {
    const std::size_t end = value_end(json, at);
    if (end != std::string_view::npos) {
      found = read_calls(json.substr(at, end - at), /*known_names_only=*/true) || found;
      at = end;
      continue;
    }
    ToolCall call = cut_call_of(json.substr(at));
    const auto& names = syntax_.names;
    if (std::find(names.begin(), names.end(), call.name) == names.end()) break;
    last_is_cut_ = !called_ || syntax_.parallel;
    add(std::move(call));
    return true;
  }
  return found;
}

void ToolReader::add(ToolCall call) {
  spaces_.clear();
  if (called_ && !syntax_.parallel) return;
  called_ = true;
  calls_.push_back(std::move(call));
}

void ToolReader::say(std::string_view text) {
  const std::size_t words = text.find_last_not_of(" \t\r\n") + 1;  // 0: none
  if (words == 0) {
    spaces_ += text;
    return;
  }
  content_ += std::exchange(spaces_, {});
  content_ += text.substr(0, words);
  spaces_ = text.substr(words);
}

std::string ToolReader::take_content() { return std::exchange(content_, {}); }

std::vector<ToolCall> ToolReader::take_calls() { return std::exchange(calls_, {}); }

std::string canonical_json(std::string_view text) {
  const auto json = parsed(text);
  return json ? written(in_order(*json)) : std::string(trim(text));
}

std::string canonical_calls(const std::vector<ToolCall>& calls) {
  std::vector<std::string> all;
  for (const ToolCall& call : calls) all.push_back(call.name + "(" + canonical_json(call.arguments) + ")");
  std::sort(all.begin(), all.end());
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

}  // namespace dts
