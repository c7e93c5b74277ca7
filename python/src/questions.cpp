// Models, and questions asked of them.
#include <pybind11/stl.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dts/error.h"
#include "dts/local_model.h"
#include "host/model_host.h"
#include "hub/hub.h"
#include "settings/profile.h"

namespace dts::python {
namespace {

using host::HostedRun;
using host::HostEvent;
using host::ModelHost;
using Clock = HostedRun::Clock;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// How often a waiting call looks for Ctrl-C.
constexpr std::chrono::milliseconds kSignalPeriod{50};

template <typename Value>
Value choice(const char* name, const std::string& word, std::initializer_list<std::pair<const char*, Value>> choices) {
  std::string known;
  for (const auto& [text, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw out_of_range(name, word, "one of " + known);
}

struct LoadOptions {
  std::string path;
  std::string engine;
  int gpu_layers = -1;
  int threads = 0;
  std::string kv_type;
  std::string kv_layout;
};

std::shared_ptr<const Model> load_file(const LoadOptions& given, const std::function<bool(float)>& on_load) {
  if (given.threads < 0) throw out_of_range("threads", std::to_string(given.threads), "at least 0");
  LlamaModelOptions options;
  options.path = given.path;
  options.gpu_layers = given.gpu_layers;
  options.on_load = on_load;
  options.engine.threads = given.threads;
  options.engine.kv_type = choice<KvType>("kv_type", given.kv_type,
                                          {{"f16", KvType::kF16}, {"bf16", KvType::kBf16}, {"q8_0", KvType::kQ8_0}});
  options.engine.kv_layout = choice<KvLayout>("kv_layout", given.kv_layout,
                                              {{"streams", KvLayout::kStreams}, {"unified", KvLayout::kUnified}});
  const LocalEngine engine = parse_local_engine(given.engine);
  return open_local_model(options, choose_local_engine({.engine = engine, .model = options}).engine);
}

// A host that can be let go of with the GIL held: its thread may be waiting for that very lock.
struct HostDeleter {
  void operator()(ModelHost* host) const {
    // A tokenizer that was lent lets go of its model wherever the borrower goes.
    std::optional<py::gil_scoped_release> released;
    if (PyGILState_Check() != 0) released.emplace();
    delete host;
  }
};

std::shared_ptr<ModelHost> make_host(std::shared_ptr<const Model> model, const host::HostOptions& options) {
  return {new ModelHost(std::move(model), options), HostDeleter()};
}

// Calls back into Python from work that goes on without the GIL. What is raised there, Ctrl-C included, ends the work
// and is raised by finish().
class Caller {
 public:
  // False: the work must end.
  template <typename Call>
  bool operator()(const Call& call) {
    if (raised_) return false;
    const py::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      call();
      return true;
    } catch (py::error_already_set& error) {
      raised_.emplace(std::move(error));
      return false;
    }
  }

  bool raised() const { return raised_.has_value(); }
  // With the GIL held.
  void finish() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  std::optional<py::error_already_set> raised_;
};

// Loads without the GIL. `progress` is called with 0..1.
std::shared_ptr<ModelHost> load(const LoadOptions& given, const py::object& progress,
                                const host::HostOptions& options) {
  Caller caller;
  const auto on_load = [&](float fraction) {
    return caller([&] {
      if (!progress.is_none()) progress(fraction);
    });
  };
  std::shared_ptr<const Model> model;
  try {
    const py::gil_scoped_release released;
    model = load_file(given, on_load);
  } catch (const Error&) {
    if (!caller.raised()) throw;
  }
  caller.finish();
  return make_host(std::move(model), options);
}

// A model of the hub as a file, downloaded without the GIL. `progress` is called with (file, part, parts, done, total),
// `note` with a line for people.
std::string fetch(const std::string& name, const std::string& file, const py::object& progress,
                  const py::object& note) {
  Caller caller;
  hub::HubHooks hooks;
  hooks.progress = [&](const hub::HubProgress& at) {
    caller([&] {
      if (!progress.is_none()) progress(at.file, at.part, at.parts, at.done, at.total);
    });
  };
  hooks.note = [&](const std::string& text) {
    caller([&] {
      if (!note.is_none()) note(text);
    });
  };
  hooks.stopping = [&] { return !caller([] {}); };
  std::string path;
  try {
    const py::gil_scoped_release released;
    path = hub::fetch_model({name, file}, hub::hub_settings([](const char* key) { return getenv(key); }), hooks);
  } catch (const Error&) {
    if (!caller.raised()) throw;
  }
  caller.finish();
  return path;
}

// Names and values, which are right.
Pairs profile_of(const std::string& path) {
  host::HostQuestion checked;
  host::apply_profile(checked, path);
  Pairs pairs;
  for (ProfileSetting& setting : read_profile(path)) {
    pairs.emplace_back(std::move(setting.name), std::move(setting.value));
  }
  return pairs;
}

// Waits without the GIL, in short stretches, until `ready(deadline)` says so; false: not within `seconds` (negative:
// for ever). Ctrl-C is raised.
template <typename Ready>
bool wait(double seconds, const Ready& ready) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    Clock::time_point until = Clock::now() + kSignalPeriod;
    bool last = false;
    if (seconds >= 0) {
      const auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
      last = end <= until;
      until = std::min(until, end);
    }
    bool is_ready = false;
    {
      const py::gil_scoped_release released;
      is_ready = ready(until);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (is_ready || last) return is_ready;
  }
}

py::object event_of(const std::optional<HostEvent>& event) {
  if (!event) return py::none();
  py::list grown;
  for (const host::GrownToken& token : event->grown) {
    const TokenRecord& record = token.record;
    grown.append(py::make_tuple(token.segment, record.token, py::bytes(token.text), record.logprob, record.entropy,
                                record.varentropy, record.confidence));
  }
  return py::make_tuple(std::string(event->type), event->step, event->segment, event->live, event->finished,
                        event->tokens, grown, event->children, py::bytes(event->answer));
}

std::shared_ptr<HostedRun> ask(ModelHost& host, const Pairs& messages, std::string raw, std::vector<std::string> stop,
                               const std::string& answer, const Pairs& options, bool events) {
  const py::gil_scoped_release released;
  host::HostQuestion question;
  for (const auto& [role, content] : messages) question.messages.push_back({role, content});
  question.raw = std::move(raw);
  question.stop = std::move(stop);
  question.events = events;
  if (!answer.empty()) question.form = host::parse_answer_form(answer);
  for (const auto& [name, value] : options) host::set_option(question.decoding, name, value);
  return host.ask(std::move(question));
}

py::dict info_of(const ModelHost& host) {
  const ModelInfo& info = host.model().info();
  py::dict entries;
  entries["name"] = info.name;
  entries["architecture"] = info.architecture;
  entries["description"] = info.description;
  entries["training_context"] = info.training_context;
  entries["parameters"] = info.parameters;
  entries["size_bytes"] = info.size_bytes;
  entries["most_branches"] = info.most_branches;
  const RecommendedSampling recommended = host.model().recommended_sampling();
  py::dict sampling;
  sampling["temperature"] = recommended.options.temperature;
  sampling["top_k"] = recommended.options.top_k;
  sampling["top_p"] = recommended.options.top_p;
  sampling["min_p"] = recommended.options.min_p;
  entries["recommended_sampling"] = sampling;
  return entries;
}

void check_token(const Vocabulary& vocabulary, Token token) {
  if (token >= 0 && token < vocabulary.size()) return;
  throw usage_error("token " + std::to_string(token) + ": the vocabulary has the tokens 0 to " +
                    std::to_string(vocabulary.size() - 1));
}

void bind_vocabulary(py::module_& module) {
  py::class_<Vocabulary, std::shared_ptr<Vocabulary>>(module, "Vocabulary")
      .def_static(
          "of",
          [](const py::list& pieces, const py::iterable& ends, const py::object& text) {
            return std::const_pointer_cast<Vocabulary>(make_own_vocabulary(pieces, ends, text));
          },
          py::arg("pieces"), py::arg("ends"), py::arg("text"))
      .def_property_readonly("size", &Vocabulary::size)
      .def("piece",
           [](const Vocabulary& v, Token token) {
             check_token(v, token);
             return py::bytes(v.piece(token, true));
           })
      .def("encode",
           [](const Vocabulary& v, const std::string& text, bool special) {
             const py::gil_scoped_release released;
             return v.tokenize(text, special);
           })
      .def("is_end",
           [](const Vocabulary& v, Token token) {
             check_token(v, token);
             return v.is_end(token);
           })
      .def("chat", [](const Vocabulary& v, const Pairs& pairs) {
        const py::gil_scoped_release released;
        std::vector<ChatMessage> messages;
        for (const auto& [role, content] : pairs) messages.push_back({role, content});
        const ChatPrompt prompt = v.chat(messages);
        return std::pair(prompt.text, prompt.tokens);
      });
}

}  // namespace

void bind_questions(py::module_& module) {
  bind_vocabulary(module);
  module.def("fetch", &fetch, py::arg("name"), py::arg("file"), py::arg("progress"), py::arg("note"));
  module.def("profile", &profile_of, py::arg("path"));

  py::class_<HostedRun, std::shared_ptr<HostedRun>>(module, "Run")
      .def("wait",
           [](HostedRun& run, double seconds) {
             return wait(seconds, [&run](Clock::time_point until) { return run.wait(until); });
           })
      .def("wait_done",
           [](HostedRun& run, double seconds) {
             return wait(seconds, [&run](Clock::time_point until) { return run.wait_done(until); });
           })
      .def("next_event", [](HostedRun& run) { return event_of(run.next_event()); })
      .def_property_readonly("done", &HostedRun::done)
      .def("cancel", &HostedRun::cancel, py::call_guard<py::gil_scoped_release>())
      .def("event_fileno", &HostedRun::event_descriptor)
      .def("done_fileno", &HostedRun::done_descriptor)
      .def("document", [](const HostedRun& run) { return std::const_pointer_cast<TreeDocument>(run.document()); })
      .def("raise_error", [](const HostedRun& run) {
        if (const std::optional<Error> error = run.error()) throw *error;
      });

  py::class_<ModelHost, std::shared_ptr<ModelHost>>(module, "Host")
      .def_static(
          "load",
          [](const std::string& path, const std::string& engine, int gpu_layers, int threads,
             const std::string& kv_type, const std::string& kv_layout, int parallel_branches, int context_length,
             const py::object& progress) {
            return load({path, engine, gpu_layers, threads, kv_type, kv_layout}, progress,
                        {parallel_branches, context_length});
          },
          py::arg("path"), py::arg("engine"), py::arg("gpu_layers"), py::arg("threads"), py::arg("kv_type"),
          py::arg("kv_layout"), py::arg("parallel_branches"), py::arg("context_length"), py::arg("progress"))
      .def_static(
          "own",
          [](const py::object& engine, std::shared_ptr<Vocabulary> vocabulary, int parallel_branches,
             int context_length) {
            return make_host(make_own_model(engine, std::move(vocabulary)), {parallel_branches, context_length});
          },
          py::arg("engine"), py::arg("vocabulary"), py::arg("parallel_branches"), py::arg("context_length"))
      .def_property_readonly("info", &info_of)
      .def_property_readonly("vocabulary",
                             [](const std::shared_ptr<ModelHost>& host) {
                               // Kept by the host, which it keeps.
                               auto* vocabulary = const_cast<Vocabulary*>(&host->model().vocabulary());
                               return std::shared_ptr<Vocabulary>(host, vocabulary);
                             })
      .def("ask", &ask, py::arg("messages"), py::arg("raw"), py::arg("stop"), py::arg("answer"), py::arg("options"),
           py::arg("events"))
      .def("close", &ModelHost::close, py::call_guard<py::gil_scoped_release>());
}

}  // namespace dts::python
