// The built-in model's own problems, for --example.
#pragma once

#include <string>

namespace dts::cli {

struct Example {
  std::string question;
  std::string answer;  // the right one
};

// Problem `number`, from 1; those with traps first. Throws a usage error naming the flag when there are not so many,
// and a failure when the problems are not installed.
Example read_example(int number);

}  // namespace dts::cli
