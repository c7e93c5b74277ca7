// Marks and words that say of an option whether it is right.
#pragma once

#include <cstddef>
#include <string_view>

namespace dts::letters {

enum class Verdict { kNone, kRight, kWrong };

struct Judged {
  Verdict verdict = Verdict::kNone;
  std::size_t size = 0;  // bytes that say so
};

// A tick or a cross, or a box that has one, at the front: "✓", "❌", "[x]", "\checkmark".
Judged mark_at(std::string_view text);
// The same, or words after which nothing but a reason follows: "correct", "This is wrong, because", "not true".
Judged verdict_at(std::string_view text);

}  // namespace dts::letters
