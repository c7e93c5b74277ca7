// Where a request's body ends, as its headers say.
#pragma once

#include <string>

#include "serve/http/http.h"

namespace dts::serve {

// What is wrong with it, in a line; empty when nothing is. A proxy in front of the server and the server must never
// find different ends: the rest of one client's body would be read as another's request. Whatever is not plain is
// therefore refused: an encoding other than chunked, one and a length, more than one of either, any in HTTP/1.0.
// `version` is 10 or 11.
std::string framing_fault(const HttpRequest& head, unsigned version);

}  // namespace dts::serve
