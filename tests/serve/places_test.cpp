// Places in the queue: whose they are, and when one is free.
#include "serve/runs/places.h"

#include <gtest/gtest.h>

#include "serve/api/api_error.h"

namespace dts::serve {
namespace {

using std::chrono::seconds;

// The Retry-After of the refusal; 0 when there was none.
int refusal(Places& places, std::uint64_t owner, int wanted) {
  try {
    places.take(owner, wanted);
    return 0;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 429);
    EXPECT_EQ(error.headers().front().first, "Retry-After");
    return std::stoi(error.headers().front().second);
  }
}

TEST(Places, NobodyTakesMoreThanThereAreNorThanItsShare) {
  Places places(4, 3);
  EXPECT_EQ(refusal(places, 1, 3), 0);
  EXPECT_GT(refusal(places, 1, 1), 0) << "its share";
  EXPECT_GT(refusal(places, 2, 2), 0) << "all together";
  EXPECT_EQ(refusal(places, 2, 1), 0);
  places.give_back(1, 1);
  EXPECT_EQ(refusal(places, 1, 1), 0);
  places.cancel(1, 3);
  EXPECT_EQ(places.taken(), 1);
}

TEST(Places, SayWhenToComeBackFromHowOftenOneIsFreed) {
  Places places(100, 100);
  places.take(1, 100);
  const Places::Clock::time_point start{};
  EXPECT_EQ(places.seconds_until_free(50, start), 2) << "nothing is known yet";
  for (int i = 0; i <= 10; ++i) places.give_back(1, 1, start + seconds(3 * i));
  EXPECT_EQ(places.seconds_until_free(1, start + seconds(30)), 3);
  EXPECT_EQ(places.seconds_until_free(5, start + seconds(30)), 15);
  EXPECT_EQ(places.seconds_until_free(1, start + seconds(60)), 6) << "it has become slow";
  EXPECT_EQ(places.seconds_until_free(100'000, start + seconds(60)), 600);
  // What nothing came of tells nothing.
  places.cancel(1, 5);
  EXPECT_EQ(places.seconds_until_free(1, start + seconds(30)), 3);
  for (int i = 0; i < 40; ++i) places.give_back(1, 1, start + seconds(100) + std::chrono::milliseconds(i));
  EXPECT_EQ(places.seconds_until_free(1, start + seconds(100)), 1);
}

}  // namespace
}  // namespace dts::serve
