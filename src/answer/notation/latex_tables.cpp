// Matrices, arrays and systems of equations.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "answer/notation/latex_reader.h"
#include "answer/notation/latex_symbols.h"

namespace dts::latex {

using namespace text;

void LatexReader::end_row() {
  if (in_matrix_) {
    out_ += "],[";
  } else if (!trim(out_).ends_with(',')) {
    out_ += ", ";
  }
}

void LatexReader::skip_row_space() {
  if (at_ == text_.size() || text_[at_] != '[') return;
  const std::size_t end = text_.find(']', at_);
  if (end == std::string_view::npos || end - at_ > 16) return;
  const std::string_view space = text_.substr(at_ + 1, end - at_ - 1);
  if (!space.empty() && (is_digit(space.front()) || space.front() == '-') && is_letter(space.back())) at_ = end + 1;
}

void LatexReader::read_environment(std::string_view command) {
  if (at_ == text_.size() || text_[at_] != '{') return;
  const std::size_t end = text_.find('}', at_);
  if (end == std::string_view::npos) return;
  const std::string_view environment = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  environments_ = std::max(0, environments_ + (command == "begin" ? 1 : -1));
  const bool braced = environment == "array" && (command == "end" ? in_statements_ : trim(out_).ends_with('{'));
  if (contains(kStatements, environment) || braced) in_statements_ = command == "begin";
  if (braced) {  // \left\{\begin{array}{l}: a system of equations
    if (command == "begin") {
      out_.resize(out_.rfind('{'));
      skip_alignment();
    }
    return;
  }
  if (!contains(kMatrices, environment)) return;
  if (command == "end" && in_matrix_) close_matrix();
  if (command == "begin" && !in_matrix_) {
    out_ += "[[";
    skip_spaces();
    if (environment == "array") skip_alignment();
  }
  in_matrix_ = command == "begin";
}

void LatexReader::close_matrix() {
  while (!out_.empty() && is_space(out_.back())) out_.pop_back();
  if (out_.ends_with("],[")) out_.resize(out_.size() - 3);  // the last row ended like the others
  out_ += "]]";
}

void LatexReader::read_matrix(int depth) {
  if (in_matrix_) return;
  in_matrix_ = true;
  ++environments_;
  out_ += "[[";
  read_argument(depth);
  close_matrix();
  --environments_;
  in_matrix_ = false;
}

void LatexReader::skip_alignment() {
  skip_spaces();
  if (at_ < text_.size() && text_[at_] == '{') at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
}

}  // namespace dts::latex
