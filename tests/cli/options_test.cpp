// The one table of options: every surface has each of them, and each bounds it the same way.
#include "dts/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/tree_file.h"
#include "eval/run/variants.h"
#include "json/option_json.h"
#include "serve/api/api_error.h"
#include "serve/api/completion_request.h"
#include "serve/api/models_json.h"
#include "serve/api/option_fields.h"
#include "support/synthetic_tree.h"

namespace dts {
namespace {

using nlohmann::json;

// A value that is not the default, within every surface's range.
OptionValue other_value(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::kWhole:
      return std::int64_t{9};
    case OptionType::kNumber:
      return 0.5;
    case OptionType::kWord:
      return std::string(option.words[option.words.size() - 2] == value_text(option.get({}))
                             ? option.words.back()
                             : option.words[option.words.size() - 2]);
    case OptionType::kSeed:
      return std::uint64_t{9};
  }
  return {};
}

// Out of every surface's range.
json wrong_value(const OptionInfo& option) {
  return option.type == OptionType::kWord ? json("no such word") : json(-2);
}

// The first method that the option concerns.
std::string method_for(const OptionInfo& option) {
  for (const MethodInfo& method : methods()) {
    if (option.concerns(make_method(method.name))) return std::string(method.name);
  }
  return "";
}

json request_with(const OptionInfo& option, json value) {
  json body = {{"messages", {{{"role", "user"}, {"content", "hi"}}}}};
  json& object = option.openai ? body : body["dts"];
  object[std::string(option.name)] = std::move(value);
  return body;
}

// "PARAM: MESSAGE" of the refusal; empty when it is read.
std::string refusal_of(const json& body, const serve::Limits& limits) {
  try {
    serve::read_chat_request(body, {}, limits, nlohmann::ordered_json(body));
  } catch (const serve::ApiError& error) {
    return error.param() + ": " + error.what();
  }
  return "";
}

json to_json(const OptionValue& value) { return json(option_json(value)); }

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(DTS_TEST_DATA_DIR) + "/../../" + path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

TEST(Options, ValuesGoThereAndBack) {
  for (const OptionInfo& option : decoding_options()) {
    SCOPED_TRACE(option.name);
    const OptionValue value = other_value(option);
    DecodingOptions options;
    ASSERT_NE(option.get(options), value);
    option.set(options, value);
    EXPECT_EQ(option.get(options), value);
    EXPECT_EQ(parse_option(option, value_text(value)), value);
    EXPECT_EQ(find_option(option.name), &option);
    EXPECT_EQ(find_option_flag(option.flag_name()), &option);
    EXPECT_FALSE(option.help.empty() || option.label.empty() || method_for(option).empty());
    // What has no default says what is taken instead.
    EXPECT_FALSE(default_text(option).empty());
    for (const OptionInfo& another : decoding_options()) {
      if (&another == &option) continue;
      EXPECT_EQ(another.get(options), another.get(DecodingOptions{})) << another.name;
    }
  }
}

TEST(Options, EveryCommandHasAFlagForEach) {
  CLI::App app;
  int exit_code = 0;
  cli::add_run_command(app, exit_code);
  cli::add_serve_command(app, exit_code);
  cli::add_eval_command(app, exit_code);
  for (const char* command : {"run", "serve", "eval"}) {
    for (const OptionInfo& option : decoding_options()) {
      const std::string flag = cli::flag_of(option.name);
      const CLI::Option* found = app.get_subcommand(command)->get_option_no_throw(flag);
      ASSERT_NE(found, nullptr) << command << " has no " << flag;
      EXPECT_EQ(found->get_description().find('\x1f'), std::string::npos) << flag;
    }
  }
}

TEST(Options, RequestsHaveEachAndRefuseWhatIsOutOfRangeByItsField) {
  const serve::Limits limits = [] {
    serve::Limits some;
    some.context = 4096;
    some.max_tokens = 100;
    return some;
  }();
  for (const OptionInfo& option : decoding_options()) {
    SCOPED_TRACE(option.name);
    const OptionValue value = other_value(option);
    const nlohmann::json body = request_with(option, to_json(value));
    const serve::CompletionRequest read = serve::read_chat_request(body, {}, limits, nlohmann::ordered_json(body));
    EXPECT_EQ(option.get(read.decoding), value);
    const std::string field = serve::field_name(option.name);
    const std::string refusal = refusal_of(request_with(option, wrong_value(option)), limits);
    EXPECT_EQ(refusal.substr(0, 2 * field.size() + 6), field + ": " + field + " is ") << refusal;
    const OptionRange range = serve::request_range(option, limits);
    if (option.type == OptionType::kWord || option.type == OptionType::kSeed || range.most >= 0x1p31) continue;
    EXPECT_EQ(refusal_of(request_with(option, option.type == OptionType::kWhole
                                                  ? json(static_cast<std::int64_t>(range.most) + 1)
                                                  : json(range.most + 1)),
                         limits)
                  .find(field),
              0U);
  }
  // What is no option of the dts object is unknown there, also where the request itself has it.
  EXPECT_NE(refusal_of({{"messages", json::array()}, {"dts", {{"temperature", 1}}}}, limits).find("is unknown"),
            std::string::npos);
}

TEST(Options, ATextAndAJsonValueAreBoundedTheSame) {
  const std::vector<std::string> candidates = {"-inf", "-2",  "0",   "1e-6", "0.01", "0.5",        "1",   "1.5",
                                               "2",    "100", "101", "252",  "1e9",  "2147483647", "3e9", "inf"};
  for (const OptionInfo& option : decoding_options()) {
    if (option.type != OptionType::kWhole && option.type != OptionType::kNumber) continue;
    for (const std::string& text : candidates) {
      SCOPED_TRACE(fmt::format("{} {}", option.name, text));
      const bool word = text.find("inf") != std::string::npos;
      const json value = word ? json(text) : json::parse(text);
      std::optional<OptionValue> by_text;
      std::optional<OptionValue> by_json;
      try {
        by_text = parse_option(option, text);
      } catch (const Error& error) {
        ASSERT_TRUE(error.field());
        EXPECT_EQ(error.field()->name, option.name);
        EXPECT_EQ(error.kind(), Error::Kind::kUsage);
      }
      try {
        by_json = read_option(option, JsonField(value), option.range);
      } catch (const Error& error) {
        EXPECT_TRUE(error.field());
      }
      EXPECT_EQ(by_text, by_json);
      // What is let in by the table is let in by the library.
      if (!by_text || option.name == "window") continue;
      DecodingOptions options;
      options.method = method_for(option);
      options.numbers.votes = 1;
      option.set(options, *by_text);
      EXPECT_NO_THROW(options.search());
    }
  }
}

TEST(Options, ModelsListEach) {
  serve::ServiceOptions service;
  service.model.id = "m";
  service.limits.branches = 32;
  EngineInfo engine;
  engine.context_length = 4096;
  service.limits.context = engine.context_length;
  const json dts = json(serve::models_json(service, engine)["data"][0]["dts"]);
  ASSERT_EQ(dts["options"].size(), decoding_options().size());
  for (std::size_t i = 0; i < decoding_options().size(); ++i) {
    const OptionInfo& option = decoding_options()[i];
    const json& told = dts["options"][i];
    SCOPED_TRACE(told.dump());
    EXPECT_EQ(told["name"], option.name);
    EXPECT_EQ(told["field"], serve::field_name(option.name));
    EXPECT_EQ(told["default"], to_json(option.get(service.defaults)));
    EXPECT_EQ(told["words"].size(), option.words.size());
    EXPECT_EQ(told.dump().find("\\u001f"), std::string::npos);
    for (const MethodInfo& method : methods()) {
      const bool listed =
          std::find(told["methods"].begin(), told["methods"].end(), method.name) != told["methods"].end();
      EXPECT_EQ(listed, option.concerns(make_method(method.name))) << method.name;
    }
  }
  const auto most = [&](const char* name) {
    for (const json& told : dts["options"]) {
      if (told["name"] == name) return told["most"];
    }
    return json();
  };
  EXPECT_EQ(most("max_branches"), 32);
  EXPECT_EQ(most("window"), 4096);
  EXPECT_EQ(most("max_tokens"), 4096);
  EXPECT_EQ(most("max_total_tokens"), nullptr);
}

TEST(Options, VariantsTakeThoseOfTheMethod) {
  for (const OptionInfo& option : decoding_options()) {
    if (!option.of_variants()) continue;
    SCOPED_TRACE(option.name);
    const std::string method = method_for(option);
    const std::string value = value_text(other_value(option));
    const SearchOptions varied = eval::parse_variant(method + ":" + option.flag_name() + "=" + value);
    EXPECT_NE(eval::settings_of(varied), eval::settings_of(eval::parse_variant(method)));
    EXPECT_THROW(eval::parse_variant(method + ":" + option.flag_name() + "=-2"), Error);
  }
  EXPECT_THROW(eval::parse_variant("dts-stable:seed=3"), Error);
  EXPECT_THROW(eval::parse_variant("dts-stable:predict=3"), Error);
}

// But for the time budget, of which a tree knows only that it was spent.
TEST(Options, TreeFilesKeepEach) {
  for (const OptionInfo& option : decoding_options()) {
    if (option.name == "max_seconds") continue;
    SCOPED_TRACE(option.name);
    DecodingOptions options;
    options.method = method_for(option);
    TreeDocument document = test::small_tree();
    document.options = options.search();
    const std::string before = to_json_text(document);
    option.set(options, other_value(option));
    document.options = options.search();
    const std::string text = to_json_text(document);
    EXPECT_NE(text, before);
    EXPECT_EQ(to_json_text(tree_from_json_text(text, "f.json")), text);
  }
}

// An option concerns a method exactly when its search is another one for it.
TEST(Options, ConcernsAreThoseThatMatter) {
  for (const MethodInfo& method : methods()) {
    for (const OptionInfo& option : decoding_options()) {
      if (!option.of_variants() || option.name == "consensus" || option.name == "adaptive") continue;
      DecodingOptions options;
      options.method = method.name;
      const json usual = eval::settings_of(options.search());
      option.set(options, other_value(option));
      EXPECT_EQ(eval::settings_of(options.search()) != usual, option.concerns(make_method(method.name)))
          << method.name << " " << option.name;
    }
  }
}

TEST(Options, TheManualHasEach) {
  const std::string manual = text_of("docs/usage.md") + text_of("docs/methods.md");
  const std::string server = text_of("docs/server.md");
  const json replayed = json::parse(text_of("web/dev/methods.json"))["dts"]["options"];
  ASSERT_EQ(replayed.size(), decoding_options().size()) << "web/dev/methods.json is what GET /v1/models says";
  std::size_t i = 0;
  for (const OptionInfo& option : decoding_options()) {
    EXPECT_NE(manual.find(cli::flag_of(option.name)), std::string::npos) << option.name;
    EXPECT_NE(server.find("`" + std::string(option.name) + "`"), std::string::npos) << option.name;
    EXPECT_EQ(replayed[i++]["name"], option.name);
  }
}

}  // namespace
}  // namespace dts
