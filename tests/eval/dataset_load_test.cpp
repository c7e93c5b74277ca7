// The datasets in the shapes that their files have on the hub, with questions of our own, and everything that can be
// wrong with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "eval/datasets/choices.h"
#include "eval/datasets/dataset.h"
#include "eval/datasets/gold.h"
#include "eval/datasets/prompts.h"
#include "support/eval_support.h"

namespace dts::eval {
namespace {

using Json = nlohmann::json;
using test::data_file;
using test::error_of;
using test::expect_in;
using test::TemporaryDirectory;

std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string lines_of(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += object.dump() + "\n";
  return text;
}

std::string parse_error(std::string_view name, const std::string& bytes, const std::string& label,
                        const DatasetOptions& options = {}) {
  return error_of([&] { parse_dataset(name, bytes, label, options); });
}

TEST(Datasets, AreFoundByName) {
  EXPECT_EQ(find_dataset("gpqa-diamond").usual_questions, 198U);
  EXPECT_EQ(datasets().back().name, "custom");
  expect_in("dataset 'aime': should be one of 'aime24', 'aime25'", error_of([] { find_dataset("aime"); }));
}

TEST(Aime, ReadsParquetWithWholeNumbers) {
  const Dataset set = load_dataset("aime24", data_file("parquet/aime24.parquet"), {});
  ASSERT_EQ(set.questions.size(), 3U);
  EXPECT_EQ(set.questions[1].id, "2024-X-2");
  EXPECT_EQ(set.questions[1].text, "How many positive divisors does $72$ have?");
  EXPECT_EQ(set.questions[1].answer, "12");
  EXPECT_EQ(set.info.answers, AnswerKind::kInteger);
}

TEST(Aime, ReadsJsonlAndCsvWithNumbersOrText) {
  std::vector<Json> rows;
  for (int i = 0; i < 30; ++i) {
    Json row = {{"problem", "What is $" + std::to_string(i) + "$ squared?"}, {"id", std::to_string(i)}};
    if (i % 2 == 0) {
      row["answer"] = i * i;
    } else {
      row["answer"] = "0" + std::to_string(i * i);
    }
    rows.push_back(row);
  }
  const Dataset set = parse_dataset("aime25", lines_of(rows), "test.jsonl", {});
  ASSERT_EQ(set.questions.size(), 30U);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(set.questions[static_cast<std::size_t>(i)].answer, std::to_string(i * i));
    EXPECT_EQ(set.questions[static_cast<std::size_t>(i)].id, std::to_string(i));
  }
  const Dataset csv = parse_dataset("aime24", "ID,Problem,Solution,Answer\nx,\"One\nand one?\",,2\n", "a.csv", {});
  EXPECT_EQ(csv.questions.at(0).text, "One\nand one?");
  EXPECT_EQ(csv.questions.at(0).answer, "2");
  // Without ids, rows are numbered.
  EXPECT_EQ(parse_dataset("aime25", "{\"question\":\"a\",\"answer\":1.0}\n", "a.jsonl", {}).questions.at(0).id, "1");
}

TEST(Aime, GoldIsAWholeNumberBelowAThousand) {
  EXPECT_EQ(aime_gold("033"), "33");
  EXPECT_EQ(aime_gold(" $204$ "), "204");
  EXPECT_EQ(aime_gold("336^\\circ"), "336");
  EXPECT_EQ(aime_gold("000"), "0");
  EXPECT_EQ(aime_gold("70.0"), "70");
  for (const char* bad : {"", "1000", "-1", "2.5", "x", "12 or 13", "1/2"})
    EXPECT_EQ(aime_gold(bad), std::nullopt) << bad;
  EXPECT_EQ(
      parse_error("aime25", "{\"problem\":\"a\",\"answer\":1}\n{\"problem\":\"b\",\"answer\":\"1000\"}\n", "a.jsonl"),
      "a.jsonl: row 2 (line 2), column 'answer' is '1000'; should be a whole number from 0 to 999");
}

// As gpqa_diamond.csv: 198 rows, 78 columns, most of them the reviewers', fields of several lines.
std::string gpqa_csv() {
  std::vector<std::string> header = {"Pre-Revision Question", "Question", "Correct Answer"};
  while (header.size() < 74) header.push_back("Extra, \"quoted\" " + std::to_string(header.size()));
  for (const char* name : {"Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Record ID"})
    header.emplace_back(name);
  std::string text;
  const auto put = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(row[i]);
    text += "\r\n";
  };
  put(header);
  for (int i = 0; i < 198; ++i) {
    const std::string n = std::to_string(i);
    std::vector<std::string> row(header.size(), "a comment,\nof \"several\" lines");
    row[1] = "Question " + n + ":\nwhich of these is right?\n";
    row[2] = "right " + n + "\n";
    row[74] = " wrong 1 of " + n;
    row[75] = "wrong 2 of " + n;
    row[76] = "wrong 3\nof " + n;
    row[77] = "rec" + n;
    put(row);
  }
  return text;
}

