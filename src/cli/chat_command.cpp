// `dts chat`: a conversation in the terminal, each answer a tree.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/chat_session.h"
#include "cli/commands.h"
#include "cli/decoding_flags.h"
#include "cli/interrupt.h"
#include "cli/line_reader.h"
#include "cli/model_loader.h"
#include "cli/output.h"
#include "cli/prompt_source.h"
#include "cli/spelling.h"
#include "dts/draw.h"
#include "dts/error.h"
#include "io/whole_file.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/nearest.h"
#include "text/numbers.h"
#include "text/style.h"
#include "text/utf8.h"

namespace dts::cli {
namespace {

struct ChatFlags {
  ModelFlags model;
  DecodingOptions decoding;
  std::string system;
  std::string system_file;
  std::optional<AnswerForm> answer;  // none: auto, but for the built-in model
  bool quiet = false;
  bool no_history = false;
  bool no_colour = false;
};

constexpr const char* kHelp =
    "/tree [FILE]        the last answer's tree; into FILE (.json, .html, .svg, .dot) when one is named\n"
    "/undo               take the last question and its answer back\n"
    "/retry              ask the last question again, with another seed\n"
    "/method [NAME]      how to decode from now on; dts methods lists them\n"
    "/set [NAME VALUE]   an option from now on, as the command line has it: /set tau-v 1\n"
    "/system [TEXT]      the system message from now on; /system - takes it away\n"
    "/save FILE          the conversation as JSON\n"
    "/history            the conversation so far\n"
    "/clear              begin anew\n"
    "/quit               end (also Ctrl-D)\n"
    "A line that ends with \\ goes on in the next. Ctrl-C ends an answer with the best so far.\n";

class Chat {
 public:
  Chat(const ChatFlags& flags, ChatSession& session, LineReader& lines, bool typed)
      : flags_(flags),
        session_(session),
        lines_(lines),
        typed_(typed),
        terminal_(detect_terminal(STDERR_FILENO, flags.no_colour)) {}

  int run() {
    while (!over_) {
      std::optional<std::string> line = read();
      if (!line) break;
      const std::string text(text::trim(*line));
      if (text.empty()) continue;
      lines_.remember(*line);
      try {
        if (text.starts_with('/')) {
          command(text);
        } else {
          ask(*line);
        }
      } catch (const Error& error) {
        print_error(error.spelled(flag_of));
        if (!typed_) failed_ = true;
      }
    }
    if (typed_ && !over_) write_stderr("\n");
    return failed_ ? kExitFailed : (unanswered_ ? kExitUnfinished : kExitAnswered);
  }

 private:
  std::optional<std::string> read() {
    std::optional<std::string> line = lines_.read("> ");
    while (line && line->ends_with('\\')) {
      line->back() = '\n';
      const std::optional<std::string> next = lines_.read(". ");
      if (!next) break;
      *line += *next;
    }
    return line;
  }

  void ask(const std::string& question) {
    if (const auto bad = text::find_invalid_utf8(question)) {
      throw usage_error(fmt::format("the question is not UTF-8 (byte {})", *bad + 1));
    }
    const auto view = [this](const FrameTitle& title) {
      return typed_ && terminal_.interactive && !flags_.quiet ? make_live_view(title, terminal_) : make_silent_view();
    };
    std::optional<std::string> answer;
    bool interrupted = false;
    {
      const Interrupt interrupt;  // Ctrl-C is this answer's, not the program's
      answer = session_.ask(question, view, [] { return Interrupt::requested(); });
      interrupted = Interrupt::requested();
    }
    unanswered_ = !answer;
    if (!answer) {
      last_question_ = question;
      write_stderr(interrupted
                       ? "interrupted: no trajectory had come to an end; /retry asks again\n"
                       : "no trajectory came to an end; /retry asks again, and /set predict N gives more room\n");
      return;
    }
    last_question_.clear();
    write_stdout(text::printable(*answer) + "\n");
    if (!flags_.quiet) write_stderr(text::styled(account(interrupted), text::Style::kDim, terminal_.colour) + "\n");
    if (!typed_) write_stdout("\n");
  }

  // "3 of 8 agree · 412 tokens · 2.3 s · /tree shows how"
  std::string account(bool interrupted) const {
    const TreeDocument& tree = *session_.last_tree();
    const Outcome& outcome = tree.outcome;
    std::string text;
    if (outcome.finished.size() > 1 && !outcome.votes.empty()) {
      text += fmt::format("{} of {} agree, ", outcome.votes.front().votes, outcome.finished.size());
    }
    text += fmt::format("{}, {}", text::counted(outcome.account.unique_tokens, "token"),
                        text::seconds(tree.times.prefill + tree.times.decode));
    if (interrupted) text += ", interrupted";
    return "(" + text + (typed_ ? "; /tree shows how)" : ")");
  }

