#include "answer/value/expression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "answer/value/expression_program.h"
#include "answer/value/scrambled.h"
#include "answer/value/value_arithmetic.h"

namespace dts {
namespace {

using namespace expression;

constexpr int kMaxWork = 10000;  // steps of all binomials in one evaluation

// Where a letter is negative, a bit for each signed point: those from a to z at three of the seven, no two at the same
// ones; other names at four, so that none is a letter's.
std::uint32_t signs_of(std::uint64_t code) {
  static const auto signs = [] {
    std::array<std::vector<std::uint32_t>, 2> of_size;
    for (std::uint32_t bits = 0; bits < (1U << kSignedPoints); ++bits) {
      const int size = std::popcount(bits);
      if (size == 3 || size == 4) of_size[static_cast<std::size_t>(size - 3)].push_back(bits);
    }
    return of_size;
  }();
  static const auto letters = [] {
    std::array<std::uint64_t, 26> codes = {};
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_of(std::string(1, static_cast<char>('a' + i)));
    return codes;
  }();
  const auto letter = std::find(letters.begin(), letters.end(), code);
  if (letter != letters.end()) return signs[0][static_cast<std::size_t>(letter - letters.begin())];
  return signs[1][code % signs[1].size()];
}

// No short formula relates the values of two letters.
Value letter_value(std::uint64_t code, std::uint32_t point) {
  const std::uint64_t bits = scrambled(code ^ (std::uint64_t{point} << 56U));
  Value value;
  if (point >= kRealPoints) {
    value = *value_of(Rational::make(static_cast<Int128>(3 + bits % 23)));
  } else {
    struct Range {
      double low;
      double high;
    };
    constexpr std::array<Range, kRealPoints> kRanges = {{{0.5, 2},
                                                         {0.9, 1.1},
                                                         {0.05, 0.95},
                                                         {2, 6},
                                                         {0.5, 2},
                                                         {0.05, 0.95},
                                                         {1, 4},
                                                         {2, 6},
                                                         {0.5, 2},
                                                         {0.05, 0.95},
                                                         {1, 4}}};
    const Range range = kRanges[point];
    const double size = range.low + (range.high - range.low) * static_cast<double>(bits >> 11U) * 0x1p-53;
    const bool negative = point >= kPositivePoints && (signs_of(code) >> (point - kPositivePoints) & 1U) != 0;
    value.number = Approximation{{negative ? -size : size, 0}, {0, 0}, 0};
    value.residue = Residue::independent(bits);
  }
  value.constant = false;
  return value;
}

class Machine {
 public:
  Machine(const Program& program, std::uint32_t point) : program_(program), point_(point) {}

  Maybe run() {
    values_.reserve(program_.size());
    for (const Node& node : program_) {
      values_.push_back(value_of_node(node));
      if (!values_.back()) return std::nullopt;
    }
    return values_.back();
  }

 private:
  const Maybe& at(int index) const { return values_[static_cast<std::size_t>(index)]; }

  // Binomials take as many steps as their size says; all of them together must stay bounded.
  bool affords(const Maybe& steps) {
    const std::optional<int> size = steps && steps->exact ? steps->exact->small_whole() : std::nullopt;
    if (size && *size > 0) work_ += *size;
    return work_ <= kMaxWork;
  }

  Maybe value_of_node(const Node& node) {
    constexpr DoubleDouble kNone = {0, 0};
    constexpr double kRounding = 1e-30;
    switch (node.op) {
      case Op::kNumber:
        return node.value;
      case Op::kVariable:
        return letter_value(node.code, point_);
      case Op::kPi:
        return value_of({kPi, kNone, 4 * kRounding}, Residue::independent(code_of("the circle's constant")), true);
      case Op::kEuler:
        return value_of({kEuler, kNone, 3 * kRounding}, Residue::independent(code_of("Euler's number")), true);
      case Op::kImaginary:
        return value_of({kNone, {1, 0}, 0}, Residue::imaginary_unit(), true);
      case Op::kInfinity:
        return infinite_value();
      case Op::kDegree:
        return divide(
            value_of({kPi, kNone, 4 * kRounding}, Residue::independent(code_of("the circle's constant")), true),
            value_of(Rational::make(180)));
      case Op::kAdd:
        return add(at(node.a), at(node.b));
      case Op::kMultiply:
        return multiply(at(node.a), at(node.b));
      case Op::kDivide:
        return divide(at(node.a), at(node.b));
      case Op::kNegate:
        return negate(at(node.a));
      case Op::kRaise:
        return raise(at(node.a), at(node.b));
      case Op::kRoot:
        return take_root(at(node.a), at(node.b));
      case Op::kFactorial:
        return factorial(at(node.a));
      case Op::kAbsolute:
        return absolute(at(node.a));
      case Op::kFunction:
        return apply(node.name, at(node.a));
      case Op::kList:
        return list_value(node);
      case Op::kUnknown:
        return unknown_value(node);
    }
    return std::nullopt;
  }

