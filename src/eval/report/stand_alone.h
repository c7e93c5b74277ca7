// The charts as files of their own, for a paper.
#pragma once

#include <string>
#include <vector>

#include "eval/report/document.h"

namespace dts::eval::report {

struct FigureFile {
  std::string name;  // "length-aime24", without an ending; each once
  std::string title;
  std::string svg;  // on white, with its own style; needs no page around it
  std::string csv;  // what it shows. RFC 4180
};

// Every chart of the report, under the name of its section.
std::vector<FigureFile> figure_files(const Report& report);

}  // namespace dts::eval::report
