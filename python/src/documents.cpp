// Trees: read, drawn, kept.
#include <pybind11/stl.h>

#include <memory>

#include "bindings.h"
#include "draw/labels.h"
#include "dts/answer.h"
#include "dts/draw.h"
#include "dts/options.h"
#include "dts/tree_file.h"

namespace dts::python {
namespace {

using Document = std::shared_ptr<const TreeDocument>;

// What a person may read: bytes that are no UTF-8 must not keep anybody from the rest.
py::str text_of(const std::string& bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

const char* state_name(SegmentState state) {
  switch (state) {
    case SegmentState::kLive:
      return "live";
    case SegmentState::kSplit:
      return "split";
    case SegmentState::kFinished:
      return "finished";
    case SegmentState::kExhausted:
      return "exhausted";
    case SegmentState::kRetired:
      return "retired";
    case SegmentState::kCut:
      return "cut";
  }
  return "";
}

// (parent, start, child_index, state, children, text, tokens), tokens as (token, text, logprob, H, VE, confidence).
py::list segments_of(const TreeDocument& document) {
  py::list segments;
  for (std::size_t id = 0; id < document.tree.segments().size(); ++id) {
    const Segment& segment = document.tree.segments()[id];
    const SegmentText& text = document.texts[id];
    py::list tokens;
    for (std::size_t i = 0; i < segment.tokens.size(); ++i) {
      const TokenRecord& record = segment.tokens[i];
      tokens.append(py::make_tuple(record.token, text_of(std::string(text.piece(i))), record.logprob, record.entropy,
                                   record.varentropy, record.confidence));
    }
    segments.append(py::make_tuple(segment.parent, segment.start, segment.child_index, state_name(segment.state),
                                   segment.children, text_of(text.text), tokens));
  }
  return segments;
}

py::list finished_of(const TreeDocument& document) {
  py::list finished;
  for (const FinishedTrace& trace : document.outcome.finished) {
    finished.append(py::make_tuple(trace.leaf, trace.length, trace.step, trace.mean_logprob, trace.mean_confidence,
                                   trace.lowest_confidence, text_of(trace.answer)));
  }
  return finished;
}

py::list votes_of(const TreeDocument& document) {
  py::list votes;
  for (const AnswerCount& count : document.outcome.votes) {
    votes.append(py::make_tuple(text_of(count.answer), count.votes, count.weight));
  }
  return votes;
}

py::dict account_of(const TreeDocument& document) {
  const Account& account = document.outcome.account;
  py::dict entries;
  entries["steps"] = account.steps;
  entries["branch_events"] = account.branch_events;
  entries["branches"] = account.branches;
  entries["branch_tokens"] = account.branch_tokens;
  entries["unique_tokens"] = account.unique_tokens;
  entries["fed_tokens"] = account.fed_tokens;
  entries["attended_tokens"] = account.attended_tokens;
  entries["prompt_tokens"] = account.prompt_tokens;
  entries["cached_tokens"] = account.cached_tokens;
  entries["peak_live"] = account.peak_live;
  entries["exhausted"] = account.exhausted;
  entries["retired"] = account.retired;
  entries["capped_decisions"] = account.capped_decisions;
  entries["undecided"] = account.undecided;
  return entries;
}

py::dict settings_of(const TreeDocument& document) {
  py::dict entries;
  entries["method"] = document.options.method.name;
  for (const OptionInfo& option : decoding_options()) {
    if (option.stored.empty() || option.get_stored == nullptr) continue;
    const OptionValue value = option.get_stored(document.options);
    const py::str name{std::string(option.name)};
    std::visit(
        [&](const auto& held) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) entries[name] = held;
        },
        value);
  }
  return entries;
}

py::dict times_of(const TreeDocument& document) {
  py::dict entries;
  entries["queued"] = document.times.queued;
  entries["prefill"] = document.times.prefill;
  entries["decode"] = document.times.decode;
  return entries;
}

}  // namespace

void bind_documents(py::module_& module) {
  py::class_<TreeDocument, std::shared_ptr<TreeDocument>>(module, "Document")
      .def_property_readonly("model", [](const TreeDocument& d) { return text_of(d.model); })
      .def_property_readonly("question", [](const TreeDocument& d) { return text_of(d.question); })
      .def_property_readonly("prompt", [](const TreeDocument& d) { return text_of(d.prompt); })
      .def_property_readonly("stop", [](const TreeDocument& d) { return d.stop; })
      .def_property_readonly("prompt_tokens", [](const TreeDocument& d) { return d.prompt_tokens; })
      .def_property_readonly("engine", [](const TreeDocument& d) { return text_of(d.engine.kind); })
      .def_property_readonly("reason", [](const TreeDocument& d) { return std::string(to_string(d.outcome.reason)); })
      .def_property_readonly("disagreement", [](const TreeDocument& d) { return draw::disagreement(d); })
      .def_property_readonly("complete", [](const TreeDocument& d) { return d.outcome.complete(); })
      .def_property_readonly("winner", [](const TreeDocument& d) { return d.outcome.winner; })
      .def_property_readonly("best_leaf", [](const TreeDocument& d) { return d.outcome.best_leaf; })
      .def_property_readonly("flops", [](const TreeDocument& d) { return d.flops; })
      .def_property_readonly("segments", &segments_of)
      .def_property_readonly("finished", &finished_of)
      .def_property_readonly("votes", &votes_of)
      .def_property_readonly("account", &account_of)
      .def_property_readonly("settings", &settings_of)
      .def_property_readonly("times", &times_of)
      .def("trajectory",
           [](const TreeDocument& d, SegmentId leaf) {
             if (leaf < 0 || static_cast<std::size_t>(leaf) >= d.tree.segments().size()) {
               throw py::index_error("there is no segment " + std::to_string(leaf));
             }
             const std::string text = trajectory_text(d, leaf);
             const SplitText split = split_thinking(text, d.opens_thinking);
             return py::make_tuple(text_of(text), text_of(std::string(split.thinking)),
                                   text_of(std::string(split.answer)));
           })
      .def("json", [](const TreeDocument& d) { return text_of(to_json_text(d)); })
      .def("svg", [](const TreeDocument& d) { return text_of(draw_svg(d)); })
      .def("html", [](const TreeDocument& d) { return text_of(draw_html(d)); })
      .def("dot", [](const TreeDocument& d) { return text_of(draw_dot(d)); })
      .def("text",
           [](const TreeDocument& d, int width, bool colour, bool unicode) {
             return text_of(draw_text(d, {.width = width, .colour = colour, .unicode = unicode}));
           })
      .def(
          "save", [](const TreeDocument& d, const std::string& path) { save_tree(path, d); },
          py::call_guard<py::gil_scoped_release>())
      .def_static(
          "load", [](const std::string& path) { return std::make_shared<TreeDocument>(load_tree(path)); },
          py::call_guard<py::gil_scoped_release>())
      .def_static("from_json", [](const std::string& json, const std::string& name) {
        return std::make_shared<TreeDocument>(tree_from_json_text(json, name));
      });
}

}  // namespace dts::python
