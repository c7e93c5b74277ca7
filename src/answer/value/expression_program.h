// An expression as a program: its operations in an order in which they can be computed, once for every point.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answer/value/value_arithmetic.h"

namespace dts::expression {

enum class Op {
  kNumber,
  kVariable,
  kPi,
  kEuler,
  kImaginary,
  kInfinity,
  kDegree,
  kAdd,
  kMultiply,
  kDivide,
  kNegate,
  kRaise,
  kRoot,
  kFactorial,
  kAbsolute,
  kFunction,
  kList,
  kUnknown,  // a function of which only the name is known
};

struct Node {
  Op op = Op::kNumber;
  int a = -1;
  int b = -1;
  std::uint64_t code = 0;        // of a variable or unknown function
  std::string name{};            // of a function
  std::vector<int> arguments{};  // of a list or unknown function
  Maybe value{};                 // of a number
};

// Nodes after those they are made of; the last is the whole.
using Program = std::vector<Node>;

// Of what evaluate() in expression.h reads. Empty when it is no expression.
Program parse(std::string_view text);

// A number for a name, the same in every call.
std::uint64_t code_of(std::string_view name);

}  // namespace dts::expression
