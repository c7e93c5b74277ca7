// The report as it is written: complete, well-formed, the same numbers in every form, and nothing a model wrote can
// become markup.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "dts/tree_file.h"
#include "eval/datasets/csv.h"
#include "eval/report/chart_canvas.h"
#include "eval/report/layout.h"
#include "eval/report/render.h"
#include "eval/report/repetition.h"
#include "eval/report/stand_alone.h"
#include "support/eval_support.h"
#include "support/markup_check.h"
#include "support/results_file.h"
#include "support/synthetic_tree.h"

namespace dts::eval::report {
namespace {

using dts::test::kHostileText;
using eval::test::error_of;
using eval::test::expect_in;
using eval::test::ResultsFile;
using eval::test::TemporaryDirectory;

class ReportTest : public testing::Test {
 protected:
  // Written once: every row goes to the disk before the next.
  static void SetUpTestSuite() {
    directory_ = std::make_unique<TemporaryDirectory>();
    write_everything(file(), "");
    write_everything(file("hostile.db"), kHostileText);
  }
  static void TearDownTestSuite() { directory_.reset(); }

  static std::string file(const std::string& name = "results.db") { return (directory_->path() / name).string(); }

  // A whole protocol in small: two models, two datasets, all that the sections ask for.
  static void write_everything(const std::string& path, const std::string& hostile) {
    ResultsFile results(path);
    const std::string document = to_json_text(dts::test::synthetic_tree({.hostile = hostile}));
    const auto rule = [](const std::string& criterion, const std::string& tau_h) {
      return nlohmann::json{{"criterion", criterion}, {"tau_v", "1.5"}, {"tau_h", tau_h}};
    };
    const std::map<std::string, nlohmann::json> methods = {
        {"standard", {{"temperature", 0.6}}},    {"self-consistency", {{"width", 8}}},
        {"max-logit", rule("decision", "2.5")},  {"dts-greedy", rule("decision", "2.5")},
        {"dts-stable", rule("decision", "2.5")}, {"dts-stable:criterion=either", rule("either", "2.5")},
        {"samples", {{"method", "standard"}}}};
    for (const std::string& model : {"small model" + hostile, std::string("large model")}) {
      for (const char* dataset : {"aime24", "nano-bench"}) {
        results.on(model, dataset);
        for (const auto& [label, settings] : methods) {
          results.method(label, settings);
          for (int q = 0; q < 6; ++q) {
            for (std::uint64_t seed = 0; seed < 2; ++seed) {
              const bool tree = label.starts_with("dts");
              const double score = tree || (q + static_cast<int>(seed)) % 3 == 0 ? 1 : 0;
              results.add(label, "q" + std::to_string(q) + hostile, seed, score, [&](Row& row) {
                row.task = q % 3 == 0 ? "maze" : q % 3 == 1 ? "path" : "order" + hostile;
                row.difficulty = q < 2 ? "easy" : q < 4 ? "medium" : "hard";
                row.chosen_tokens = 50 + 10 * q + static_cast<int>(seed) * 3;
                row.branch_events = tree ? 5 : 0;
                row.flops = (tree ? 3e9 : 1e9) * (model[0] == 'l' ? 10 : 1) * (1 + 0.1 * q);
                row.answer += hostile;
                row.gold += hostile;
                row.document = document;
              });
            }
          }
        }
      }
    }
    results.store().note_run("dts eval --paper" + hostile);
  }

  static Report whole_report(const LayoutOptions& options = {}) { return lay_out(Results({file()}), options); }