  void command(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, space);
    const std::string rest(text::trim(std::string_view(line).substr(space)));
    if (name == "/help" || name == "/?") return static_cast<void>(write_stdout(kHelp));
    if (name == "/quit" || name == "/exit" || name == "/q") return static_cast<void>(over_ = true);
    if (name == "/tree") return tree(rest);
    if (name == "/undo") return undo();
    if (name == "/retry") return retry();
    if (name == "/method") return method(rest);
    if (name == "/set") return set(rest);
    if (name == "/system") return system(rest);
    if (name == "/save") return save(rest);
    if (name == "/history") return history();
    if (name == "/clear") {
      session_.clear();
      return say("the conversation begins anew");
    }
    const std::string near = text::nearest(name, {"/help", "/quit", "/tree", "/undo", "/retry", "/method", "/set",
                                                  "/system", "/save", "/history", "/clear"});
    throw usage_error(fmt::format("unknown command '{}': {}", text::one_line(name),
                                  near.empty() ? "see /help" : fmt::format("did you mean {}?", near)));
  }

  void say(const std::string& text) const {
    if (!flags_.quiet) write_stderr(text + "\n");
  }

  void tree(const std::string& file) const {
    const std::optional<TreeDocument>& tree = session_.last_tree();
    if (!tree) throw usage_error("there is no tree yet: ask something first");
    if (file.empty()) {
      const Terminal out = detect_terminal(STDOUT_FILENO, flags_.no_colour);
      TextDrawingOptions options{.width = 100, .colour = out.colour, .unicode = out.unicode};
      if (out.interactive) options.width = out.size().columns;
      write_stdout(draw_text(*tree, options));
      return;
    }
    if (file.ends_with(".html")) {
      write_whole_file(file, draw_html(*tree));
    } else if (file.ends_with(".svg")) {
      write_whole_file(file, draw_svg(*tree));
    } else if (file.ends_with(".dot")) {
      write_whole_file(file, draw_dot(*tree));
    } else {
      save_tree(file, *tree);
    }
    say(fmt::format("the tree is in {}", file));
  }

  void undo() {
    const std::optional<std::string> question = session_.undo();
    if (!question) throw usage_error("there is nothing to undo");
    say(fmt::format("undone: {}", text::shorten(text::one_line(*question), 60)));
  }

  void retry() {
    std::string question = last_question_;
    std::optional<std::string> taken;
    if (question.empty()) {
      taken = session_.undo();
      if (!taken) throw usage_error("there is nothing to ask again");
      question = *taken;
    }
    const std::uint64_t seed = session_.decoding().seed.value_or(0);
    session_.set_option(*find_option("seed"), fmt::format("{}", seed + 1));
    ask(question);
  }

  void method(const std::string& name) {
    if (name.empty()) return static_cast<void>(write_stdout(session_.decoding().method + "\n"));
    session_.set_option(*find_option("method"), name);
    say("method " + name);
  }

  void set(const std::string& rest) {
    if (rest.empty()) {
      std::string text;
      for (const OptionInfo& option : decoding_options()) {
        const std::string value = value_text(option.get(session_.decoding()));
        text += fmt::format("{:<20} {}\n", option.flag_name(), value.empty() ? "-" : value);
      }
      write_stdout(text);
      return;
    }
    const std::size_t space = std::min(rest.find_first_of(" ="), rest.size());
    std::string name = rest.substr(0, space);
    const std::string value(text::trim(std::string_view(rest).substr(std::min(space + 1, rest.size()))));
    while (name.starts_with('-')) name.erase(0, 1);
    const OptionInfo* option = find_option_flag(name);
    if (option == nullptr) option = find_option(name);
    if (option == nullptr || value.empty()) {
      std::vector<std::string> known;
      for (const OptionInfo& each : decoding_options()) known.push_back(each.flag_name());
      const std::string near = text::nearest(name, known);
      throw usage_error(option != nullptr
                            ? fmt::format("/set {} needs a value", name)
                            : fmt::format("there is no option '{}': {}", text::one_line(name),
                                          near.empty() ? "/set lists them" : fmt::format("did you mean {}?", near)));
    }
    session_.set_option(*option, value);
    say(fmt::format("{} {}", option->flag_name(), value));
  }

  void system(const std::string& text) {
    if (text.empty()) return static_cast<void>(write_stdout(text::printable(session_.system()) + "\n"));
    session_.set_system(text == "-" ? "" : text);
    say(text == "-" ? "no system message" : "the system message is another one from now on");
  }

