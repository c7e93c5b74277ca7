// The engine behind make_llama_engine(), with a memory plan of the caller's.
#pragma once

#include <memory>

#include "dts/engine.h"
#include "dts/llama.h"

namespace dts {

// As make_llama_engine(), without asking how much memory there is: `plan` comes from plan_memory_within().
std::unique_ptr<Engine> make_llama_engine_as_planned(const LlamaModel& model, const LlamaEngineOptions& options,
                                                     const MemoryPlan& plan);

}  // namespace dts