 private:
  static inline std::unique_ptr<TemporaryDirectory> directory_;
};

TEST_F(ReportTest, HasThePapersTablesAndFiguresUnderTheirNames) {
  const Report report = whole_report();
  std::map<std::string, std::string> sources;
  for (const Section& section : report.sections) {
    sources[section.id] = section.source;
    EXPECT_EQ(section.missing, "") << section.id;
    EXPECT_FALSE(section.tables.empty() && section.cases.empty()) << section.id;
  }
  EXPECT_EQ(sources["accuracy"], "Table 1 of the paper");
  EXPECT_EQ(sources["repetition"], "Table 2 of the paper");
  EXPECT_EQ(sources["selection"], "Table 3 of the paper");
  EXPECT_EQ(sources["criterion"], "Table 4 of the paper");
  EXPECT_EQ(sources["radar"], "Figure 1 of the paper");
  EXPECT_EQ(sources["length"], "Figure 2 of the paper");
  EXPECT_EQ(sources["compute"], "Figure 5 of the paper");
  EXPECT_EQ(sources["cases"], "Figure 6 of the paper");
  EXPECT_EQ(report.headlines.size(), 4U);
}

TEST_F(ReportTest, WhatIsNotThereNamesTheCommandThatMakesIt) {
  {
    ResultsFile results(file("little.db"));
    results.method("self-consistency");
    results.add("self-consistency", "q", 0, 1);
  }
  std::map<std::string, std::string> missing;
  const Report report = lay_out(Results({file("little.db")}), {});
  for (const Section& section : report.sections) missing[section.id] = section.missing;
  expect_in("dts eval --dataset aime24 --methods standard,", missing["accuracy"]);
  expect_in("dts eval --paper", missing["radar"]);
  expect_in("--methods standard,dts-greedy", missing["repetition"]);
  expect_in("--methods max-logit,dts-greedy", missing["selection"]);
  expect_in("dts-greedy:criterion=high-entropy", missing["criterion"]);
  expect_in("--length-study 100", missing["length"]);
  expect_in("--length-study 100", missing["samples"]);
  expect_in("--methods standard,dts-stable", missing["cases"]);
  expect_in("--length-study 100", to_html(report));
  expect_in("--length-study 100", to_markdown(report));
}

TEST_F(ReportTest, ThePageIsWellFormedAndAlone) {
  const std::string html = to_html(whole_report());
  const auto check = dts::test::check_markup(html, true);
  EXPECT_EQ(check.error, "");
  int charts = 0;
  for (const auto& tag : check.tags) {
    EXPECT_NE(tag.name, "script");
    EXPECT_NE(tag.name, "img");
    EXPECT_NE(tag.name, "link");
    EXPECT_NE(tag.name, "iframe");
    charts += tag.name == "figure" ? 1 : 0;
    for (const std::string& attribute : tag.attributes) {
      EXPECT_NE(attribute, "src");
      EXPECT_FALSE(attribute.starts_with("on")) << attribute;
    }
  }
  EXPECT_GE(charts, 4 + 2 + 4 + 4 + 4);  // accuracy, compute, radar, length (a line a model), samples
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("@import"), std::string::npos);
  expect_in("prefers-color-scheme: dark", html);
  expect_in("name=\"viewport\"", html);
}

TEST_F(ReportTest, NothingAModelWroteBecomesMarkup) {
  const Report report = lay_out(Results({file("hostile.db")}), {});
  EXPECT_EQ(dts::test::check_markup(to_html(report), true).error, "");
  for (const auto& tag : dts::test::check_markup(to_html(report), true).tags) EXPECT_NE(tag.name, "script");
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
  // In Markdown, what a model wrote is in fences, or escaped.
  std::istringstream lines(to_markdown(report));
  std::string fence;
  for (std::string line; std::getline(lines, line);) {
    if (!fence.empty()) {
      if (line == fence) fence.clear();
      continue;
    }
    if (line.starts_with("```")) {
      fence = line.substr(0, line.find('t'));
      continue;
    }
    EXPECT_EQ(line.find("<script"), std::string::npos) << line;
    EXPECT_EQ(line.find("<img"), std::string::npos) << line;
  }
  EXPECT_EQ(fence, "");
}

// CSV and JSON hold the same numbers as the summary, in full precision.
TEST_F(ReportTest, EveryFormHasTheSameNumbers) {
  const Results results({file()});
  const Report report = lay_out(results, {});
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  std::map<std::string, nlohmann::json> cost;
  for (const auto& section : json["sections"]) {
    for (const auto& table : section["tables"]) {
      if (table["key"] != "cost") continue;
      EXPECT_EQ(table["units"]["flops"], "PFLOP");
      for (const auto& row : table["rows"]) {
        cost[row["model"].get<std::string>() + row["dataset"].get<std::string>() + row["method"].get<std::string>()] =
            row;
      }
    }
  }
  const std::vector<std::string> wanted = {"table", "model", "dataset", "method", "metric", "value"};
  const eval::DataTable parsed = eval::read_csv(to_csv(report), "report.csv", wanted);
  const auto field = [&](const std::string& name, std::size_t row) {
    return std::get<std::string>(eval::find_column(parsed, name)->cells[row]);
  };
  std::map<std::string, double> csv;
  for (std::size_t i = 0; i < parsed.rows; ++i) {
    if (field("table", i) != "cost") continue;
    csv[field("model", i) + field("dataset", i) + field("method", i) + field("metric", i)] =
        std::stod(field("value", i));
  }
  // The best of a group are bold.
  std::string markdown = to_markdown(report);
  for (std::size_t at = 0; (at = markdown.find("**", at)) != std::string::npos;) markdown.erase(at, 2);
  int compared = 0;
  for (const Benchmark& benchmark : results.benchmarks()) {
    for (const MethodResults& method : benchmark.methods) {
      if (method.ablation) continue;
      const Summary s = summarise(method.rows, benchmark.baseline());
      const std::string place = benchmark.model + benchmark.dataset + method.name;
      ASSERT_TRUE(cost.count(place)) << place;
      EXPECT_DOUBLE_EQ(cost[place]["accuracy"]["mean"].get<double>(), s.accuracy.mean);
      EXPECT_DOUBLE_EQ(cost[place]["accuracy"]["low"].get<double>(), s.accuracy.low);
      EXPECT_DOUBLE_EQ(cost[place]["flops"]["mean"].get<double>(), s.flops.mean / 1e15);
      EXPECT_DOUBLE_EQ(cost[place]["unique_tokens"].get<double>(), s.unique_tokens);
      EXPECT_DOUBLE_EQ(csv.at(place + "accuracy"), s.accuracy.mean);
      EXPECT_DOUBLE_EQ(csv.at(place + "flops"), s.flops.mean / 1e15);
      expect_in(fmt::format("| {:.1f} ({:.1f} to ", 100 * s.accuracy.mean, 100 * s.accuracy.low), markdown);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2 * 2 * 5);
}

TEST_F(ReportTest, TexHasItsNumbersAndNoMarkupOfModels) {
  const std::string tex = to_tex(whole_report());
  for (const char* part :
       {"\\toprule", "\\midrule", "\\bottomrule", "\\textbf{", "{\\scriptsize[", "\\label{tab:methods}"}) {
    expect_in(part, tex);
  }
  // Every environment that is begun is ended, braces are balanced, and no special character of TeX is left bare.
  const std::string hostile = to_tex(lay_out(Results({file("hostile.db")}), {}));
  for (const std::string* text : {&tex, &hostile}) {
    int depth = 0;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("%")) continue;
      for (std::size_t i = 0; i < line.size(); ++i) {
        const bool escaped = i > 0 && line[i - 1] == '\\';
        if (line[i] == '{' && !escaped) ++depth;
        if (line[i] == '}' && !escaped) --depth;
        ASSERT_GE(depth, 0) << line;
        const bool special = std::string_view("#%_~").find(line[i]) != std::string_view::npos;
        ASSERT_TRUE(escaped || !special) << line;
      }
    }
    EXPECT_EQ(depth, 0);
    const auto count = [&](std::string_view what) {
      int n = 0;
      for (std::size_t at = text->find(what); at != std::string::npos; at = text->find(what, at + 1)) ++n;
      return n;
    };
    EXPECT_EQ(count("\\begin{"), count("\\end{"));
  }
}

