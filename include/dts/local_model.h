// A model in this process, on the engine that suits it: what the command line and the bindings to other languages open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dts/llama.h"
#include "dts/model.h"

namespace dts {

enum class LocalEngine {
  kAuto,          // native where there is a GPU or the CPU has kernels for the model, else llama.cpp
  kLlama,         // whatever llama.cpp knows, wherever it runs
  kNative,        // on the GPU if there is one, else on the CPU
  kNativeCpu,     // on the CPU, whether there is a GPU or not
  kNativeOracle,  // slow and obvious
};

// "auto", "llama", "native", "native-cpu", "native-oracle". Throws a usage error that names all of them.
LocalEngine parse_local_engine(std::string_view word);

struct LocalModelOptions {
  LocalEngine engine = LocalEngine::kAuto;
  // The file, its loading and its KV for any engine; what only llama.cpp has makes kAuto take that one.
  LlamaModelOptions model;
};

struct LocalChoice {
  LocalEngine engine = LocalEngine::kLlama;  // never kAuto; kNative is on the GPU
  std::string note;  // one line for people, its options named by option_name(); empty: nothing they need to know
};

// `free_memory`: bytes; -1: what this machine has. Throws dts::Error when what was asked for by name cannot be had, or
// the file is no model.
LocalChoice choose_local_engine(const LocalModelOptions& options, std::int64_t free_memory = -1);

// Loads it on the engine that was chosen.
std::unique_ptr<Model> open_local_model(const LlamaModelOptions& model, LocalEngine chosen);

}  // namespace dts
