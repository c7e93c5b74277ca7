// The names of end tokens, for whoever has a vocabulary's words and not its word for it.
#pragma once

#include <array>
#include <string_view>

namespace dts {

// Tokens that end a turn or a text in the chat formats of the models we know. llama.cpp's own list also has a plain
// "</s>", which is an ordinary word piece in some vocabularies (Qwen2's 128,247); a real </s> is named by the metadata.
inline constexpr std::array<std::string_view, 15> kEndNames = {
    "<|im_end|>",      "<|endoftext|>", "<|end|>", "<|eot_id|>", "<|eom_id|>",
    "<|end_of_text|>", "<|return|>",    "<|eot|>", "[EOS]",      "<｜end▁of▁sentence｜>",
    "<end_of_turn>",   "<eos>",         "<EOT>",   "[EOT]",      "<turn|>",
};

}  // namespace dts
