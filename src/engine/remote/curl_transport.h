// The real network: libcurl's multi interface. Connections are kept and shared; HTTP/2 where a server offers it; proxies
// as the environment says; certificates are checked.
#pragma once

#include <memory>

#include "engine/remote/transport.h"

namespace dts::remote {

std::unique_ptr<Transport> make_curl_transport();
std::unique_ptr<Clock> make_steady_clock();

}  // namespace dts::remote
