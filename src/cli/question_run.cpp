#include "cli/question_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/interrupt.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "text/numbers.h"

namespace dts::cli {

std::optional<AnswerForm> answer_form(const ModelFlags& model, bool raw, std::optional<AnswerForm> asked,
                                      const std::string& question) {
  if (!asked && (model.is_built_in() || raw)) return std::nullopt;
  return form_of(asked.value_or(AnswerForm::kAuto), question);
}

ChatPrompt make_prompt(const QuestionText& question, const Vocabulary& vocabulary) {
  if (question.raw) {
    const std::string_view text = question.question;
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    return {question.question, vocabulary.tokenize_prompt(question.question),
            text.substr(0, end + 1).ends_with("<think>")};
  }
  std::vector<ChatMessage> messages;
  if (!question.system.empty()) messages.push_back({"system", question.system});
  messages.push_back({"user", question.form ? asked_in(*question.form, question.question) : question.question});
  return vocabulary.chat(messages);
}

int choose_context(const ModelFlags& flags, const DecodingOptions& decoding, const ModelInfo& model,
                   int prompt_tokens) {
  const int trained = model.training_context;
  int context = flags.context_size;
  if (context == 0 && decoding.max_tokens) {
    const std::int64_t wanted = std::int64_t{prompt_tokens} + *decoding.max_tokens;
    context = static_cast<int>(std::min<std::int64_t>(wanted, trained > 0 ? trained : wanted));
  }
  const int room = context > 0 ? context : trained;
  if (room > 0 && prompt_tokens >= room) {
    const bool by_flag = flags.context_size > 0;
    throw usage_error(fmt::format("the prompt has {}, but {} holds {}: {}", text::counted(prompt_tokens, "token"),
                                  by_flag ? "the context (--ctx-size)" : "the model's context", room,
                                  by_flag ? "raise it or shorten the prompt" : "shorten the prompt"));
  }
  return context;
}

TreeDocument decode(Engine& engine, const Vocabulary& vocabulary, const ChatPrompt& prompt,
                    const SearchOptions& options, const QuestionText& text, double max_seconds, View& view) {
  TextSearchOptions reading;
  reading.stop = text.stop;
  if (text.form) {
    reading.read_answer = form_reader(*text.form, text.question, prompt.opens_thinking);
    reading.same_answer = form_equality(*text.form);
  }
  const std::shared_ptr<Search> search = make_text_search(vocabulary, prompt, options, std::move(reading));
  Snapshotter snapshotter(*search, vocabulary);
  search->on_event = [&](const SearchEvent& event) { snapshotter.on_event(event); };

  JobTimes wall;
  Job job;
  job.search = search;
  job.max_seconds = max_seconds;
  job.on_prefill = [&](const JobProgress& progress) { view.prefilling(progress.prefilled, progress.prompt); };
  job.on_done = [&](const JobTimes& times) { wall = times; };

  const EngineTimes before = engine.times();
  Scheduler scheduler(engine);
  const JobId id = scheduler.submit(std::move(job));
  bool cancelled = false;
  while (scheduler.step()) {
    if (Interrupt::requested() && !cancelled) {
      cancelled = true;
      scheduler.cancel(id);
      view.stopping();
    }
    if (search->step() > 0) view.stepped(snapshotter);
  }
  const EngineTimes after = engine.times();

  TreeDocument document = document_of(*search, vocabulary, prompt, engine.info(), wall);
  document.stop = text.stop;
  if (search->outcome().reason == StopReason::kFailed) document.outcome.error = search->failure().spelled(flag_of);
  document.times.model = after.model - before.model;
  document.times.statistics = after.statistics - before.statistics;
  document.times.forks = after.forks - before.forks;
  document.times.bookkeeping = scheduler.bookkeeping_seconds();
  return document;
}

}  // namespace dts::cli
