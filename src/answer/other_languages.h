// How languages other than English say what the answer is.
#pragma once

#include <cstddef>
#include <string_view>

namespace dts {

// How many bytes of `text` say that the answer follows: "答案是", "La réponse est donc" from "réponse" on, "Ответ:".
// "答案不是 12, 而是" does as well. 0: it does not begin so, or denies it. Expects narrow forms (wide_forms.h).
std::size_t lead_in_size(std::string_view text);

// Of what stands before a lead-in: it supposes what follows, or says that it is wrong: "如果", "falsche".
bool is_supposed_abroad(std::string_view before);

// Whether `text` begins with a character of Chinese, Japanese or Korean.
bool begins_east_asian(std::string_view text);

}  // namespace dts
