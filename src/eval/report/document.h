// A report as it is laid out, before it is HTML, Markdown, CSV or JSON: sections of tables, charts and cases. Numbers
// stay numbers; how they are written is the renderers' business.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "eval/report/interval.h"

namespace dts::eval::report {

// How a number is written.
enum class Unit {
  kNone,     // text
  kCount,    // 1,234
  kMean,     // 12.3
  kPercent,  // a share: 0.617 is written 61.7
  kPoints,   // a difference of shares: +12.3
  kSeconds,  // 0.42
  kFlops,    // stored in FLOP; written in a unit that fits the table
};

struct Column {
  std::string key;  // for CSV and JSON
  std::string title;
  Unit unit = Unit::kNone;  // kNone: a name that says what the row is about
  bool names_row = false;   // a number that does, too
};

struct Cell {
  std::variant<std::monostate, std::string, double, Interval> value;
  bool best = false;  // of its group

  static Cell text(std::string value) { return {std::move(value), false}; }
  static Cell number(double value) { return {value, false}; }
  static Cell interval(const Interval& value) { return {value, false}; }
  static Cell interval(const std::optional<Interval>& value) { return value ? interval(*value) : Cell{}; }
};

struct Table {
  std::string key;
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // [columns] each
  std::string note = {};                // what its bold numbers mean; empty: it has none
};

// --- charts: the same numbers as in the tables beside them ---

// Intervals, one below the other.
struct DotChart {
  struct Dot {
    std::string method;  // its colour
    std::string name;
    Interval value;
  };
  std::string title;
  std::string axis;
  std::vector<Dot> dots;
  std::optional<double> reference;  // a vertical line
};

struct ScatterChart {
  struct Point {
    std::string method;  // its colour
    std::string name;
    std::size_t group = 0;  // its shape
    Interval x;             // FLOP
    Interval y;
  };
  std::string title;
  std::string x_axis, y_axis;
  std::vector<std::string> groups;
  std::vector<Point> points;
};

struct LineChart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, Interval>> points;  // x, y
  };
  std::string title;
  std::string x_axis, y_axis;
  bool log_x = false;
  std::vector<Series> series;
};

struct RadarChart {
  struct Series {
    std::string method;
    std::string name;
    std::vector<double> values;  // [axes] 0..1
  };
  std::string title;
  std::vector<std::string> axes;
  std::vector<Series> series;
};

using Chart = std::variant<DotChart, ScatterChart, LineChart, RadarChart>;

// --- a question as the methods answered it ---

struct CaseTrace {
  std::string method;
  std::string heading;  // "dts-stable, seed 0"
  std::string verdict;  // "right: 41", "wrong: 36", "no trajectory ended"
  bool right = false;
  std::string cost;      // "716 tokens over all branches, ..."
  std::string thinking;  // as the model wrote it
  std::string answer;
  std::string tree;  // its drawing as SVG; empty: not worth one
};
struct Case {
  std::string model;
  std::string dataset;
  std::string question_id;
  std::string question;
  std::string gold;
  std::vector<CaseTrace> traces;
  bool trees_open = false;  // the trees are what it is about
};

struct Section {
  std::string id;
  std::string title;
  std::string source;  // "Table 1 of the paper"
  std::string text;    // what it shows and how to read it
  std::vector<Chart> charts;
  std::vector<Table> tables;
  std::vector<Case> cases;
  std::string missing;  // what is not there, and the command that makes it; empty when nothing is missing
};

// What changes when the paper's method takes the place of standard decoding.
struct Headline {
  std::string place;  // model and dataset
  double from = 0;    // accuracy of standard decoding
  double to = 0;      // of the method
  std::string text;   // the difference with its interval, and the cost
};

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // models, datasets, rows, ...
  std::string note = {};                                   // what a reader must know first; empty: nothing
  std::vector<Headline> headlines;
  std::vector<Section> sections;
};

}  // namespace dts::eval::report
