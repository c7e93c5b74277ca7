// -hf: a model of the hub, found in its cache or downloaded, with what a person sees meanwhile.
#pragma once

#include <optional>
#include <string>

#include "cli/model_loader.h"
#include "cli/model_options.h"

namespace dts::cli {

// The file that `flags` ask for: --model's, or that of -hf, downloaded where it is not here yet. None when the hooks
// stopped it. Throws dts::Error.
std::optional<std::string> model_path(const ModelFlags& flags, const LoadingHooks& hooks);

}  // namespace dts::cli
