// What must be known of a GGUF file before llama.cpp opens it: that it is one, that it is whole, and the geometry that
// llama.cpp's interface does not tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/llama/gguf_metadata.h"

namespace dts {

struct LayerGeometry {
  std::int64_t key_width = 0;    // KV heads x key length: elements of K a token
  std::int64_t value_width = 0;  // KV heads x value length
};

struct GgufFacts {
  std::string architecture;           // general.architecture
  std::string name;                   // general.name; empty when absent
  std::string description;            // general.description; empty when absent
  std::vector<LayerGeometry> layers;  // [block_count]
  std::int64_t heads = 0;             // query heads; the most any layer has
  std::int64_t key_length = 0;        // elements a head
  std::int64_t value_length = 0;
  // How the CPU rounds a product of the weights with one row, with few, or with many:
  bool lone_row_differs = false;          // a single row is computed by other means than several
  int row_multiple = 1;                   // so many rows at a time, and those left over by other means
  bool experts = false;                   // how many rows an expert gets depends on all of them
  std::vector<std::int32_t> token_types;  // [n_vocab] llama_token_type; empty when absent
  std::vector<std::int32_t> end_tokens;   // eos, eot and eom as the metadata names them
};

// A file's header, which holds the whole vocabulary: reading it once is a tenth of what a small model's load takes.
struct OpenGguf {
  GgufFacts facts;
  GgufPtr header;  // never null
};

// Throws dts::Error in one line when the file is missing, a directory, empty, foreign, of another version, truncated,
// or holds no weights. Reads the header only.
OpenGguf open_gguf(const std::string& path);
GgufFacts read_gguf(const std::string& path);

}  // namespace dts