TEST_F(ReportTest, TexTablesHaveWholeRowsThatFitAPage) {
  std::istringstream lines(to_tex(whole_report()));
  std::ptrdiff_t columns = -1;  // -1: not in a table
  int rows = 0;
  int tables = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\\begin{tabular}") != std::string::npos) {
      EXPECT_TRUE(line.find("\\resizebox{") != std::string::npos) << line;
      columns = 0;
      rows = 0;
      ++tables;
    } else if (line.find("\\end{tabular}") != std::string::npos) {
      EXPECT_LE(rows, 1 + 44);
      columns = -1;
    } else if (columns >= 0 && line.find("rule") == std::string::npos &&
               line.find("\\multicolumn") == std::string::npos) {
      std::ptrdiff_t separators = 0;
      for (std::size_t at = 1; at < line.size(); ++at) separators += line[at] == '&' && line[at - 1] != '\\' ? 1 : 0;
      if (columns == 0) columns = separators + 1;
      EXPECT_EQ(separators + 1, columns) << line;
      ++rows;
      for (const char* hyphen : {"& -", "[-", ", -"}) EXPECT_EQ(line.find(hyphen), std::string::npos) << line;
    }
  }
  EXPECT_GT(tables, 5);
}

TEST_F(ReportTest, FiguresStandAlone) {
  const std::vector<FigureFile> files = figure_files(whole_report());
  std::set<std::string> names;
  for (const FigureFile& figure : files) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    const auto check = dts::test::check_markup(figure.svg, false);
    EXPECT_EQ(check.error, "") << figure.name;
    EXPECT_EQ(figure.svg.find("var("), std::string::npos);  // what turns SVG into print knows no variables
    EXPECT_GT(std::count(figure.csv.begin(), figure.csv.end(), '\n'), 1) << figure.name;
  }
  EXPECT_EQ(names.count("length-aime24"), 1U);
}

