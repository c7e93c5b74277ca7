// What the files of the extension module share.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "dts/model.h"
#include "dts/tree_file.h"

namespace dts::python {

namespace py = pybind11;

void bind_documents(py::module_& module);
void bind_questions(py::module_& module);

// A model made of Python objects: dts.Engine and dts.Tokenizer (python/dts/engine.py). With the GIL held.
std::shared_ptr<const Model> make_own_model(const py::object& engine, std::shared_ptr<const Vocabulary> vocabulary);
// `pieces`: the bytes of each token; `ends`: those that end a trajectory; `text`: what encode() and chat() are asked
// of.
std::shared_ptr<const Vocabulary> make_own_vocabulary(const py::list& pieces, const py::iterable& ends,
                                                      const py::object& text);

// One line of a Python exception, for an Error: "ValueError: shapes differ".
std::string line_of(const py::error_already_set& error);

// Python objects may go only with the GIL held, whichever thread lets go of the last owner.
struct PyObjectDeleter {
  void operator()(py::object* object) const;
};
using SafeObject = std::unique_ptr<py::object, PyObjectDeleter>;
SafeObject hold(const py::object& object);

}  // namespace dts::python
