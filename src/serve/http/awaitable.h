// Asio's coroutines.
#pragma once

// Boost 1.74 uses std::exchange there without including it: the order counts.
// clang-format off
#include <utility>
#include <boost/asio/awaitable.hpp>
// clang-format on
