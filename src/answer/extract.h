// Where an answer stands when nothing boxes it.
#pragma once

#include <string>
#include <string_view>

namespace dts {

struct LastLine {
  std::string text;        // without bold marks and lead-in; empty when the line is too long to be an answer
  bool is_stated = false;  // there was a lead-in: "The answer is", "Answer:", "####"
};

// What stands in the last <answer>...</answer>, trimmed; empty when there is none.
std::string_view tagged_answer(std::string_view text);

LastLine last_line_answer(std::string_view text);

// Whether the end of `before` turns round what follows it: "it cannot", "I don't think that".
bool is_denied(std::string_view before);

}  // namespace dts
