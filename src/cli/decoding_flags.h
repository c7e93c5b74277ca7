// The options of decoding as flags, made from the library's table of them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "dts/options.h"
#include "dts/search.h"
#include "question/answer_form.h"

namespace dts::cli {

// The groups Method, Budget and Sampling. `options` must outlive `app`.
void add_decoding_options(CLI::App& app, DecodingOptions& options);

// --answer; `by_default` says what is done without it.
void add_answer_option(CLI::App& app, std::optional<AnswerForm>& form, const std::string& by_default);

// The search they ask for. Throws a usage error when it may have more branches than `most_branches`: what one engine
// of the model can keep (ModelInfo).
SearchOptions checked_search(const DecodingOptions& options, int most_branches);

// Where the values of sampling come from, for a record: "Qwen3 family", or "--temp, else Qwen3 family".
std::string sampling_source(const DecodingOptions& options, const std::string& recommended);

}  // namespace dts::cli