// A table of the report as CSV must say which row a number is of.
TEST_F(ReportTest, EveryLineOfTheCsvIsAboutSomethingElse) {
  const std::vector<std::string> wanted = {"section", "table", "model", "dataset", "method", "row", "metric"};
  const eval::DataTable parsed = eval::read_csv(to_csv(whole_report({})), "report.csv", wanted);
  std::set<std::string> seen;
  std::set<std::string> rows;
  for (std::size_t i = 0; i < parsed.rows; ++i) {
    std::string line;
    for (const std::string& name : wanted) {
      line += std::get<std::string>(eval::find_column(parsed, name)->cells[i]) + "\n";
    }
    EXPECT_TRUE(seen.insert(line).second) << line;
    rows.insert(std::get<std::string>(eval::find_column(parsed, "row")->cells[i]));
  }
  EXPECT_EQ(rows.count("n=2; k=1"), 1U);
  EXPECT_EQ(rows.count("n=2; k=2"), 1U);
}

// Two samples a problem make halves, not tenths.
TEST_F(ReportTest, TheLengthStudyNamesThePartsThereAre) {
  const Report report = whole_report({});
  const auto length = std::find_if(report.sections.begin(), report.sections.end(),
                                   [](const Section& section) { return section.id == "length"; });
  ASSERT_NE(length, report.sections.end());
  EXPECT_EQ(length->tables.front().caption, "Shortest less longest part of each problem (points)");
  const std::string markdown = to_markdown(report);
  expect_in("| within | 2 of 2 |", markdown);
  EXPECT_EQ(markdown.find("| tenth |"), std::string::npos);
}

