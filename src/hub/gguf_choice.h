// Which of a repository's files are one model, and which of its models to take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dts::hub {

struct HubFile {
  std::string path;        // inside the repository: "sub/model-Q4_K_M.gguf"
  std::int64_t bytes = 0;  // 0: not known
  std::string sum;         // SHA-256 (64 hex digits) or git's sum (40); empty: not known
};

// One model: a file, or the parts it is split into, in order.
struct GgufModel {
  std::string quant;  // "Q4_K_M", in capitals; empty: the name says none
  std::vector<HubFile> parts;

  std::int64_t bytes() const;
  const std::string& path() const { return parts.front().path; }
};

// "DeepSeek-R1-Distill-Qwen-1.5B-Q4_K_M.gguf" -> "Q4_K_M"; the last such word of the path; empty: none.
std::string quant_of(const std::string& path);

// The GGUF models among `files`, by path. What goes beside a model (mmproj, imatrix) is left out, and so are splits of
// which a part is missing.
std::vector<GgufModel> gguf_models(const std::vector<HubFile>& files);

struct GgufChoice {
  GgufModel model;
  std::string why;  // one line, when it was not plain what to take; else empty
};

// `quant` as it was asked for, or empty; `file` as it was asked for (one of a model's parts), or empty. `where` is what
// errors call the repository. Throws dts::Error with the nearest name, or with all that there is.
GgufChoice choose_gguf(const std::vector<GgufModel>& models, const std::string& quant, const std::string& file,
                       const std::string& where);

}  // namespace dts::hub
