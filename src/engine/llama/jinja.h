// llama.cpp's Jinja engine, its names hidden: cmake/jinja.cmake makes them local to one object.
#pragma once

// The standard library first: its names must stay visible.
#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
#include <jinja/caps.h>
#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>
#include <jinja/value.h>
#include <json.h>
#pragma GCC visibility pop
