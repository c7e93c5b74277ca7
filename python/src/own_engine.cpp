// A model written in Python, as an Engine: its rows of logits become predictions here.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dts/distribution.h"
#include "dts/engine.h"
#include "dts/error.h"

namespace dts::python {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <typename Number>
void copy_row(const char* begin, py::ssize_t stride, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Number value;
    std::memcpy(&value, begin + static_cast<py::ssize_t>(i) * stride, sizeof(value));
    out[i] = static_cast<float>(value);
  }
}

[[noreturn]] void wrong_row(std::size_t expected, const std::string& seen) {
  throw Error(fmt::format("the engine's step() must return a row of {} logits for each feed, not {}", expected, seen));
}

// A row of logits: anything with float32 or float64 in a buffer (numpy, array), or a sequence of numbers.
void read_row(const py::handle& row, std::span<float> out) {
  if (PyObject_CheckBuffer(row.ptr()) != 0) {
    const py::buffer_info info = py::reinterpret_borrow<py::buffer>(row).request();
    if (info.ndim != 1 || static_cast<std::size_t>(info.shape[0]) != out.size()) {
      wrong_row(out.size(), fmt::format("an array of {} dimensions and {} numbers", info.ndim, info.size));
    }
    const auto* begin = static_cast<const char*>(info.ptr);
    if (info.format == py::format_descriptor<float>::format()) return copy_row<float>(begin, info.strides[0], out);
    if (info.format == py::format_descriptor<double>::format()) {
      return copy_row<double>(begin, info.strides[0], out);
    }
    wrong_row(out.size(), fmt::format("an array of type '{}' (float32 and float64 are known)", info.format));
  }
  if (!py::isinstance<py::sequence>(row)) wrong_row(out.size(), py::str(row.get_type()).cast<std::string>());
  const auto sequence = py::reinterpret_borrow<py::sequence>(row);
  if (sequence.size() != out.size()) wrong_row(out.size(), fmt::format("one of {}", sequence.size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(sequence[i].cast<double>());
}

EngineInfo info_of(const py::object& engine, const EngineRequest& request) {
  EngineInfo info;
  info.name = engine.attr("name").cast<std::string>();
  info.kind = "Python";
  info.n_vocab = engine.attr("vocab_size").cast<int>();
  const int context = engine.attr("context_length").cast<int>();
  info.context_length = request.context_length > 0 ? std::min(request.context_length, context) : context;
  info.max_branches = request.max_branches;
  info.prefill_chunk = engine.attr("prefill_chunk").cast<int>();
  info.capabilities.batch_invariant = engine.attr("batch_invariant").cast<bool>();
  info.capabilities.filters_logits = true;
  return info;
}

class OwnEngine final : public Engine {
 public:
  // With the GIL held.
  OwnEngine(const py::object& engine, const EngineRequest& request)
      : engine_(hold(engine)),
        feed_type_(hold(py::module_::import("dts.engine").attr("Feed"))),
        info_(info_of(engine, request)) {}
  ~OwnEngine() override {
    const py::gil_scoped_acquire gil;
    states_.clear();
  }

  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return times_; }

  BranchId open() override {
    return guarded("open()", [this] { return add(engine_->attr("open")()); });
  }
  BranchId fork(BranchId parent) override {
    return guarded("fork()", [this, parent] { return add(engine_->attr("fork")(states_.at(parent))); });
  }
  void release(BranchId branch) override {
    guarded("release()", [this, branch] {
      engine_->attr("release")(states_.at(branch));
      states_.erase(branch);
      return 0;
    });
  }

  void step(std::span<const Feed> feeds, std::span<Prediction> out) override {
    const auto vocabulary = static_cast<std::size_t>(info_.n_vocab);
    bool prompt = true;
    for (const Feed& feed : feeds) prompt = prompt && feed.spec == nullptr;
    logits_.resize(feeds.size() * vocabulary);
    const Clock::time_point start = Clock::now();
    guarded("step()", [&] {
      py::list list;
      for (const Feed& feed : feeds) {
        list.append((*feed_type_)(states_.at(feed.branch), std::vector<Token>(feed.tokens.begin(), feed.tokens.end()),
                                  feed.spec != nullptr));
      }
      const py::object rows = engine_->attr("step")(list);
      if (prompt) return 0;
      if (py::len(rows) != feeds.size()) {
        throw Error(fmt::format("the engine's step() must return {} rows, one for each feed, not {}", feeds.size(),
                                py::len(rows)));
      }
      for (std::size_t i = 0; i < feeds.size(); ++i) {
        if (feeds[i].spec == nullptr) continue;
        read_row(rows[py::int_(i)], row(i));
      }
      return 0;
    });
    (prompt ? times_.prefill : times_.model) += since(start);

    const Clock::time_point evaluated = Clock::now();
    rows_.clear();
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      if (feeds[i].spec == nullptr) continue;
      if (feeds[i].filter != nullptr) feeds[i].filter->apply(row(i));
      rows_.push_back({row(i), feeds[i].draw, feeds[i].spec, &out[i]});
    }
    predictor_.predict(rows_);
    times_.statistics += since(evaluated);
  }

 private:
  std::span<float> row(std::size_t i) {
    const auto vocabulary = static_cast<std::size_t>(info_.n_vocab);
    return std::span(logits_).subspan(i * vocabulary, vocabulary);
  }

  BranchId add(py::object state) {
    states_.emplace(next_, std::move(state));
    return next_++;
  }

  // `what` of the Python object, with the GIL; what it raises is kept for whoever asks for the result.
  template <typename Function>
  auto guarded(const char* what, const Function& function) -> decltype(function()) {
    const py::gil_scoped_acquire gil;
    try {
      return function();
    } catch (py::error_already_set& error) {
      const std::string line = fmt::format("the engine's {} failed: {}", what, line_of(error));
      engine_->attr("last_error") = error.value();
      throw Error(line);
    } catch (const py::cast_error&) {
      throw Error(fmt::format("the engine's {} must return what dts.Engine says it does", what));
    }
  }

  SafeObject engine_;
  SafeObject feed_type_;
  EngineInfo info_;
  EngineTimes times_;
  Predictor predictor_;
  std::map<BranchId, py::object> states_;  // with the GIL only
  BranchId next_ = 0;
  std::vector<float> logits_;    // [feeds, n_vocab]
  std::vector<LogitsRow> rows_;  // those that are predicted
};

