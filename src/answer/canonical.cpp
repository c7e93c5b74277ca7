#include "answer/canonical.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "answer/structure.h"
#include "answer/value/expression.h"

namespace dts {
namespace {

constexpr int kMaxDepth = 8;  // of lists in lists

struct ListItem {
  std::string text;
  std::optional<Value> number;
};

bool before(const ListItem& a, const ListItem& b) {
  if (a.number && b.number && a.number->approximate() != b.number->approximate()) {
    return a.number->approximate() < b.number->approximate();
  }
  if (a.number.has_value() != b.number.has_value()) return a.number.has_value();
  return a.text < b.text;
}

std::optional<Value> constant_value(std::string_view text) {
  std::optional<Value> value = evaluate(text);
  if (value && !value->constant) value.reset();
  return value;
}

std::string rewrite(std::string_view plain, int depth) {
  if (const std::optional<Value> value = constant_value(plain); value && value->exact) return value->exact->text();
  const std::optional<Parts> parts = depth < kMaxDepth ? split_parts(plain) : std::nullopt;
  if (!parts) return std::string(plain);

  std::vector<ListItem> items;
  bool all_numbers = true;
  for (const std::string_view part : parts->items) {
    std::string text = rewrite(part, depth + 1);
    const std::optional<Value> number = constant_value(text);
    all_numbers = all_numbers && number.has_value();
    items.push_back({std::move(text), number});
  }
  if (parts->is_bare() && !all_numbers) return std::string(plain);
  if (parts->is_bare() || parts->is_set()) std::sort(items.begin(), items.end(), before);
  if (parts->is_set()) {
    const auto end =
        std::unique(items.begin(), items.end(), [](const ListItem& a, const ListItem& b) { return a.text == b.text; });
    items.erase(end, items.end());
  }
  // "3/8 or 0.375" says the same twice.
  const bool alternatives = parts->is_bare() && plain.find(" or ") != std::string_view::npos;
  const auto is_first = [&](const ListItem& item) { return item.text == items.front().text; };
  if (alternatives && std::all_of(items.begin(), items.end(), is_first)) return items.front().text;
  std::string out;
  if (!parts->is_bare()) out += parts->open;
  for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + items[i].text;
  if (!parts->is_bare()) out += parts->close;
  return out;
}

}  // namespace

std::string canonical_values(std::string_view plain) { return rewrite(plain, 0); }

}  // namespace dts