TEST(Gpqa, ReadsTheWholeShape) {
  const Dataset set = parse_dataset("gpqa-diamond", gpqa_csv(), "gpqa_diamond.csv", {});
  ASSERT_EQ(set.questions.size(), 198U);
  std::map<std::string, int> letters;
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    const Question& question = set.questions[i];
    const std::string n = std::to_string(i);
    EXPECT_EQ(question.id, "rec" + n);
    EXPECT_EQ(question.text, "Question " + n + ":\nwhich of these is right?");
    ASSERT_EQ(question.choices.size(), 4U);
    ASSERT_EQ(question.answer.size(), 1U);
    EXPECT_EQ(question.choices.at(static_cast<std::size_t>(question.answer[0] - 'A')), "right " + n);
    const std::set<std::string> options(question.choices.begin(), question.choices.end());
    EXPECT_EQ(options, (std::set<std::string>{"right " + n, "wrong 1 of " + n, "wrong 2 of " + n, "wrong 3\nof " + n}));
    ++letters[question.answer];
  }
  // Each letter is right about as often as the others: 49.5 of 198, standard deviation 6.1.
  ASSERT_EQ(letters.size(), 4U);
  for (const auto& [letter, count] : letters) {
    EXPECT_GT(count, 25) << letter;
    EXPECT_LT(count, 75) << letter;
  }
}

TEST(Gpqa, OptionsDependOnSeedAndIdAlone) {
  DatasetOptions other;
  other.seed = 1;
  const std::string csv = gpqa_csv();
  const Dataset first = parse_dataset("gpqa-diamond", csv, "g.csv", {});
  const Dataset again = parse_dataset("gpqa-diamond", csv, "g.csv", {});
  const Dataset shuffled = parse_dataset("gpqa-diamond", csv, "g.csv", other);
  int moved = 0;
  for (std::size_t i = 0; i < first.questions.size(); ++i) {
    EXPECT_EQ(first.questions[i].choices, again.questions[i].choices);
    if (first.questions[i].choices != shuffled.questions[i].choices) ++moved;
  }
  EXPECT_GT(moved, 150);  // 23 of 24
  // The permutation is part of published results: it must not change.
  EXPECT_EQ(choice_order(0, "rec1", 4), (std::vector<std::size_t>{1, 2, 0, 3}));
  EXPECT_EQ(choice_order(7, "record seven", 4), (std::vector<std::size_t>{3, 0, 2, 1}));
}

TEST(Gpqa, EverySeedSeesAnOrderOfItsOwn) {
  DatasetOptions fixed;
  fixed.fixed_order = true;
  const Dataset dataset = parse_dataset("gpqa-diamond", gpqa_csv(), "g.csv", {});
  const Dataset in_one_order = parse_dataset("gpqa-diamond", gpqa_csv(), "g.csv", fixed);
  int moved = 0;
  for (const Question& question : dataset.questions) {
    const std::string& right = question.choices[static_cast<std::size_t>(question.answer[0] - 'A')];
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const ShownQuestion shown = shown_to(dataset, question, seed);
      EXPECT_EQ(shown.question.choices[static_cast<std::size_t>(shown.question.answer[0] - 'A')], right);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(shown.question.choices[i], question.choices[static_cast<std::size_t>(shown.order[i] - 'A')]);
      }
      moved += shown.question.answer != question.answer ? 1 : 0;
      EXPECT_EQ(shown_to(in_one_order, question, seed).question.choices, question.choices);
      EXPECT_EQ(shown_to(in_one_order, question, seed).order, "ABCD");
    }
  }
  EXPECT_GT(moved, 198 * 5 * 6 / 10);  // three of four
  EXPECT_LT(moved, 198 * 5 * 9 / 10);
}

