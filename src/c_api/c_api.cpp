#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "draw/labels.h"
#include "dts/answer.h"
#include "dts/draw.h"
#include "dts/dts_c.h"
#include "dts/error.h"
#include "dts/local_model.h"
#include "dts/version.h"
#include "host/model_host.h"
#include "hub/hub.h"

// Nothing that a C program can see may throw: every function that does more than read runs inside guarded().

#pragma GCC visibility push(default)

struct dts_c_error {
  std::string text;
  bool usage = false;
};

struct dts_c_model {
  std::unique_ptr<dts::host::ModelHost> host;
  std::string name;
};

struct dts_c_question {
  dts::host::HostQuestion asked;
  std::string text;
};

struct dts_c_result {
  std::shared_ptr<const dts::TreeDocument> document;
  std::string answer;
  std::string text;
  std::string thinking;
  std::string reason;
  std::string disagreement;
  std::string json;  // once asked for
  std::string svg;   // once asked for
};

namespace {

using dts::host::HostEvent;

// For when there is no memory to say so. Never freed.
dts_c_error& out_of_memory() {
  static dts_c_error error{"out of memory", false};
  return error;
}

dts_c_error* make_error(const char* text, bool usage) {
  try {
    return new dts_c_error{text, usage};
  } catch (...) {
    return &out_of_memory();
  }
}

template <typename Function>
dts_c_error* guarded(const Function& function) {
  try {
    function();
    return nullptr;
  } catch (const dts::Error& error) {
    return make_error(error.what(), error.kind() == dts::Error::Kind::kUsage);
  } catch (const std::bad_alloc&) {
    return &out_of_memory();
  } catch (const std::exception& error) {
    return make_error(error.what(), false);
  } catch (...) {
    return make_error("an unknown failure", false);
  }
}

template <typename... Pointers>
void check_given(const char* function, Pointers... pointers) {
  if (!((pointers != nullptr) && ...)) {
    throw dts::usage_error(std::string(function) + "(): a pointer is null that must not be");
  }
}

// Whether the callback wants more.
bool tell(const HostEvent& event, dts_c_callback callback, void* data) {
  std::vector<dts_c_token> grown;
  grown.reserve(event.grown.size());
  for (const dts::host::GrownToken& token : event.grown) {
    grown.push_back({token.segment, token.record.token, token.text.c_str(), token.text.size(), token.record.logprob,
                     token.record.entropy, token.record.varentropy});
  }
  const std::string type(event.type);
  const dts_c_event told{type.c_str(), event.step,           event.segment, event.live,  event.finished,
                         event.tokens, event.answer.c_str(), grown.data(),  grown.size()};
  return callback(&told, data) == 0;
}

// Where a stop string stands, nothing of it is for the reader.
std::string before_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t end = text.size();
  for (const std::string& stop : stops) end = std::min(end, text.find(stop));
  return std::string(text.substr(0, end));
}

std::unique_ptr<dts_c_result> result_of(std::shared_ptr<const dts::TreeDocument> document) {
  auto result = std::make_unique<dts_c_result>();
  const dts::Outcome& outcome = document->outcome;
  if (outcome.winner) result->answer = outcome.finished[*outcome.winner].answer;
  if (outcome.best_leaf != dts::kNoSegment) {
    const std::string text = dts::trajectory_text(*document, outcome.best_leaf);
    const dts::SplitText split = dts::split_thinking(text, document->opens_thinking);
    result->text = before_stop(split.answer, document->stop);
    result->thinking = split.thinking;
  }
  result->reason = to_string(outcome.reason);
  result->disagreement = dts::draw::disagreement(*document);
  result->document = std::move(document);
  return result;
}

// Whether the caller wants to go on.
bool report(const dts_c_model_options& options, const char* stage, double fraction) {
  return options.progress == nullptr || options.progress(stage, fraction, options.progress_data) == 0;
}

