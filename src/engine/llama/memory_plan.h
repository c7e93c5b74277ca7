// How an engine's contexts are made, and what they cost.
#pragma once

#include <cstdint>

#include "dts/llama.h"
#include "engine/llama/llama_context.h"
#include "engine/llama/llama_model.h"

namespace dts {

inline constexpr int kCellQuantum = 256;  // llama.cpp rounds a stream's cells up to it

// Throws a usage error naming the flag, the value and the range.
void validate(const LlamaEngineOptions& options);

// Throws a usage error when the options contradict each other or the model.
ContextSettings context_settings(const LlamaModelImpl& model, const LlamaEngineOptions& options);

// As plan_memory(), for a given amount of memory.
MemoryPlan plan_memory_within(const LlamaModel& model, const LlamaEngineOptions& options, std::int64_t available);

}  // namespace dts
