// What GET /v1/models says.
#pragma once

#include "dts/engine.h"
#include "serve/api/completion_json.h"
#include "serve/service.h"

namespace dts::serve {

// The model, with its methods, defaults and limits in `dts`; then the model once more under the name of each method.
Json models_json(const ServiceOptions& options, const EngineInfo& engine);

}  // namespace dts::serve