std::unique_ptr<dts_c_model> load(const std::string& path, const dts_c_model_options& given) {
  if (given.threads < 0) throw dts::out_of_range("threads", std::to_string(given.threads), "at least 0");
  dts::LocalModelOptions wanted;
  wanted.model.path = path;
  wanted.model.engine.threads = given.threads;
  if (given.engine != nullptr) wanted.engine = dts::parse_local_engine(given.engine);
  if (given.cpu_only != 0) wanted.model.gpu_layers = 0;
  wanted.model.on_load = [&given](float fraction) { return report(given, "load", fraction); };
  dts::host::HostOptions host;
  if (given.parallel_branches != 0) host.parallel_branches = given.parallel_branches;
  host.context_length = given.context_length;
  auto made = std::make_unique<dts_c_model>();
  made->host = std::make_unique<dts::host::ModelHost>(
      dts::open_local_model(wanted.model, dts::choose_local_engine(wanted).engine), host);
  made->name = made->host->model().info().name;
  return made;
}

std::string fetch(const char* name, const char* file, const dts_c_model_options& given) {
  bool stopped = false;
  dts::hub::HubHooks hooks;
  hooks.progress = [&](const dts::hub::HubProgress& progress) {
    const double total = std::max(1.0, static_cast<double>(progress.total));
    stopped = stopped || !report(given, "download", static_cast<double>(progress.done) / total);
  };
  hooks.stopping = [&stopped] { return stopped; };
  std::string path = dts::hub::fetch_model({name, file == nullptr ? "" : file},
                                           dts::hub::hub_settings([](const char* key) { return getenv(key); }), hooks);
  if (path.empty()) throw dts::Error("the download was ended by the caller; what has come is kept");
  return path;
}

}  // namespace

