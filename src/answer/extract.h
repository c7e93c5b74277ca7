// Where an answer stands when nothing boxes it.
#pragma once

#include <string>
#include <string_view>

namespace dts {

struct LastLine {
  std::string text;        // without bold marks and lead-in; empty when the line is too long to be an answer
  bool is_stated = false;  // there was a lead-in: "The answer is", "Answer:", "####"
};

LastLine last_line_answer(std::string_view text);

}  // namespace dts
