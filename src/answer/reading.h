// An answer in normal form, and what its normal form leaves out.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// Whoever leaves one of these out says less, not something else: 5 is x=5, and 5 cm, and 5 dollars. But x=5 is not y=5,
// nor 5 cm 5 kg.
struct Reading {
  std::string core;      // normalise_answer()
  std::string variable;  // the x of x=5 and x\in[0, 1]
  std::string unit;      // "cm^2", "dollar", "degree": what was dropped after or before a number
  bool percent = false;
};

Reading read_answer(std::string_view answer);

// All of it as one text, which reads the same.
std::string written(const Reading& reading);

}  // namespace dts
