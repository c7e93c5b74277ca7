// Untrusted JSON: limits, paths, and work that grows with the text alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <random>
#include <string>

#include "dts/error.h"
#include "json/field.h"
#include "json/parse.h"

namespace dts {
namespace {

using nlohmann::json;

std::string random_json(std::mt19937& rng, int depth) {
  switch (rng() % (depth > 0 ? 8 : 6)) {
    case 0:
      return "null";
    case 1:
      return rng() % 2 == 0 ? "true" : "false";
    case 2:
      return std::to_string(rng());
    case 3:
      return "-" + std::to_string(rng() % 1000) + ".5e-3";
    case 4:
      return "\"a\\u00e9\\n" + std::to_string(rng() % 9) + "\"";
    case 5:
      return rng() % 2 == 0 ? "[]" : "{}";
    case 6: {
      std::string out = "[";
      for (auto i = rng() % 5; i > 0; --i) out += random_json(rng, depth - 1) + (i > 1 ? "," : "");
      return out + "]";
    }
    default: {
      std::string out = "{";
      for (auto i = rng() % 5; i > 0; --i) {
        out += "\"k" + std::to_string(rng() % 4) + "\": " + random_json(rng, depth - 1) + (i > 1 ? ", " : "");
      }
      return out + "}";
    }
  }
}

// "N: TEXT" of the error, N its reason.
std::string error_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, limits);
  } catch (const JsonError& error) {
    return std::to_string(static_cast<int>(error.reason())) + ": " + error.what();
  }
  return "";
}

TEST(ParseJson, EqualsThePlainParser) {
  std::mt19937 rng(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = random_json(rng, 5);
    EXPECT_EQ(parse_json(text, {}), json::parse(text)) << text;
    // Broken somewhere: both must agree that it is, or on what it still says.
    if (!text.empty()) text[rng() % text.size()] = "{}[],:\"0x\\"[rng() % 10];
    const json plain = json::parse(text, nullptr, false);
    if (plain.is_discarded()) {
      EXPECT_NE(error_of(text), "") << text;
    } else {
      EXPECT_EQ(parse_json(text, {}), plain) << text;
    }
  }
}

TEST(ParseJson, HasLimits) {
  EXPECT_EQ(error_of(std::string(4, '[') + std::string(4, ']'), {.depth = 4}), "");
  EXPECT_EQ(error_of(std::string(5, '[') + std::string(5, ']'), {.depth = 4}), "2: it nests deeper than 4 levels");
  EXPECT_EQ(error_of(std::string(1000000, '[')).substr(0, 1), "2");
  EXPECT_EQ(error_of("[1,2,3]", {.values = 4}), "");
  EXPECT_EQ(error_of("[1,2,3]", {.values = 3}), "3: it has more than 3 values");
  EXPECT_EQ(error_of("[1e999]").substr(0, 1), "1");
  EXPECT_EQ(error_of("[1").substr(0, 1), "0");
}

TEST(ParseJson, KeysMayHaveToBeUniqueAndFew) {
  const std::string twice = R"({"a": [{"b": 1, "b": 2}]})";
  EXPECT_EQ(parse_json(twice, {})["a"][0]["b"], 2);
  EXPECT_NE(error_of(twice, {.unique_keys = true}).find("the key 'b' twice"), std::string::npos);
  EXPECT_EQ(error_of(R"({"b": {"b": 1}, "c": [{"b": 1}, {"b": 2}]})", {.unique_keys = true}), "");
  EXPECT_EQ(error_of(R"({"a": 1, "b": 2})", {.members = 2}), "");
  EXPECT_NE(error_of(R"([{"a": 1, "b": 2, "c": 3}])", {.members = 2}), "");
}

TEST(ParseJson, OrderedEqualsThePlainParserAndTakesTimeThatGrowsWithTheText) {
  std::mt19937 rng(8);
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_json(rng, 5);
    if (error_of(text, {.unique_keys = true}) != "") continue;
    EXPECT_EQ(parse_ordered_json(text, {}), nlohmann::ordered_json::parse(text)) << text;
    ++compared;
  }
  EXPECT_GT(compared, 1000);
  // nlohmann's own took most of a minute for this.
  std::string wide = "{";
  for (int i = 0; i < 100'000; ++i) wide += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  EXPECT_EQ(parse_ordered_json(wide + "}", {}).size(), 100'000U);
}

TEST(JsonField, NamesThePathTheValueAndWhatWouldBeRight) {
  const json value = json::parse(R"({"a": {"list": [1, {"b": "x"}]}, "none": null})");
  const std::string name = "f.json";
  const JsonField root(value, name);
  const auto failure = [](auto read) -> Error {
    try {
      read();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "it was read";
    return Error("");
  };
  const Error wrong = failure([&] { root["a"]["list"].item(1)["b"].whole(1, 5); });
  EXPECT_STREQ(wrong.what(), "f.json: a.list[1].b is \"x\": it must be a whole number from 1 to 5");
  EXPECT_EQ(wrong.field()->name, "a.list[1].b");
  EXPECT_EQ(wrong.field()->value, "\"x\"");
  EXPECT_EQ(wrong.field()->expected, "a whole number from 1 to 5");
  const Error missing = failure([&] { root["a"]["c"].string(); });
  EXPECT_STREQ(missing.what(), "f.json: a.c is missing: it must be a string");
  EXPECT_EQ(missing.field()->value, "");
  EXPECT_STREQ(failure([&] { JsonField(value)["none"].boolean(); }).what(), "none is null: it must be true or false");
  EXPECT_TRUE(root["none"].absent() && root["c"].absent() && root["none"].is_null());
  failure([&] { root["c"].is_null(); });
  failure([&] { root["a"]["list"]["b"]; });
}

// A list of objects, as a tree file's segments or a request's messages: ten times as many take about ten times as long,
// not a hundred times.
TEST(ParseJson, TakesTimeThatGrowsWithTheText) {
  const auto seconds_of = [](int objects) {
    std::string text = "[{}";
    for (int i = 1; i < objects; ++i) text += ",{\"a\":[1]}";
    text += "]";
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();  // of this process: others on the machine do not count
      EXPECT_EQ(parse_json(text, {}).size(), static_cast<std::size_t>(objects));
      best = std::min(best, std::clock() - start);
    }
    return static_cast<double>(best);
  };
  EXPECT_LT(seconds_of(100'000), 35 * std::max(seconds_of(10'000), 1.0));
}

}  // namespace
}  // namespace dts
