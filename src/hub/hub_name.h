// "ORG/REPO:QUANT": a model of the hub, as people write it.
#pragma once

#include <string>

namespace dts::hub {

struct HubName {
  std::string repo;   // "ORG/REPO"
  std::string quant;  // as it was written; empty: ours to choose
};

// Throws a usage error that says what is wrong with `text`.
HubName parse_hub_name(const std::string& text);

}  // namespace dts::hub
