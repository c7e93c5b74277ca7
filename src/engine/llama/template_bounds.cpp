#include "engine/llama/template_bounds.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "engine/llama/template_guard.h"

namespace dts {
namespace {

// Real templates nest half a dozen deep; prompts are as long as a context holds.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;
constexpr std::size_t kMaxCompared = 10'000;  // items that are compared with each other
constexpr std::size_t kMaxPieces = 100'000;   // that a string is cut into
constexpr std::int64_t kMaxIndent = 100;

void add(const jinja::value& value, int depth, Extent& extent) {
  if (depth > kMaxDepth) throw std::runtime_error("a list or object is nested too deeply for a chat template");
  extent.depth = std::max(extent.depth, depth);
  for (const jinja::string_part& part : value->val_str.parts) extent.bytes += part.val.size();
  extent.nodes += 1 + value->val_str.parts.size();
  if (extent.nodes > kMaxNodes || extent.bytes > kMaxBytes) {
    throw std::runtime_error("a value is too large for a chat template");
  }
  for (const jinja::value& item : value->val_arr) add(item, depth + 1, extent);
  for (const auto& [key, item] : value->val_obj) {
    add(key, depth + 1, extent);
    add(item, depth + 1, extent);
  }
  if (const auto* named = jinja::cast_val<jinja::value_kwarg>(value)) add(named->val, depth, extent);
}

const jinja::value& plain(const jinja::value& argument) {
  const auto* named = jinja::cast_val<jinja::value_kwarg>(argument);
  return named != nullptr ? named->val : argument;
}

bool is_text(const jinja::value& value) { return jinja::is_val<jinja::value_string>(value); }

std::size_t occurrences(std::string_view text, std::string_view of) {
  if (of.empty()) return text.size() + 1;
  std::size_t count = 0;
  for (std::size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + of.size())) ++count;
  return count;
}

std::size_t items_of(const jinja::value& value) { return std::max(value->val_arr.size(), value->val_obj.size()); }

// What `name` would make of arguments that are within the bounds themselves.
void estimate(std::string_view name, const std::vector<jinja::value>& arguments, const Extent& all) {
  if (arguments.empty()) return;
  const jinja::value& self = plain(arguments.front());
  const auto bytes = static_cast<double>(all.bytes);
  std::int64_t largest = 0;
  std::size_t longest = 0;  // of the strings beside `self`
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const jinja::value& argument = plain(arguments[i]);
    if (jinja::is_val<jinja::value_int>(argument)) largest = std::max(largest, argument->as_int());
    if (is_text(argument)) longest = std::max(longest, argument->val_str.length());
  }
  if (name == "replace" && is_text(self) && arguments.size() > 2 && is_text(plain(arguments[1]))) {
    const std::size_t found = occurrences(self->val_str.str(), plain(arguments[1])->val_str.str());
    check_bytes(bytes + static_cast<double>(found) * static_cast<double>(longest));
  } else if (name == "tojson" || name == "string" || name == "safe" || name == "indent") {
    if (largest > kMaxIndent) throw std::runtime_error("an indentation is too wide for a chat template");
    const std::size_t lines = is_text(self) ? 1 + occurrences(self->val_str.str(), "\n") : all.nodes;
    const double each = static_cast<double>(longest) * 2 + static_cast<double>(largest) * (all.depth + 1);
    check_bytes(bytes * 2 + static_cast<double>(lines) * each);
  } else if (name == "join") {
    check_bytes(bytes + static_cast<double>(all.nodes) * static_cast<double>(longest));
  } else if ((name == "split" || name == "rsplit" || name == "list") && is_text(self)) {
    const std::string text = self->val_str.str();
    const bool by_text = name != "list" && arguments.size() > 1 && is_text(plain(arguments[1]));
    const std::size_t pieces = by_text ? occurrences(text, plain(arguments[1])->val_str.str()) : text.size();
    if (pieces > (by_text || name == "list" ? kMaxPieces : kMaxBytes)) {
      throw std::runtime_error("a string is cut into too many pieces for a chat template");
    }
  } else if (name == "unique" || name == "sort" || name == "dictsort" || name == "min" || name == "max") {
    if (items_of(self) > kMaxCompared) throw std::runtime_error("a list is too long to be sorted by a chat template");
  }
}

jinja::func_handler guarded(const std::string& name, jinja::func_handler plain_function) {
  return [name, function = std::move(plain_function)](const jinja::func_args& args) -> jinja::value {
    const TemplateBudget* budget = TemplateBudget::of_thread();
    if (budget == nullptr) return function(args);
    budget->check();
    Extent all;
    int put = 0;  // how deep what is put into a list is
    for (const jinja::value& argument : args.get_args()) {
      const Extent extent = measure(argument);
      if (&argument != &args.get_args().front()) put = std::max(put, extent.depth);
      all.depth = std::max(all.depth, extent.depth);
      all.nodes += extent.nodes;
      all.bytes += extent.bytes;
    }
    estimate(name, args.get_args(), all);
    if (name != "append") return function(args);
    budget->charge_nesting(put);
    jinja::value result = function(args);
    const jinja::value list = args.get_pos(0);
    try {
      measure(list);
    } catch (const std::exception&) {
      list->val_arr.pop_back();  // one that holds itself would never be freed
      throw;
    }
    return result;
  };
}

// The maps are the engine's own and constant to everybody; their functions are objects like others, and are replaced
// once, before the first template runs.
void guard_all(const jinja::func_builtins& builtins) {
  for (const auto& [name, function] : builtins) {
    auto& replaced = const_cast<jinja::func_handler&>(function);
    replaced = guarded(name, std::move(replaced));
  }
}

}  // namespace

Extent measure(const jinja::value& value) {
  Extent extent;
  add(value, 0, extent);
  return extent;
}

void check_bytes(double bytes) {
  if (bytes > static_cast<double>(kMaxBytes)) throw std::runtime_error("a string is too long for a chat template");
}

void guard_builtins() {
  static const bool once = [] {
    guard_all(jinja::global_builtins());
    const std::vector<jinja::value> kinds = {
        jinja::mk_val<jinja::value_int>(0),     jinja::mk_val<jinja::value_float>(0.0),
        jinja::mk_val<jinja::value_string>(""), jinja::mk_val<jinja::value_bool>(false),
        jinja::mk_val<jinja::value_array>(),    jinja::mk_val<jinja::value_object>(),
        jinja::mk_val<jinja::value_none>(),     jinja::mk_val<jinja::value_undefined>()};
    for (const jinja::value& kind : kinds) guard_all(kind->get_builtins());
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace dts
