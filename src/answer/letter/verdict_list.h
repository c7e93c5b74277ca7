// Lists that judge one option after the other: by marks or words, a line each, as rows of a table, or in one line.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dts::letters {

// A line that judges options.
struct JudgedLine {
  std::size_t begin = 0;
  std::size_t end = 0;  // of what it says of them: another sentence may follow
  char letter = '\0';   // what its list comes to, in the last line of it: the one option that is right while others are
                        // wrong; '\0' where none is, or several are
};

// Those of all lists with two options or more, in their order. `last` is the letter of the last choice.
std::vector<JudgedLine> judged_lines(std::string_view text, char last);

}  // namespace dts::letters
