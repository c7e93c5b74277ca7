#include "cli/chat_session.h"

#include <fmt/format.h>

#include <utility>

#include "cli/decoding_flags.h"
#include "cli/run_report.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/text_search.h"
#include "text/display.h"
#include "text/glyphs.h"

namespace dts::cli {

ChatSession::ChatSession(const Model& model, const ModelFlags& flags, DecodingOptions decoding, std::string system,
                         std::optional<AnswerForm> answer)
    : model_(model),
      context_size_(flags.context_size),
      decoding_(std::move(decoding)),
      system_(std::move(system)),
      answer_(answer) {
  checked_search(decoding_, model.info().most_branches);
}

void ChatSession::set_option(const OptionInfo& option, std::string_view value) {
  DecodingOptions changed = decoding_;
  option.set(changed, parse_option(option, value));
  checked_search(changed, model_.info().most_branches);
  decoding_ = std::move(changed);
}

void ChatSession::make_room(int branches) {
  if (engine_ && branches <= branches_) return;
  scheduler_.reset();
  engine_.reset();  // before the next one is planned: both need not fit
  engine_ = model_.make_engine({.max_branches = branches, .context_length = context_size_});
  scheduler_ = std::make_unique<Scheduler>(*engine_);
  branches_ = branches;
}

std::optional<std::string> ChatSession::ask(const std::string& question,
                                            const std::function<std::unique_ptr<View>(const FrameTitle&)>& view,
                                            const std::function<bool()>& stopping) {
  SearchOptions options = checked_search(decoding_, model_.info().most_branches);
  options.sampling = decoding_.sampling(model_.recommended_sampling().options);
  validate(options, model_.vocabulary().size());
  std::vector<ChatMessage> messages;
  if (!system_.empty()) messages.push_back({"system", system_});
  messages.insert(messages.end(), messages_.begin(), messages_.end());
  std::optional<AnswerForm> form;
  if (answer_) form = form_of(*answer_, question);
  messages.push_back({"user", form ? asked_in(*form, question) : question});
  const ChatPrompt prompt = model_.vocabulary().chat(messages);

  make_room(options.method.max_live());
  const int room = engine_->info().context_length - static_cast<int>(prompt.tokens.size());
  if (room < 1) {
    throw usage_error(
        fmt::format("the conversation has {} tokens, but the context (--ctx-size) holds {}: /undo or "
                    "/clear make room",
                    prompt.tokens.size(), engine_->info().context_length));
  }
  limit_tokens(options, room);

  const text::Glyphs& glyphs = text::glyphs(true);
  FrameTitle title;
  title.model = text::one_line(model_.info().name);
  title.method = options.method.name;
  title.settings = describe_settings(options, glyphs);
  title.sampling = describe_sampling(options.sampling, glyphs);
  title.question = text::one_line(question);
  title.max_live = options.method.max_live();
  const int all = options.method.branch.enabled ? options.method.max_live() : options.method.width;
  title.wanted = options.method.stop.finished == StopRule::kAll ? all : options.method.stop.finished;
  const std::unique_ptr<View> shown = view(title);

  TextSearchOptions text;
  if (form) {
    text.read_answer = form_reader(*form, question, prompt.opens_thinking);
    text.same_answer = form_equality(*form);
  }
  const std::shared_ptr<Search> search = make_text_search(model_.vocabulary(), prompt, options, std::move(text));
  Snapshotter snapshotter(*search, model_.vocabulary());
  search->on_event = [&](const SearchEvent& event) { snapshotter.on_event(event); };
  JobTimes wall;
  Job job;
  job.search = search;
  job.max_seconds = decoding_.max_seconds;
  job.on_prefill = [&](const JobProgress& progress) { shown->prefilling(progress.prefilled, progress.prompt); };
  job.on_done = [&](const JobTimes& times) { wall = times; };
  const JobId id = scheduler_->submit(std::move(job));
  bool cancelled = false;
  while (scheduler_->step()) {
    if (!cancelled && stopping()) {
      cancelled = true;
      scheduler_->cancel(id);
      shown->stopping();
    }
    if (search->step() > 0) shown->stepped(snapshotter);
  }
  shown->close();
  tree_ = document_of(*search, model_.vocabulary(), prompt, engine_->info(), wall);
  tree_->model = model_.info().name;
  tree_->question = question;
  if (search->outcome().reason == StopReason::kFailed) throw Error(search->failure());
  if (!tree_->outcome.winner) return std::nullopt;
  std::string answer = answer_text(*tree_);
  messages_.push_back({"user", question});
  messages_.push_back({"assistant", answer});
  return answer;
}

std::optional<std::string> ChatSession::undo() {
  if (messages_.size() < 2) return std::nullopt;
  std::string question = messages_[messages_.size() - 2].content;
  messages_.resize(messages_.size() - 2);
  return question;
}

}  // namespace dts::cli
