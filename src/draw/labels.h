// The words and numbers that all drawings share. All labels are printable and on one line; none is escaped yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "draw/facts.h"
#include "dts/tree_file.h"

namespace dts::draw {

std::string statistic(double value);  // 1.72
std::string percent(double logprob);  // 61%, 0.4%

// "enough trajectories finished"
std::string_view reason_sentence(StopReason reason);

// How a token reads on its own: without the space before it, with pictures for white space.
std::string token_label(std::string_view piece, Token token);
// The token a segment was begun with.
std::string first_token_label(const TreeDocument& document, SegmentId id);

// The first and, where they do not fit in `width` cells as a whole, the last words of a text.
std::string snippet(std::string_view text, int width);

std::string_view state_label(SegmentState state);
// "408" for a finished leaf, "no answer", or its state.
std::string leaf_label(const TreeDocument& document, const Facts& facts, SegmentId leaf);

std::string question_line(const TreeDocument& document);
// "model", "dts-stable", "splits 3 ways", ...: what it takes to repeat the run.
std::vector<std::string> setting_labels(const TreeDocument& document);
// "12 trajectories", "9 finished", ...: how the tree came out.
std::vector<std::string> size_labels(const TreeDocument& document, const Facts& facts);
// "5 of 8 votes", "first to finish", "ended by ...".
std::string verdict(const TreeDocument& document);
// "no two agree: the first to finish was taken"; empty: some do, or there is nothing to agree on.
std::string disagreement(const TreeDocument& document);

using Row = std::pair<std::string, std::string>;  // name, value
std::vector<Row> setting_rows(const TreeDocument& document);
std::vector<Row> account_rows(const TreeDocument& document);

}  // namespace dts::draw
