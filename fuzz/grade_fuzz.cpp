// libFuzzer: any text as a trajectory, any as the right answer, of any dataset: a score from 0 to 1, and what votes is
// what was graded. The first byte chooses the dataset.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "eval/grade/grade.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dts::eval;
  if (size == 0) return 0;
  const auto all = datasets();
  const DatasetInfo& info = all[data[0] % all.size()];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t cut = text.find('\0');
  Question question;
  question.answer = text.substr(0, cut);
  question.release = (data[0] & 0x40U) != 0 ? "2024-06-24" : "2024-11-25";
  static const char* const kTasks[] = {"spatial", "zebra_puzzle", "web_of_lies_v2", "house_traversal"};
  question.task = kTasks[(data[0] >> 4U) % 4];
  if (info.answers == AnswerKind::kLetter) question.choices.resize(4);
  const std::string_view trajectory = cut == std::string_view::npos ? std::string_view() : text.substr(cut + 1);
  const bool opens = (data[0] & 0x80U) != 0;
  const Grade made = grade(info, question, trajectory, opens);
  const bool holds = made.score >= 0 && made.score <= 1 && (made.extracted || made.score == 0) &&
                     !made.reason.empty() && made.answer == answer_for_vote(info, question, trajectory, opens);
  if (!holds) std::abort();
  const Grade again = grade(info, question, trajectory, opens);
  if (again.score != made.score || again.answer != made.answer) std::abort();
  return 0;
}
