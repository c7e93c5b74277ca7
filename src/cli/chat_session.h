// A conversation: its messages, the engine that answers, and the tree of the last answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/view.h"
#include "dts/model.h"
#include "dts/options.h"
#include "dts/scheduler.h"
#include "dts/tree_file.h"
#include "question/answer_form.h"

namespace dts::cli {

class ChatSession {
 public:
  // `model` must outlive it. `answer`: in which form questions are asked, each for its own turn: what is kept of the
  // conversation is as it was typed; none: as they are.
  ChatSession(const Model& model, const ModelFlags& flags, DecodingOptions decoding, std::string system,
              std::optional<AnswerForm> answer);

  // Asks, and keeps question and answer as messages. `view` is told how it goes; `stopping` is asked between steps, and
  // ends it with the best so far. The answer as a person reads it; none: no trajectory came to an end, or it was
  // stopped before: then nothing is kept of the turn but its tree. Throws dts::Error, and the conversation is then as
  // it was.
  std::optional<std::string> ask(const std::string& question,
                                 const std::function<std::unique_ptr<View>(const FrameTitle&)>& view,
                                 const std::function<bool()>& stopping);

  // Takes the last question and its answer back. The question; none: there was none.
  std::optional<std::string> undo();
  void clear() { messages_.clear(); }

  const std::vector<ChatMessage>& messages() const { return messages_; }  // the system's apart
  const std::string& system() const { return system_; }
  void set_system(std::string text) { system_ = std::move(text); }
  const DecodingOptions& decoding() const { return decoding_; }
  // Throws a usage error, and nothing has changed.
  void set_option(const OptionInfo& option, std::string_view value);
  const std::optional<TreeDocument>& last_tree() const { return tree_; }
  const ModelInfo& model_info() const { return model_.info(); }

 private:
  void make_room(int branches);

  const Model& model_;
  int context_size_;
  DecodingOptions decoding_;
  std::string system_;
  std::optional<AnswerForm> answer_;
  std::vector<ChatMessage> messages_;
  std::optional<TreeDocument> tree_;
  int branches_ = 0;  // that the engine can keep
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Scheduler> scheduler_;  // kept from turn to turn, and with it what was prefilled
};

}  // namespace dts::cli
