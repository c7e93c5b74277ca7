// The extension module dts._core: the C++ library as plain calls. What people import is python/dts/*.py around it.
#include <pybind11/stl.h>

#include <exception>

#include "bindings.h"
#include "dts/answer.h"
#include "dts/error.h"
#include "dts/method.h"
#include "dts/options.h"
#include "dts/version.h"

namespace dts::python {

std::string line_of(const py::error_already_set& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

void PyObjectDeleter::operator()(py::object* object) const {
  const py::gil_scoped_acquire gil;
  delete object;
}

SafeObject hold(const py::object& object) { return SafeObject(new py::object(object)); }

namespace {

py::object to_python(const OptionValue& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return py::none();
        } else {
          return py::cast(held);
        }
      },
      value);
}

const char* type_name(OptionType type) {
  switch (type) {
    case OptionType::kWhole:
    case OptionType::kSeed:
      return "int";
    case OptionType::kNumber:
      return "float";
    case OptionType::kWord:
      return "str";
  }
  return "";
}

py::list option_table() {
  py::list table;
  const DecodingOptions defaults;
  for (const OptionInfo& option : decoding_options()) {
    py::dict entry;
    entry["name"] = std::string(option.name);
    entry["type"] = type_name(option.type);
    entry["default"] = to_python(option.get(defaults));
    entry["default_text"] = Error(default_text(option)).what();
    entry["expected"] = expected_text(option, option.range);
    entry["help"] = Error(std::string(option.help)).what();
    table.append(entry);
  }
  return table;
}

py::list method_table() {
  py::list table;
  for (const MethodInfo& method : methods()) {
    table.append(py::make_tuple(std::string(method.name), std::string(method.summary), std::string(method.source)));
  }
  return table;
}

// dts.Error, or dts.UsageError for what the caller did wrong.
void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Error& error) {
    const py::module_ errors = py::module_::import("dts.errors");
    const py::object type = errors.attr(error.kind() == Error::Kind::kUsage ? "UsageError" : "Error");
    PyErr_SetString(type.ptr(), error.what());
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ library of dts; import dts instead.";
  module.attr("version") = std::string(kVersion);
  py::register_exception_translator(&translate);
  module.def("options", &option_table);
  module.def("methods", &method_table);
  module.def(
      "extract_answer", [](const std::string& text, bool opens) { return extract_answer(text, opens); },
      py::arg("text"), py::arg("opens_thinking"));
  module.def(
      "normalise_answer", [](const std::string& text) { return normalise_answer(text); }, py::arg("answer"));
  module.def(
      "equivalent", [](const std::string& a, const std::string& b) { return equivalent(a, b); }, py::arg("a"),
      py::arg("b"));
  bind_documents(module);
  bind_questions(module);
}

}  // namespace dts::python
