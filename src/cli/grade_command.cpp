// `dts grade`: answers in, verdicts out, by the graders of `dts eval`; no model.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "dts/answer.h"
#include "dts/error.h"
#include "eval/datasets/dataset.h"
#include "eval/datasets/gold.h"
#include "eval/grade/grade.h"
#include "text/quote.h"

namespace dts::cli {
namespace {

using nlohmann::json;

struct GradeFlags {
  std::string file = "-";
  std::string dataset = "custom";
  bool opens_thinking = false;
};

// The text under the first of the names that is there; empty when none is.
std::string text_of(const json& line, const std::vector<const char*>& names, const std::string& where) {
  for (const char* name : names) {
    const auto found = line.find(name);
    if (found == line.end() || found->is_null()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number()) return found->dump();
    throw Error(fmt::format("{}: \"{}\" is {}; should be text", where, name, found->type_name()));
  }
  return {};
}

// The right answer in the form in which `dts eval` has it of a dataset's file. What is no number stays as it is: nobody
// is right then.
std::string gold_of(const std::string& written, eval::AnswerKind answers) {
  switch (answers) {
    case eval::AnswerKind::kInteger:
      return eval::aime_gold(written).value_or(normalise_answer(written));
    case eval::AnswerKind::kNumber:
      return eval::gsm8k_gold(written).value_or(normalise_answer(written));
    default:
      return written;
  }
}

eval::Question question_of(const json& line, const eval::DatasetInfo& info, const std::string& where) {
  eval::Question question;
  question.id = text_of(line, {"id"}, where);
  question.answer = gold_of(text_of(line, {"gold", "answer", "ground_truth"}, where), info.answers);
  question.task = text_of(line, {"task"}, where);
  question.release = text_of(line, {"release", "livebench_release_date"}, where);
  if (question.answer.empty()) throw Error(where + ": has no \"gold\"; should be the right answer");
  if (info.answers == eval::AnswerKind::kLiveBench && question.task.empty()) {
    throw Error(where + ": has no \"task\"; LiveBench's scorers differ by it");
  }
  return question;
}

std::string verdict_of(const std::string& text, const eval::DatasetInfo& info, bool opens_thinking,
                       const std::string& where) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) throw Error(where + ": is no JSON object; should be {\"gold\": ..., \"text\": ...}");
  const eval::Question question = question_of(line, info, where);
  if (!line.contains("text") && !line.contains("response")) {
    throw Error(where + ": has no \"text\"; should be what the model wrote");
  }
  const std::string trajectory = text_of(line, {"text", "response"}, where);
  const eval::Grade grade = eval::grade(info, question, trajectory, opens_thinking);
  json out;
  if (!question.id.empty()) out["id"] = question.id;
  out["score"] = grade.score;
  out["extracted"] = grade.extracted;
  out["answer"] = grade.answer;
  out["gold"] = question.answer;
  out["reason"] = grade.reason;
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

int grade_lines(const GradeFlags& flags) {
  const eval::DatasetInfo& info = eval::find_dataset(flags.dataset);
  std::ifstream file;
  const bool from_stdin = flags.file == "-";
  if (!from_stdin) {
    file.open(flags.file, std::ios::binary);
    if (!file) throw Error(fmt::format("{}: cannot be read", flags.file));
  }
  std::istream& input = from_stdin ? std::cin : file;
  std::size_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    write_stdout(verdict_of(line, info, flags.opens_thinking,
                            fmt::format("{}, line {}", from_stdin ? "standard input" : flags.file, number)));
  }
  if (number == 0) throw Error("nothing to grade: JSON lines with \"gold\" and \"text\" are read");
  return kExitAnswered;
}

}  // namespace

void add_grade_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("grade", "score answers as dts eval does");
  auto flags = std::make_shared<GradeFlags>();
  command->footer(
      "FILE has a JSON object a line: \"gold\", the right answer; \"text\", what the model wrote; for LiveBench "
      "\"task\"\n"
      "and \"release\". Each line out has the score, the answer that was found and the reason.\n\n"
      "  echo '{\"gold\": \"1/2\", \"text\": \"so it is \\\\boxed{0.5}\"}' | dts grade\n"
      "  dts grade --dataset gpqa-diamond answers.jsonl");
  command->add_option("file", flags->file, "answers (default -: standard input)")->type_name("FILE");
  add_value(*command, "--dataset", "NAME", "whose rules (default custom: any mathematics)",
            [flags](const std::string& text) { flags->dataset = text; });
  command->add_flag("--opens-thinking", flags->opens_thinking, "the prompt ended in <think>, so the texts begin in it");
  command->callback([flags, &exit_code] { exit_code = grade_lines(*flags); });
}

}  // namespace dts::cli
