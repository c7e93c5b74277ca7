// Methods as they are compared: a name, and numbers of its own where several variants of it are compared.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dts/options.h"
#include "dts/search.h"

namespace dts::eval {

// "dts-stable", or with numbers that differ from those of `base`: "dts-stable:tau-h=1.2:criterion=either". The names
// are those of the method's flags. Throws a usage error that names what is wrong with it.
SearchOptions parse_variant(const std::string& spec, DecodingOptions base = {});

// What decides a method's results, but for the model and the questions: a flat object.
nlohmann::json settings_of(const SearchOptions& options);

}  // namespace dts::eval
