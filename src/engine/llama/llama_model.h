// What the engine needs of a loaded model beyond the public interface. For this folder, and the benchmark of it.
#pragma once

#include <llama.h>

#include <cstdint>
#include <memory>
#include <string>

#include "dts/llama.h"
#include "engine/llama/gguf_file.h"
#include "engine/llama/llama_vocabulary.h"

namespace dts {

struct LlamaModelDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
using LlamaModelPtr = std::unique_ptr<llama_model, LlamaModelDeleter>;

struct LlamaModelImpl {
  std::string path;
  ModelInfo info;
  int gpu_layers = -1;        // as asked for
  bool vocabulary_only = false;
  LlamaEngineOptions engine;  // of engines that commands ask for
  GgufFacts facts;
  LlamaModelPtr model;
  bool on_gpu = false;            // some layers are on a GPU
  std::int64_t mapped_bytes = 0;  // weights in mapped pages: memory that looks available and is not
  std::unique_ptr<LlamaVocabulary> vocabulary;
};

const LlamaModelImpl& impl_of(const LlamaModel& model);

}  // namespace dts