  void save(const std::string& file) const {
    if (file.empty()) throw usage_error("/save needs a file");
    nlohmann::json out = {{"model", session_.model_info().name}, {"messages", nlohmann::json::array()}};
    if (!session_.system().empty()) out["messages"].push_back({{"role", "system"}, {"content", session_.system()}});
    for (const ChatMessage& message : session_.messages()) {
      out["messages"].push_back({{"role", message.role}, {"content", message.content}});
    }
    for (const OptionInfo& option : decoding_options()) {
      const std::string value = value_text(option.get(session_.decoding()));
      if (!value.empty()) out["options"][std::string(option.name)] = value;
    }
    write_whole_file(file, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    say(fmt::format("{} are in {}", text::counted(static_cast<std::int64_t>(session_.messages().size()), "message"),
                    file));
  }

  void history() const {
    std::string text;
    for (const ChatMessage& message : session_.messages()) {
      text += (message.role == "user" ? "> " : "") + text::printable(message.content) + "\n";
    }
    write_stdout(text);
  }

  const ChatFlags& flags_;
  ChatSession& session_;
  LineReader& lines_;
  bool typed_;  // by a person, at a terminal
  Terminal terminal_;
  bool over_ = false;
  bool failed_ = false;
  bool unanswered_ = false;
  std::string last_question_;  // without an answer
};

std::string history_file(const ChatFlags& flags) {
  if (flags.no_history) return "";
  const auto get = [](const char* name) { return std::string(getenv(name) == nullptr ? "" : getenv(name)); };
  if (const std::string state = get("XDG_STATE_HOME"); !state.empty()) return state + "/dts/chat_history";
  return get("HOME").empty() ? "" : get("HOME") + "/.local/state/dts/chat_history";
}

int chat(const ChatFlags& flags) {
  flags.decoding.search();
  if (!flags.system.empty() && !flags.system_file.empty()) {
    throw usage_error("--system and --system-file both give the system message: one of them must go");
  }
  std::string system = flags.system;
  if (!flags.system_file.empty()) system = std::string(text::trim(read_whole_file(flags.system_file, kMaxPromptBytes)));

  const bool typed = isatty(STDIN_FILENO) == 1;
  std::unique_ptr<LoadedModel> loaded;
  {
    const Interrupt interrupt;
    LoadingHooks hooks;
    hooks.stopping = [] { return Interrupt::requested(); };
    hooks.quiet = flags.quiet;
    loaded = load_model(flags.model, hooks);
  }
  if (!loaded) {
    print_error("interrupted while the model was being loaded");
    return kExitUnfinished;
  }
  std::optional<AnswerForm> form = flags.answer;
  if (!form && !flags.model.is_built_in()) form = AnswerForm::kAuto;
  ChatSession session(**loaded, flags.model, flags.decoding, system, form);
  const std::unique_ptr<LineReader> lines = typed ? make_editing_reader(history_file(flags)) : make_plain_reader();
  if (typed && !flags.quiet) {
    write_stderr(fmt::format("{}, {}; /help lists the commands, Ctrl-D ends\n", text::one_line((*loaded)->info().name),
                             flags.decoding.method));
  }
  return Chat(flags, session, *lines, typed).run();
}

}  // namespace

void add_chat_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("chat", "talk with a model in the terminal, each answer a tree");
  auto flags = std::make_shared<ChatFlags>();
  command->footer(
      "A line is a question; /help lists what else there is: /tree, /undo, /retry, /method, /save. Ctrl-C ends an "
      "answer\n"
      "with the best so far, Ctrl-D the conversation. From a file or a pipe each line is a question as well.\n\n"
      "  dts chat -hf ORG/REPO --system-file tutor.txt\n"
      "  printf '2+2?\\nand twice that?\\n' | dts chat -m model.gguf -q");
  command->option_defaults()->group("Conversation");
  add_value(*command, "--system", "TEXT", "system message", [flags](const std::string& text) { flags->system = text; });
  add_value(*command, "--system-file", "FILE", "file with the system message",
            [flags](const std::string& text) { flags->system_file = text; });
  command->add_flag("--no-history", flags->no_history, "keep no history of what is typed");
  command->add_flag("-q,--quiet", flags->quiet, "the answers alone");
  command->add_flag("--no-color", flags->no_colour, "no colours (as the environment's NO_COLOR)");
  add_answer_option(*command, flags->answer, "auto; the built-in model is asked as it is");
  add_model_options(*command, flags->model);
  add_decoding_options(*command, flags->decoding);
  command->callback([flags, &exit_code] { exit_code = chat(*flags); });
}

}  // namespace dts::cli
