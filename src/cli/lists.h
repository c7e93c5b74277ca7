// Values that are lists: methods, seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dts::cli {

// The parts between separators, empty ones left out.
std::vector<std::string> split_list(const std::string& text, char separator = ',');

// "0-4", "3", "0,2,7-9", for --seeds. Throws a usage error for anything else.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

// "standard,dts-stable:tau-h=1.2", for --methods: at least one, none twice. The names are not looked at.
std::vector<std::string> parse_methods(const std::string& text);

}  // namespace dts::cli