TEST_F(ReportTest, ACaseIsShownByWhicheverMethodHasIt) {
  const std::string path = file("partly.db");
  {
    ResultsFile results(path);
    const std::string document = to_json_text(dts::test::synthetic_tree({}));
    results.method("best-of-n");
    results.method("dts-stable");
    results.add("dts-stable", "q1", 0, 1, [&](Row& row) { row.document = document; });
    results.add("best-of-n", "q2", 0, 1, [&](Row& row) { row.document = document; });
  }
  LayoutOptions options;
  options.cases = {"q2"};
  options.only_cases = true;
  const Report report = lay_out(Results({path}), options);
  ASSERT_EQ(report.sections.front().cases.size(), 1U);
  ASSERT_EQ(report.sections.front().cases.front().traces.size(), 1U);
  EXPECT_EQ(report.sections.front().cases.front().traces.front().method, "best-of-n");
}

TEST_F(ReportTest, ACaseShowsTheMethodsSideBySide) {
  LayoutOptions options;
  options.cases = {"q2"};
  options.only_cases = true;
  const Report report = whole_report(options);
  ASSERT_EQ(report.sections.size(), 1U);
  const Section& section = report.sections.front();
  ASSERT_EQ(section.cases.size(), 4U);  // two models, two datasets
  const Case& one = section.cases.front();
  EXPECT_EQ(one.question_id, "q2");
  EXPECT_EQ(one.gold, "1");
  ASSERT_EQ(one.traces.size(), 4U);
  EXPECT_EQ(one.traces[0].method, "standard");
  EXPECT_EQ(one.traces[0].verdict, "✗ wrong: 2");  // a seed was chosen on which it is
  EXPECT_EQ(one.traces[3].method, "dts-stable");
  EXPECT_EQ(one.traces[3].verdict, "✓ right: 1");
  EXPECT_TRUE(one.traces[0].tree.empty());
  EXPECT_FALSE(one.traces[2].tree.empty());
  EXPECT_FALSE(one.question.empty());
  EXPECT_FALSE(one.traces[0].thinking.empty() && one.traces[0].answer.empty());

  options.seed = 1;  // on which standard decoding is right
  EXPECT_EQ(whole_report(options).sections.front().cases.front().traces[0].verdict, "✓ right: 1");
  options.cases = {"q99"};
  expect_in("'q99'", error_of([&] { whole_report(options); }));
}

TEST_F(ReportTest, MarksWhatATraceSaysAgain) {
  const std::string text = "First I add the numbers. Is it right? I add them again.\nI add them again. Done now, all.";
  std::string again;
  std::string whole;
  for (const TextPart& part : mark_repetition(text)) {
    whole += part.text;
    if (part.again) again += part.text;
  }
  EXPECT_EQ(whole, text);
  EXPECT_EQ(again, "I add them again. ");
  EXPECT_TRUE(mark_repetition("").empty());
  const std::string loop = [] {
    std::string out;
    for (int i = 0; i < 200000; ++i) out += "wait, let me check. ";
    return out;
  }();
  EXPECT_EQ(mark_repetition(loop).size(), 2U);
}

TEST(Charts, AxesHaveRoundNumbersWithinTheirRange) {
  const AxisScale linear(0, 1, 100, 200);
  EXPECT_DOUBLE_EQ(linear(0.25), 125);
  const std::vector<double> fifths = ticks(linear, 5);
  ASSERT_EQ(fifths.size(), 6U);
  EXPECT_NEAR(fifths[3], 0.6, 1e-12);
  const AxisScale flops(3e8, 7e9, 0, 100, true);
  EXPECT_EQ(ticks(flops, 5, true), (std::vector<double>{5e8, 1e9, 2e9, 5e9}));
  EXPECT_NEAR(flops(3e8), 0, 1e-9);
  EXPECT_NEAR(flops(7e9), 100, 1e-9);
  const AxisScale point(5, 5, 0, 100, true);  // one value is in the middle
  EXPECT_NEAR(point(5), 50, 1e-9);
  EXPECT_NEAR(AxisScale(5, 5, 0, 100)(5), 50, 1e-9);
}

}  // namespace
}  // namespace dts::eval::report
