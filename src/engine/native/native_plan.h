// How many pages an engine gets, and how long its branches may be, in the memory there is.
#pragma once

#include <cstdint>

#include "dts/model.h"
#include "engine/native/backend.h"
#include "engine/native/native_engine.h"

namespace dts::native {

// Context and pages for `request` in `available` bytes, of which some stay free. Throws dts::Error with the bytes
// needed, the bytes there are and what would shrink it.
EngineShape plan_shape(const Device& device, const Geometry& geometry, const EngineRequest& request, NativeKvType kv,
                       std::int64_t available);

}  // namespace dts::native
