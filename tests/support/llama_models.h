// Tiny models with random weights for the tests of the llama.cpp engine, written once a program.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "dts/llama.h"
#include "engine/random/random_model.h"

namespace dts {

// A directory of this process, removed at its end.
inline const std::filesystem::path& scratch_directory() {
  struct Directory {
    std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) / ("dts-llama-test-" + std::to_string(::getpid()));
    Directory() { std::filesystem::create_directories(path); }
    ~Directory() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Directory directory;
  return directory.path;
}

inline std::string scratch_file(const std::string& name) { return (scratch_directory() / name).string(); }

// llama.cpp's vocabulary-only GGUF of that name.
inline std::string vocabulary_file(const std::string& name) {
  return std::string(DTS_LLAMA_SOURCE_DIR) + "/models/ggml-vocab-" + name + ".gguf";
}

inline std::string write_model(const std::string& name, const RandomModelOptions& options) {
  std::string path = scratch_file(name + ".gguf");
  write_random_model(path, options);
  return path;
}

// Two layers, 512 tokens, sharp enough to be interesting.
inline RandomModelOptions tiny_options() {
  RandomModelOptions options = random_model_preset("tiny");
  options.weight_type = "f16";
  return options;
}

}  // namespace dts
