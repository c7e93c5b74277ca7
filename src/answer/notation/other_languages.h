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

// What follows the last lead-in of `text` that supposes nothing, on its line or on the next that has anything; empty
// where there is none.
std::string_view after_last_lead_in(std::string_view text);

// Up to where the sentence goes on after a value: "12 个" and "12, car" -> "12". As it is where that makes it another
// one: "12 或 13", "12 万".
std::string_view value_abroad(std::string_view sentence);

// Whether `text` begins with a character of Chinese, Japanese or Korean.
bool begins_east_asian(std::string_view text);

}  // namespace dts