TEST(Gpqa, AllOrdersAreEquallyLikely) {
  std::map<std::vector<std::size_t>, int> counts;
  constexpr int kDraws = 24'000;
  for (int i = 0; i < kDraws; ++i) ++counts[choice_order(5, "q" + std::to_string(i), 4)];
  ASSERT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, kDraws / 24, 160);  // five standard deviations
}

TEST(Gpqa, NamesMissingColumns) {
  EXPECT_EQ(
      parse_error("gpqa-diamond", "Question,Correct Answer,Incorrect Answer 1\na,b,c\n", "g.csv"),
      "g.csv: gpqa-diamond needs the columns 'Incorrect Answer 2', 'Incorrect Answer 3'; the file has 'Question', "
      "'Correct Answer', 'Incorrect Answer 1'");
  std::string csv = gpqa_csv();
  csv.replace(csv.find("\"Question\""), 10, "\"Frage\"");
  expect_in("and 54 more", parse_error("gpqa-diamond", csv, "g.csv"));
}

Json live_row(int i, const std::string& task, const std::string& release, const std::string& removal) {
  return {{"question_id", "q" + std::to_string(i)},
          {"category", "reasoning"},
          {"task", task},
          {"turns", {"Question " + std::to_string(i) + "?"}},
          {"ground_truth", "yes, no, yes"},
          {"livebench_release_date", release},
          {"livebench_removal_date", removal}};
}

// As livebench/reasoning: 200 rows, of which the release 2024-11-25 has 150.
std::vector<Json> live_rows() {
  std::vector<Json> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(live_row(4 * i, "web_of_lies_v2", "2024-06-24", "2025-04-02"));
    rows.push_back(live_row(4 * i + 1, "zebra_puzzle", "2024-06-24", "2024-11-25"));
    rows.push_back(live_row(4 * i + 2, "zebra_puzzle", "2024-11-25", ""));
    rows.push_back(live_row(4 * i + 3, "spatial", "2024-07-26", ""));
  }
  return rows;
}

TEST(LiveBench, ReadsTheParquetShape) {
  const Dataset set = load_dataset("livebench-reasoning", data_file("parquet/livebench-reasoning.parquet"), {});
  ASSERT_EQ(set.questions.size(), 4U);
  EXPECT_EQ(set.questions[0].task, "spatial");
  EXPECT_EQ(set.questions[0].release, "2024-07-26");
  EXPECT_EQ(set.questions[1].answer, "yes, no, yes");
  EXPECT_EQ(set.questions[3].difficulty, "8");
  EXPECT_EQ(set.questions[3].id, std::string(64, 'd'));
  EXPECT_EQ(user_prompt(set.info.prompt, set.questions[3]),
            "Two people stand in line. Who drinks what? <solution></solution>");
}

TEST(LiveBench, AReleaseIsWhatWasOutAndNotWithdrawn) {
  const std::string text = lines_of(live_rows());
  const auto count = [&](const std::string& release) {
    DatasetOptions options;
    options.release = release;
    return parse_dataset("livebench-reasoning", text, "question.jsonl", options).questions.size();
  };
  EXPECT_EQ(count(""), 200U);
  EXPECT_EQ(count("2024-11-25"), 150U);
  EXPECT_EQ(count("2024-06-24"), 100U);
  EXPECT_EQ(count("2025-04-02"), 100U);
  DatasetOptions options;
  options.release = "2020-01-01";
  expect_in("has no questions of the release '2020-01-01'",
            parse_error("livebench-reasoning", text, "q.jsonl", options));
  options.release = "November";
  expect_in("release 'November': should be a date", parse_error("livebench-reasoning", text, "q.jsonl", options));
}