class OwnModel final : public Model {
 public:
  OwnModel(const py::object& engine, std::shared_ptr<const Vocabulary> vocabulary)
      : engine_(hold(engine)), vocabulary_(std::move(vocabulary)) {
    const EngineInfo engine_info = info_of(engine, {});
    info_.name = engine_info.name;
    info_.architecture = "Python";
    info_.training_context = engine_info.context_length;
    info_.most_branches = engine.attr("most_branches").cast<int>();
    if (engine_info.n_vocab != vocabulary_->size()) {
      throw usage_error(fmt::format("the engine's vocab_size is {}, the tokenizer has {} tokens: they must be the same",
                                    engine_info.n_vocab, vocabulary_->size()));
    }
    for (const auto& [name, value] :
         {std::pair{"context_length", engine_info.context_length},
          std::pair{"prefill_chunk", engine_info.prefill_chunk}, std::pair{"most_branches", info_.most_branches}}) {
      if (value < 1) throw usage_error(fmt::format("the engine's {} is {}: it must be at least 1", name, value));
    }
  }

  const ModelInfo& info() const override { return info_; }
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  RecommendedSampling recommended_sampling() const override { return {{}, "defaults"}; }
  EnginePlan plan_engine(const EngineRequest& request) const override {
    EnginePlan plan;
    plan.context_length = request.context_length > 0 ? request.context_length : info_.training_context;
    plan.description = "a model written in Python";
    plan.make = [this, request]() -> std::unique_ptr<Engine> {
      const py::gil_scoped_acquire gil;
      return std::make_unique<OwnEngine>(*engine_, request);
    };
    return plan;
  }

 private:
  SafeObject engine_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  ModelInfo info_;
};

}  // namespace

std::shared_ptr<const Model> make_own_model(const py::object& engine, std::shared_ptr<const Vocabulary> vocabulary) {
  return std::make_shared<OwnModel>(engine, std::move(vocabulary));
}

}  // namespace dts::python