extern "C" {

const char* dts_c_version(void) {
  static const std::string version(dts::kVersion);
  return version.c_str();
}

const char* dts_c_error_text(const dts_c_error* error) { return error == nullptr ? "" : error->text.c_str(); }
int dts_c_error_is_usage(const dts_c_error* error) { return error != nullptr && error->usage ? 1 : 0; }
void dts_c_error_free(dts_c_error* error) {
  if (error != &out_of_memory()) delete error;
}

dts_c_error* dts_c_model_load(const char* path, const dts_c_model_options* options, dts_c_model** out) {
  return guarded([&] {
    check_given("dts_c_model_load", path, out);
    *out = nullptr;
    *out = load(path, options == nullptr ? dts_c_model_options{} : *options).release();
  });
}

dts_c_error* dts_c_model_load_hub(const char* name, const char* file, const dts_c_model_options* options,
                                  dts_c_model** out) {
  return guarded([&] {
    check_given("dts_c_model_load_hub", name, out);
    *out = nullptr;
    const dts_c_model_options given = options == nullptr ? dts_c_model_options{} : *options;
    *out = load(fetch(name, file, given), given).release();
  });
}

const char* dts_c_model_name(const dts_c_model* model) { return model == nullptr ? "" : model->name.c_str(); }
void dts_c_model_free(dts_c_model* model) { delete model; }

dts_c_error* dts_c_question_new(const char* text, dts_c_question** out) {
  return guarded([&] {
    check_given("dts_c_question_new", text, out);
    *out = nullptr;
    if (*text == '\0') throw dts::usage_error("the question is empty: it must have at least one character");
    auto made = std::make_unique<dts_c_question>();
    made->text = text;
    *out = made.release();
  });
}

dts_c_error* dts_c_question_message(dts_c_question* question, const char* role, const char* content) {
  return guarded([&] {
    check_given("dts_c_question_message", question, role, content);
    question->asked.messages.push_back({role, content});
  });
}

dts_c_error* dts_c_question_set(dts_c_question* question, const char* option, const char* value) {
  return guarded([&] {
    check_given("dts_c_question_set", question, option, value);
    dts::host::set_option(question->asked.decoding, option, value);
  });
}

dts_c_error* dts_c_question_stop(dts_c_question* question, const char* text) {
  return guarded([&] {
    check_given("dts_c_question_stop", question, text);
    question->asked.stop.emplace_back(text);
  });
}

dts_c_error* dts_c_question_answer(dts_c_question* question, const char* form) {
  return guarded([&] {
    check_given("dts_c_question_answer", question, form);
    question->asked.form = dts::host::parse_answer_form(form);
  });
}

dts_c_error* dts_c_question_profile(dts_c_question* question, const char* path) {
  return guarded([&] {
    check_given("dts_c_question_profile", question, path);
    dts::host::apply_profile(question->asked, path);
  });
}

void dts_c_question_free(dts_c_question* question) { delete question; }

dts_c_error* dts_c_run(dts_c_model* model, const dts_c_question* question, dts_c_callback callback, void* data,
                       dts_c_result** out) {
  return guarded([&] {
    check_given("dts_c_run", model, question, out);
    *out = nullptr;
    dts::host::HostQuestion asked = question->asked;
    asked.messages.push_back({"user", question->text});
    asked.events = callback != nullptr;
    const auto run = model->host->ask(std::move(asked));
    using Clock = dts::host::HostedRun::Clock;
    constexpr std::chrono::hours kLong{24};
    bool more = callback != nullptr;
    while (more) {
      if (!run->wait(Clock::now() + kLong)) continue;
      const auto event = run->next_event();
      if (!event) break;  // done, and told to the end
      more = tell(*event, callback, data);
      if (!more) run->cancel();
    }
    while (!run->wait_done(Clock::now() + kLong)) continue;
    if (const auto error = run->error()) throw *error;
    *out = result_of(run->document()).release();
  });
}

const char* dts_c_result_answer(const dts_c_result* result) { return result == nullptr ? "" : result->answer.c_str(); }
const char* dts_c_result_text(const dts_c_result* result) { return result == nullptr ? "" : result->text.c_str(); }
const char* dts_c_result_thinking(const dts_c_result* result) {
  return result == nullptr ? "" : result->thinking.c_str();
}
const char* dts_c_result_reason(const dts_c_result* result) { return result == nullptr ? "" : result->reason.c_str(); }
int dts_c_result_complete(const dts_c_result* result) {
  return result != nullptr && result->document->outcome.complete() ? 1 : 0;
}
size_t dts_c_result_vote_count(const dts_c_result* result) {
  return result == nullptr ? 0 : result->document->outcome.votes.size();
}
const char* dts_c_result_vote_answer(const dts_c_result* result, size_t index) {
  if (index >= dts_c_result_vote_count(result)) return nullptr;
  return result->document->outcome.votes[index].answer.c_str();
}
int dts_c_result_vote_votes(const dts_c_result* result, size_t index) {
  return index >= dts_c_result_vote_count(result) ? 0 : result->document->outcome.votes[index].votes;
}
const char* dts_c_result_disagreement(const dts_c_result* result) {
  return result == nullptr ? "" : result->disagreement.c_str();
}
int64_t dts_c_result_unique_tokens(const dts_c_result* result) {
  return result == nullptr ? 0 : result->document->outcome.account.unique_tokens;
}
int64_t dts_c_result_branch_tokens(const dts_c_result* result) {
  return result == nullptr ? 0 : result->document->outcome.account.branch_tokens;
}
int64_t dts_c_result_steps(const dts_c_result* result) {
  return result == nullptr ? 0 : result->document->outcome.account.steps;
}

dts_c_error* dts_c_result_json(dts_c_result* result, const char** out) {
  return guarded([&] {
    check_given("dts_c_result_json", result, out);
    if (result->json.empty()) result->json = dts::to_json_text(*result->document);
    *out = result->json.c_str();
  });
}

dts_c_error* dts_c_result_svg(dts_c_result* result, const char** out) {
  return guarded([&] {
    check_given("dts_c_result_svg", result, out);
    if (result->svg.empty()) result->svg = dts::draw_svg(*result->document);
    *out = result->svg.c_str();
  });
}

void dts_c_result_free(dts_c_result* result) { delete result; }

}  // extern "C"

#pragma GCC visibility pop