  Maybe list_value(const Node& node) {
    if (node.name == "binom") {
      const Maybe& below = at(node.arguments[1]);
      return affords(below) ? binomial(at(node.arguments[0]), below) : std::nullopt;
    }
    if (node.name == "floor" || node.name == "ceil") return round_down(at(node.arguments[0]), node.name == "ceil");
    std::vector<Maybe> values;
    for (const int argument : node.arguments) values.push_back(at(argument));
    return apply_to_list(node.name, values);
  }

  // Any function would do that no other formula is likely to be: a cubic with coefficients of its own.
  Maybe unknown_value(const Node& node) const {
    const auto coefficient = [&](std::uint64_t index) { return Maybe(letter_value(node.code + index, point_)); };
    Maybe argument = at(node.arguments[0]);
    for (std::size_t i = 1; i < node.arguments.size(); ++i) {
      argument = add(argument, multiply(coefficient(16 + i), at(node.arguments[i])));
    }
    const Maybe square = multiply(argument, argument);
    const Maybe cubic = multiply(coefficient(1), multiply(square, argument));
    Maybe value = add(cubic, add(multiply(coefficient(2), square), coefficient(3)));
    if (value) {
      value->exact.reset();
      value->constant = false;
    }
    return value;
  }

  const Program& program_;
  std::uint32_t point_;
  int work_ = 0;
  std::vector<Maybe> values_;
};

Maybe run(const Program& program, std::uint32_t point) {
  if (program.empty()) return std::nullopt;
  return Machine(program, point).run();
}

bool has_letters(const Program& program) {
  return std::any_of(program.begin(), program.end(),
                     [](const Node& node) { return node.op == Op::kVariable || node.op == Op::kUnknown; });
}

// Between whole numbers floor(x) and ceil(x)-1 are the same.
bool rounds(const Program& program) {
  return std::any_of(program.begin(), program.end(), [](const Node& node) {
    return node.op == Op::kList && (node.name == "floor" || node.name == "ceil");
  });
}

}  // namespace

std::optional<Value> evaluate(std::string_view expression, std::uint32_t point) {
  return run(parse(expression), point);
}

bool same_value(const Value& one, const Value& other) {
  if (one.exact && other.exact) return *one.exact == *other.exact;
  const Value a = filled(one);
  const Value b = filled(other);
  if (a.is_infinite() || b.is_infinite()) {
    return a.is_infinite() && b.is_infinite() && a.approximate() == b.approximate();
  }
  if (a.residue && b.residue && *a.residue != *b.residue) return false;
  if (!a.number || !b.number) return a.residue && b.residue;
  const double distance = std::hypot((a.number->re - b.number->re).high, (a.number->im - b.number->im).high);
  const double size =
      std::max(std::hypot(a.number->re.high, a.number->im.high), std::hypot(b.number->re.high, b.number->im.high));
  const double error = a.number->error + b.number->error;
  if (a.residue && b.residue) return distance <= std::max(16 * error, 1e-9 * size);
  if (error > std::max(1e-12 * size, 1e-15)) return false;  // too little is known
  // A long number is written down, not the value of a closed form.
  constexpr Int128 kLongest = 1'000'000'000'000;
  const auto is_long = [&](const Value& value) {
    const std::optional<Rational>& exact = value.exact;
    return value.rational || (exact && (exact->denominator() > kLongest || exact->numerator() > 1000 * kLongest ||
                                        exact->numerator() < -1000 * kLongest));
  };
  if (a.constant && b.constant && (is_long(a) || is_long(b))) return false;
  return distance <= 16 * error;
}

bool same_function(std::string_view a, std::string_view b) {
  const Program of_a = parse(a);
  const Program of_b = parse(b);
  if (of_a.empty() || of_b.empty()) return false;
  if (!has_letters(of_a) && !has_letters(of_b)) {
    const Maybe value_a = run(of_a, 0);
    const Maybe value_b = run(of_b, 0);
    return value_a && value_b && same_value(*value_a, *value_b);
  }
  constexpr int kEnough = 2;
  int compared = 0;
  for (std::uint32_t point = 0; point < kPoints; ++point) {
    if (point == kRealPoints && compared >= kEnough && !rounds(of_a) && !rounds(of_b)) break;
    const Maybe value_a = run(of_a, point);
    const Maybe value_b = value_a ? run(of_b, point) : std::nullopt;
    if (!value_a || !value_b) continue;
    if (!same_value(*value_a, *value_b)) return false;
    ++compared;
  }
  return compared >= kEnough;
}

}  // namespace dts
