#include "engine/llama/sequence_state.h"

#include <cstring>
#include <string>

#include "dts/error.h"
#include "engine/llama/log.h"

namespace dts {
namespace {

// A state of a plain KV cache: 4 bytes magic, 4 bytes sequence, then
constexpr std::size_t kStreamsAt = 8;  // 4 bytes number of streams, then for each stream
constexpr std::size_t kCountsAt = 12;  // 4 bytes number of cells, followed by the cells where that is not 0.
// A single sequence has cells in one stream only; all the other counts are 0.

std::uint32_t read_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

bool SequenceState::can_change_streams(llama_context* context) {
  const std::size_t streams = llama_n_seq_max(context);
  std::vector<std::uint8_t> empty(llama_state_seq_get_size(context, 0));
  return empty.size() == kCountsAt + streams * 4 &&
         llama_state_seq_get_data(context, empty.data(), empty.size(), 0) == empty.size() &&
         read_u32(empty, kStreamsAt) == streams;
}

void SequenceState::save(llama_context* context, llama_seq_id sequence) {
  forget_llama_errors();
  begin_ = 0;
  streams_ = llama_n_seq_max(context);
  bytes_.resize(llama_state_seq_get_size(context, sequence));
  if (bytes_.empty() || llama_state_seq_get_data(context, bytes_.data(), bytes_.size(), sequence) != bytes_.size()) {
    throw Error("llama.cpp cannot save a branch's KV: " + last_llama_error());
  }
}

// In place, without moving the cells: the counts before them make room for the header, those after them are cut or
// added.
void SequenceState::set_streams(std::size_t streams) {
  std::size_t cells = begin_ + kCountsAt;
  std::size_t before = 0;
  for (; before + 1 < streams_ && read_u32(bytes_, cells) == 0; ++before) cells += 4;
  if (read_u32(bytes_, begin_ + kStreamsAt) != streams_ || bytes_.size() < cells + 4 * (streams_ - before)) {
    throw Error("this llama.cpp saves KV in another format than v0.5.0 does; build with v0.5.0");
  }
  const auto count = static_cast<std::uint32_t>(streams);
  std::memmove(bytes_.data() + cells - kCountsAt, bytes_.data() + begin_, kStreamsAt);
  begin_ = cells - kCountsAt;
  std::memcpy(bytes_.data() + begin_ + kStreamsAt, &count, sizeof count);
  bytes_.resize(bytes_.size() - (streams_ - 1 - before) * 4 + (streams - 1) * 4);
  streams_ = streams;
}

void SequenceState::load(llama_context* context, llama_seq_id sequence) {
  const std::size_t streams = llama_n_seq_max(context);
  if (streams != streams_) set_streams(streams);
  forget_llama_errors();
  const std::size_t size = bytes_.size() - begin_;
  if (llama_state_seq_set_data(context, bytes_.data() + begin_, size, sequence) != size) {
    throw Error("llama.cpp cannot restore a branch's KV: " + last_llama_error());
  }
}

}  // namespace dts
