// The order in which a multiple choice question shows its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dts::eval {

// A permutation of 0..count-1, each equally likely, that depends on nothing but its arguments: not on the question's
// place in the file, nor on the other questions, nor on the machine.
std::vector<std::size_t> choice_order(std::uint64_t seed, std::string_view question_id, std::size_t count);

// The order for one seed of an evaluation, given the seed of the shuffling itself.
std::vector<std::size_t> choice_order(std::uint64_t shuffle_seed, std::uint64_t seed, std::string_view question_id,
                                      std::size_t count);

// 0 -> 'A'.
constexpr char letter_of_choice(std::size_t place) { return static_cast<char>('A' + place); }

}  // namespace dts::eval