TEST(LiveBench, DatesMayBeSecondsOrMilliseconds) {
  const auto release = [](const Json& value) {
    Json row = live_row(1, "house_traversal", "", "");
    row["livebench_release_date"] = value;
    row["livebench_removal_date"] = nullptr;
    return parse_dataset("livebench-reasoning", lines_of({row}), "q.jsonl", {}).questions.front().release;
  };
  EXPECT_EQ(release(1721952000), "2024-07-26");
  EXPECT_EQ(release(1721952000000), "2024-07-26");
  EXPECT_EQ(release(1732492800000), "2024-11-25");
  EXPECT_EQ(release(1732492800000 - 1), "2024-11-24");
  EXPECT_EQ(release("2024-07-26T00:00:00"), "2024-07-26");
}

TEST(LiveBench, ReadsOneFileATask) {
  const TemporaryDirectory directory;
  const auto first = directory.write("a.jsonl", lines_of({live_row(1, "spatial", "2024-07-26", "")}));
  const auto second = directory.write("b.jsonl", lines_of({live_row(2, "zebra_puzzle", "2024-11-25T00:00:00", "")}));
  const std::vector files = {first, second};
  EXPECT_EQ(load_dataset("livebench-reasoning", files, {}).questions.size(), 2U);
  const std::vector twice = {first, first};
  expect_in("a.jsonl: the question 'q1' is in an earlier file, too",
            error_of([&] { load_dataset("livebench-reasoning", twice, {}); }));
  expect_in("data: has no questions",
            error_of([&] { load_dataset("livebench-reasoning", std::vector<std::filesystem::path>(), {}); }));
}

TEST(LiveBench, RowsAreChecked) {
  const auto error = [](const char* key, const Json& value) {
    Json row = live_row(1, "spatial", "2024-07-26", "");
    row[key] = value;
    return parse_error("livebench-reasoning", lines_of({row}), "q.jsonl");
  };
  expect_in("column 'task' is 'sudoku'; should be one of 'spatial', 'zebra_puzzle', 'web_of_lies_v2'",
            error("task", "sudoku"));
  expect_in("column 'turns' has 2 turns", error("turns", {"a", "b"}));
  expect_in("column 'turns' is text; should be a list of texts", error("turns", "a"));
  expect_in("column 'livebench_release_date' is 'soon'", error("livebench_release_date", "soon"));
  expect_in("column 'livebench_release_date' is 20241125", error("livebench_release_date", 20241125));
  expect_in("column 'livebench_release_date' is -5; should be a date", error("livebench_release_date", -5));
  expect_in("column 'ground_truth' is empty", error("ground_truth", "  "));
  expect_in("column 'ground_truth' is missing or null", error("ground_truth", nullptr));
  expect_in("column 'question_id' is missing or null", error("question_id", nullptr));
}

TEST(Gsm8k, TakesTheNumberAfterTheMark) {
  const Dataset set = parse_dataset(
      "gsm8k", lines_of({{{"question", "How much?"}, {"answer", "2 * 600 = <<2*600=1200>>1,200\n#### 1,200"}}}),
      "test.jsonl", {});
  EXPECT_EQ(set.questions.at(0).answer, "1200");
  EXPECT_EQ(gsm8k_gold("#### -3.5"), "-3.5");
  EXPECT_EQ(gsm8k_gold("#### $5"), "5");
  EXPECT_EQ(gsm8k_gold("no mark"), std::nullopt);
  EXPECT_EQ(
      parse_error("gsm8k", "{\"question\":\"a\",\"answer\":\"It is\\nfive\"}\n", "t.jsonl"),
      "t.jsonl: row 1 (line 1), column 'answer' is 'It is\\nfive'; should be a number, or end in '#### ' and a number");
}

