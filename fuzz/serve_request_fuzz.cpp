// libFuzzer: any bytes as the body of a request end in a request within the limits, or in an error of the client's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/api/api_error.h"
#include "serve/api/completion_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dts::serve;
  using dts::DecodingOptions;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const bool chat = (data[0] & 1U) != 0;
  const Limits limits;
  try {
    const nlohmann::json json = parse_body(text.substr(1), limits);
    const CompletionRequest request =
        chat ? read_chat_request(json, DecodingOptions{}, limits, nlohmann::ordered_json::parse(text.substr(1)))
             : read_text_request(json, DecodingOptions{}, limits, nlohmann::ordered_json::parse(text.substr(1)));
    const DecodingOptions& decoding = request.decoding;
    const bool within = request.choices >= 1 && request.choices <= limits.choices && decoding.numbers.branch.k >= 1 &&
                        decoding.numbers.branch.k <= limits.branch_k && decoding.numbers.votes <= limits.votes &&
                        decoding.max_seconds <= limits.seconds &&
                        request.stop.size() <= static_cast<std::size_t>(limits.stop_strings) &&
                        request.top_logprobs <= limits.top_logprobs && (!chat || !request.messages.empty());
    if (!within) std::abort();
  } catch (const ApiError& error) {
    if (error.status() != 400) std::abort();
  }
  return 0;
}
