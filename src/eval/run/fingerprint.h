// What a result depends on, in a few characters: is this the same model, are these the same questions?
#pragma once

#include <string>
#include <string_view>

#include "eval/datasets/dataset.h"

namespace dts::eval {

// SHA-256 (FIPS 180-4), in hexadecimal.
std::string sha256(std::string_view bytes);

// "sha256:..." of a file of at most 64 MiB, as sha256sum has it. Of a larger one "sampled-sha256:...", of its size and
// 64 MiB of it spread evenly, in blocks of one: hashing all of a large model would take longer than loading it. Throws
// dts::Error naming the file.
std::string file_fingerprint(const std::string& path);

// "sha256:..." of all questions: ids, texts, choices and answers, in order.
std::string questions_fingerprint(const Dataset& dataset);

}  // namespace dts::eval
