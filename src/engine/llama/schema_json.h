// llama.cpp's JSON, as hidden as it is where it is compiled: a program that links us may have a llama.cpp of its own.
#pragma once

// What it includes itself must not be hidden.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
#include <json.h>
#pragma GCC visibility pop