TEST(Math500, KeepsLatexSubjectAndLevel) {
  const Dataset set = parse_dataset("math-500",
                                    lines_of({{{"problem", "Convert."},
                                               {"solution", "..."},
                                               {"answer", "\\left( 3, \\frac{\\pi}{2} \\right)"},
                                               {"subject", "Precalculus"},
                                               {"level", 2},
                                               {"unique_id", "test/precalculus/1.json"}}}),
                                    "test.jsonl", {});
  const Question& question = set.questions.at(0);
  EXPECT_EQ(question.answer, "\\left( 3, \\frac{\\pi}{2} \\right)");
  EXPECT_EQ(question.task, "Precalculus");
  EXPECT_EQ(question.difficulty, "2");
  EXPECT_EQ(question.id, "test/precalculus/1.json");
}

TEST(NanoBench, IsAskedAsItStands) {
  const Dataset set = parse_dataset(
      "nano-bench",
      "{\"id\":\"m1\",\"family\":\"maze\",\"difficulty\":\"hard\",\"question\":\"Which door?\",\"answer\":\"42\"}\n",
      "nano.jsonl", {});
  const Question& question = set.questions.at(0);
  EXPECT_EQ(question.task, "maze");
  EXPECT_EQ(question.difficulty, "hard");
  EXPECT_EQ(user_prompt(set.info.prompt, question), "Which door?");
}

TEST(Custom, TakesAnyColumns) {
  DatasetOptions options;
  options.question_field = "prompt";
  options.answer_field = "gold";
  options.id_field = "key";
  const Dataset set = parse_dataset("custom", "key,prompt,gold\nk1,Why?,because\n", "mine.csv", options);
  EXPECT_EQ(set.questions.at(0).id, "k1");
  EXPECT_EQ(set.questions.at(0).text, "Why?");
  EXPECT_EQ(set.questions.at(0).answer, "because");
  EXPECT_EQ(parse_error("custom", "prompt,gold\na,b\n", "mine.csv"),
            "mine.csv: custom needs the columns 'question', 'answer'; the file has 'prompt', 'gold'; name yours with "
            "question_field and answer_field");
  expect_in("needs the column 'key'", parse_error("custom", "prompt,gold\na,b\n", "mine.csv", options));
  expect_in("has 2 columns 'gold'", parse_error("custom", "key,prompt,gold,gold\n1,a,b,c\n", "mine.csv", options));
}

TEST(Rows, AreCheckedForEveryDataset) {
  EXPECT_EQ(
      parse_error(
          "custom",
          "{\"id\":\"a\",\"question\":\"x\",\"answer\":\"1\"}\n\n{\"id\":\"a\",\"question\":\"y\",\"answer\":\"2\"}\n",
          "c.jsonl"),
      "c.jsonl: row 2 (line 3), column 'id' is 'a', as in row 1; every id should be there once");
  EXPECT_EQ(parse_error("custom", "question,answer\n,1\n", "c.csv"),
            "c.csv: row 1 (line 2), column 'question' is empty");
  expect_in("column 'answer' is not UTF-8: '\\xff'", parse_error("custom", "question,answer\na,\xFF\n", "c.csv"));
  expect_in("column 'answer' is an object; should be text",
            parse_error("custom", "{\"question\":\"a\",\"answer\":{}}\n", "c.jsonl"));
  EXPECT_EQ(parse_error("custom", "question,answer\n", "c.csv"), "c.csv: has no questions");
  EXPECT_EQ(parse_error("custom", "", "c.csv"), "c.csv: is empty");
  const TemporaryDirectory directory;
  expect_in("is a directory", error_of([&] { load_dataset("custom", directory.path(), {}); }));
}

TEST(Prompts, AskForTheFormThatIsGraded) {
  Question question;
  question.text = "How many?";
  EXPECT_EQ(user_prompt(PromptStyle::kBoxed, question),
            "How many?\nPlease reason step by step, and put your final answer within \\boxed{}.");
  question.choices = {"one", "two", "three", "four"};
  const std::string prompt = user_prompt(PromptStyle::kMultipleChoice, question);
  EXPECT_EQ(prompt,
            "Answer the following multiple choice question. The last line of your response should be of the following "
            "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before "
            "answering.\n\nHow many?\n\nA) one\nB) two\nC) three\nD) four");
}

}  // namespace
}  // namespace dts::eval
