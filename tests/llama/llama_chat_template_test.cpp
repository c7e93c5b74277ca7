// Chat templates of real models, rendered through llama.cpp's Jinja engine.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dts/error.h"
#include "engine/llama/chat_template.h"

namespace dts {
namespace {

std::string template_source(const std::string& name) {
  const std::string path = std::string(DTS_LLAMA_SOURCE_DIR) + "/models/templates/" + name + ".jinja";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string join(const std::vector<PromptPart>& parts) {
  std::string text;
  for (const PromptPart& part : parts) text += part.text;
  return text;
}

std::vector<PromptPart> render(const std::string& source, const std::vector<ChatMessage>& messages) {
  return ChatTemplate(source, "<bos>", "<eos>").render(messages);
}

TEST(ChatTemplate, DeepSeekR1DistillQwenOpensThinking) {
  const auto prompt = render(template_source("deepseek-ai-DeepSeek-R1-Distill-Qwen-32B"), {{"user", "What is 6 x 7?"}});
  EXPECT_EQ(join(prompt), "<bos><｜User｜>What is 6 x 7?<｜Assistant｜><think>\n");
  EXPECT_TRUE(opens_thinking(prompt));
}

TEST(ChatTemplate, DeepSeekR1DistillLlamaOpensThinking) {
  const auto prompt = render(template_source("deepseek-ai-DeepSeek-R1-Distill-Llama-8B"), {{"user", "Hi"}});
  EXPECT_EQ(join(prompt), "<bos><｜User｜>Hi<｜Assistant｜><think>\n");
  EXPECT_TRUE(opens_thinking(prompt));
}

TEST(ChatTemplate, QwenQwqOpensThinkingAndIsAskedToThink) {
  const auto prompt = render(template_source("Qwen-QwQ-32B"), {{"user", "Hi"}});
  EXPECT_EQ(join(prompt), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n");
  EXPECT_TRUE(opens_thinking(prompt));
}

TEST(ChatTemplate, Qwen3LetsTheModelOpenThinking) {
  const auto prompt = render(template_source("Qwen-Qwen3-0.6B"), {{"system", "Be brief."}, {"user", "Hi"}});
  EXPECT_EQ(join(prompt),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_FALSE(opens_thinking(prompt));
}

TEST(ChatTemplate, Qwen3DropsThinkingOfEarlierTurns) {
  const auto prompt = render(template_source("Qwen-Qwen3-0.6B"),
                             {{"user", "Hi"}, {"assistant", "<think>\nhm\n</think>\n\nHello"}, {"user", "Bye"}});
  EXPECT_EQ(join(prompt),
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
            "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_FALSE(opens_thinking(prompt));
}

TEST(ChatTemplate, Phi35Mini) {
  const auto prompt = render(template_source("microsoft-Phi-3.5-mini-instruct"), {{"user", "Hi"}});
  EXPECT_EQ(join(prompt), "<|user|>\nHi<|end|>\n<|assistant|>\n");
}

TEST(ChatTemplate, RolesMadeIntoControlTokensAreTheTemplatesOwn) {  // as Phi-4-mini writes them
  const auto prompt =
      render("{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}<|assistant|>",
             {{"user", "Hi"}});
  ASSERT_EQ(prompt.size(), 3U);
  EXPECT_EQ(prompt[0].text, "<|user|>");
  EXPECT_FALSE(prompt[0].from_message);
  EXPECT_EQ(prompt[1].text, "Hi");
  EXPECT_TRUE(prompt[1].from_message);
  EXPECT_EQ(prompt[2].text, "<|end|><|assistant|>");
}

TEST(ChatTemplate, Llama31) {
  const auto prompt = render(template_source("meta-llama-Llama-3.1-8B-Instruct"), {{"user", "Hi"}});
  const std::string text = join(prompt);
  EXPECT_TRUE(text.starts_with("<bos><|start_header_id|>system<|end_header_id|>")) << text;
  EXPECT_TRUE(
      text.ends_with("<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
                     "<|start_header_id|>assistant<|end_header_id|>\n\n"))
      << text;
}

TEST(ChatTemplate, EveryTemplateOfLlamaCppRendersAQuestion) {
  int rendered = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DTS_LLAMA_SOURCE_DIR "/models/templates")) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string name = entry.path().stem().string();
    try {
      const std::string text = join(render(template_source(name), {{"user", "What is 6 x 7?"}}));
      EXPECT_NE(text.find("What is 6 x 7?"), std::string::npos) << name << ": " << text;
      ++rendered;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
  EXPECT_GT(rendered, 30);
}

TEST(ChatTemplate, AThinkTagInAMessageDoesNotOpenThinking) {
  const std::string source = "{% for m in messages %}[{{ m.content }}]{% endfor %}answer:";
  EXPECT_FALSE(opens_thinking(render(source, {{"user", "what does <think> mean?"}})));
  EXPECT_FALSE(opens_thinking(render(source + "<think>\n\n</think>\n\n", {{"user", "Hi"}})));
  EXPECT_TRUE(opens_thinking(render(source + "<think>", {{"user", "</think>"}})));
}

TEST(ChatTemplate, InvalidUtf8PassesThrough) {
  for (const char* name : {"Qwen-Qwen3-0.6B", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "Qwen-QwQ-32B"}) {
    const std::string text =
        join(render(template_source(name), {{"user", "\xff\xc3("}, {"assistant", "\xed\xa0"}, {"user", "\xf8"}}));
    EXPECT_NE(text.find("\xff\xc3("), std::string::npos) << name;
  }
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ChatTemplate, RefusalsAndMistakesAreOneLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{{ raise_exception('roles must alternate') }}", "roles must alternate"},
      {"{% for m in messages %}", "does not parse"},
      {"{{ messages[7].content.nothing() }}", "cannot render"},
      {"{% endfor %}", "does not parse"},
      {"{{ " + std::string(100'000, '('), "nested too deeply"},
      {"{{ " + std::string(100'000, '[') + " }}", "nested too deeply"},
      {std::string(3'000'000, 'x'), "too large"},
      {"{{ " + repeated("not ", 200'000) + "x }}", "nested too deeply"},
      {"{{ 1" + repeated("+1", 400'000) + " }}", "nested too deeply"},
      {"{{ 1" + repeated(" if a else 1", 50'000) + " }}", "nested too deeply"},
      {repeated("{% if x %}", 50'000) + repeated("{% endif %}", 50'000), "nested too deeply"},
      {repeated("{% set x %}", 50'000) + repeated("{% endset %}", 50'000), "nested too deeply"},
      {"{% if x %}" + repeated("{% elif x %}", 50'000) + "{% endif %}", "nested too deeply"},
      {"{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "calls itself too deeply"},
      {"{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{% if true %}{{ f() }}{% endif %}{% endmacro %}{{ f() }}",
       "calls itself too deeply"},
      {"{% for i in range(1000000000) %}x{% endfor %}", "range() is too long"},
      {"{% for i in range(0, 9, 1) %}{% for j in range(-9000000000) %}x{% endfor %}{% endfor %}",
       "range() is too long"},
  };
  for (const auto& [source, reason] : cases) {
    try {
      render(source, {{"user", "Hi"}});
      ADD_FAILURE() << source.substr(0, 60) << " was accepted";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(reason), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(ChatTemplate, MacrosThatEndMayCallThemselves) {
  const std::string source =
      "{% macro f(n) %}{{ n }}{% if n > 0 %},{{ f(n - 1) }}{% endif %}{% endmacro %}"
      "{% for i in range(2) %}[{{ f(10) }}]{% endfor %}";
  EXPECT_EQ(join(render(source, {{"user", "Hi"}})), "[10,9,8,7,6,5,4,3,2,1,0][10,9,8,7,6,5,4,3,2,1,0]");
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ChatTemplate, ATemplateThatTakesTooMuchMemoryIsGivenUp) {
  const std::string source = "{% set ns = namespace(s='" + std::string(200'000, 'x') +
                             "') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}";
  const ChatTemplate chat(source, "", "", /*max_seconds=*/60);
  try {
    chat.render(std::vector<ChatMessage>{{"user", "Hi"}});
    ADD_FAILURE() << "it was rendered";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too much memory"), std::string::npos) << error.what();
  }
}
#endif

TEST(ChatTemplate, ATemplateThatTakesTooLongIsGivenUp) {
  // 10^15 rounds; the loops stand in a macro, in a branch of a condition.
  const std::string source =
      "{% macro f() %}{% if true %}{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}"
      "{% endfor %}{% endfor %}{% endfor %}{% endif %}{% endmacro %}{{ f() }}";
  const ChatTemplate chat(source, "", "", /*max_seconds=*/0.05);
  try {
    chat.render(std::vector<ChatMessage>{{"user", "Hi"}});
    ADD_FAILURE() << "it was rendered";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("takes too long"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dts
