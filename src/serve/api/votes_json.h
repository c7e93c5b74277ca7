// Votes as clients read them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "dts/vote.h"
#include "text/utf8.h"

namespace dts::serve {

// [{"answer", "votes"}], winner first.
inline nlohmann::ordered_json votes_json(std::span<const AnswerCount> votes) {
  auto list = nlohmann::ordered_json::array();
  for (const AnswerCount& count : votes) {
    list.push_back({{"answer", text::valid_utf8(count.answer)}, {"votes", count.votes}});
  }
  return list;
}

}  // namespace dts::serve
