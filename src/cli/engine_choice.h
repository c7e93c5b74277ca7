// Which engine decodes a model: what was asked for, what the machine has, what the engine knows.
#pragma once

#include <string>

#include "cli/model_options.h"

namespace dts::cli {

struct EngineTaken {
  EngineChoice engine = EngineChoice::kLlama;  // never kAuto
  std::string why;                             // one line for people; empty: there was nothing to choose
};

// Throws dts::Error when what was asked for by name cannot be had, or `path` is no model.
EngineTaken choose_engine(const ModelFlags& flags, const std::string& path);

}  // namespace dts::cli
