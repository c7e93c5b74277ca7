// A branch's KV as bytes, to carry it from one llama.cpp context to another.
#pragma once

#include <llama.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dts {

class SequenceState {
 public:
  // Replaces the state by that of a sequence; keeps its memory. Throws dts::Error when llama.cpp cannot save it.
  void save(llama_context* context, llama_seq_id sequence);

  // Replaces what `sequence` holds in `context`, which may have another number of streams where can_change_streams()
  // says so. Throws dts::Error when llama.cpp refuses. A state can be loaded any number of times.
  void load(llama_context* context, llama_seq_id sequence);

  std::size_t size() const { return bytes_.size(); }

  // Can states be carried between contexts with different numbers of streams? llama.cpp writes the number into the
  // state and refuses any other, so it must be rewritten; that is known for a plain KV cache only.
  static bool can_change_streams(llama_context* context);

 private:
  void set_streams(std::size_t streams);

  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;    // the state is bytes_[begin_, end)
  std::size_t streams_ = 0;  // that it is written for
};

}  // namespace dts
