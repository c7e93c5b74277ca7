// The picture that draw_svg() and draw_html() share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "draw/answer_colours.h"
#include "draw/facts.h"
#include "dts/tree_file.h"

namespace dts::draw {

struct SvgOptions {
  bool heading = true;    // question, settings and votes above the tree
  bool decisions = true;  // the table of decisions below it
  bool legend = true;     // what the marks mean
  bool style = true;      // its own style sheet (styles.h); else that of the page around it
  // Those that answers have already, in pictures beside this one.
  std::optional<AnswerColours> colours = std::nullopt;
};

// Every segment is a <g class="segment" data-id="ID">.
std::string svg_picture(const TreeDocument& document, const Facts& facts, const SvgOptions& options);

// A tree among others that answer the same question.
struct SvgLane {
  std::string title;    // the method
  std::string verdict;  // "✓ right: 244"
  std::string note;     // what it cost
  const TreeDocument* document = nullptr;
};

// The question, and below it one lane a tree. Stands alone.
std::string svg_lanes(const std::string& question, const std::vector<SvgLane>& lanes, const AnswerColours& colours);

}  // namespace dts::draw
