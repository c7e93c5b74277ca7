// What is done beside the connections: whose turn it is, and lists that are written as they are taken.
#include "serve/http/workers.h"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/api/token_list_reply.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

TEST(Workers, OwnersTakeTurns) {
  std::promise<void> gate;
  std::promise<void> held;
  std::promise<void> all;
  std::string order;  // of one thread
  Workers workers(1);
  workers.post(1, [&] {
    held.set_value();
    gate.get_future().wait();
  });
  held.get_future().wait();
  for (const char task : {'a', 'b', 'c'}) workers.post(1, [&order, task] { order += task; });
  for (const char task : {'x', 'y'}) workers.post(2, [&order, task] { order += task; });
  workers.post(3, [&order] { order += 'm'; });
  for (int owner = 1; owner <= 3; ++owner) {  // after all of theirs
    workers.post(static_cast<std::uint64_t>(owner), [&order] { order += '.'; });
  }
  workers.post(1, [&all] { all.set_value(); });
  gate.set_value();
  all.get_future().wait();
  EXPECT_EQ(order, "axmby.c..");
}

TEST(TokenListReply, SaysTheSameWholeAndInPieces) {
  const PieceVocabulary vocabulary(awkward_pieces());
  for (const std::size_t size : {0U, 1U, 2048U, 2049U, 10'000U}) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < size; ++i) tokens.push_back(static_cast<Token>(i % 20));
    for (const bool pieces : {false, true}) {
      const auto held = std::make_shared<int>();
      Reading reading({.id = "",
                       .route = "",
                       .reply = std::make_unique<TokenListReply>(tokens, pieces ? &vocabulary : nullptr, held,
                                                                 TokenListReply::Clock::time_point::max())});
      EXPECT_EQ(held.use_count(), 2);
      const nlohmann::json list = nlohmann::json::parse(reading.whole().body).at("tokens");
      ASSERT_EQ(list.size(), size);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(pieces ? list[i].at("id") : list[i], tokens[i]);
      if (pieces && size > 0) {
        EXPECT_EQ(list[0].at("piece"), "a");
      }
    }
  }
}

TEST(TokenListReply, EndsBrokenWhereItsTimeIsOver) {
  TokenListReply reply(std::vector<Token>(10'000, 1), nullptr, nullptr, TokenListReply::Clock::now());
  ASSERT_TRUE(reply.streams());
  const Reply::Piece piece = reply.next();
  EXPECT_TRUE(piece.data.empty());
  EXPECT_TRUE(piece.end);
  EXPECT_TRUE(piece.broken);
}

}  // namespace
}  // namespace dts::serve
