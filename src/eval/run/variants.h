// Methods as they are compared: a name, and numbers of its own where several variants of it are compared.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dts/method.h"
#include "dts/search.h"

namespace dts::eval {

// "dts-stable", or with numbers that differ from `numbers`: "dts-stable:tau-h=1.2:criterion=either". The names are
// those of the flags: votes, samples, branch-k, max-branches, tau-v, tau-h, stat-temp, criterion, freeze, warmup,
// window, consensus, adaptive. `base` has everything that is not the method's. Throws a usage error that names what is
// wrong with it.
SearchOptions parse_variant(const std::string& spec, MethodOptions numbers, SearchOptions base);

// What decides a method's results, but for the model and the questions: a flat object.
nlohmann::json settings_of(const SearchOptions& options);

}  // namespace dts::eval
