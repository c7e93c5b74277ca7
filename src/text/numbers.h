// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dts::text {

std::string grouped(std::int64_t number);                         // 12,345,678
std::string seconds(double value);                                // 0.42 s, 12.3 s, 4 min 03 s
std::string scaled(double value);                                 // 1.23 k, 45.6 M, 789 G
std::string binary_bytes(std::int64_t bytes);                     // 512 bytes, 480.0 MiB, 1.1 GiB
std::string counted(std::int64_t number, std::string_view noun);  // 1 decision, 2,000 decisions

}  // namespace dts::text
