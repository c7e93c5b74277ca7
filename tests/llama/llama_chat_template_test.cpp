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

// What no loop and no macro is needed for: each is one expression, or a few.
TEST(ChatTemplate, ExpressionsAreBoundedToo) {
  const std::string long_text(99'999, 'a');
  const std::string deep =
      "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{% set m = messages %}{% set _ = m.append(m) %}{{ m }}", "nested too deeply"},
      {"{% set m = messages %}{% set _ = m.append([[m]]) %}", "nested too deeply"},
      {"{% set ns = namespace(x=1) %}{% set ns.y = [ns] %}{{ ns.y == ns.y }}", "nested too deeply"},
      {deep + "{{ ns.x }}", "nested too deeply"},
      {deep, "nested too deeply"},
      {"{{ 'a' * 1000000000000 }}", "too long"},
      {"{{ 1000000000000 * 'a' }}", "too long"},
      {"{{ '" + long_text + "' | replace('a', '" + long_text + "') }}", "too long"},
      {"{{ '" + long_text + "'.replace('a', '" + long_text + "') }}", "too long"},
      {"{{ messages | tojson(indent=1000000000) }}", "too wide"},
      {"{{ 'a' | indent(1000000000) }}", "too wide"},
      {"{% set l = 'aaaa'.split('a') %}" + repeated("{% set l = l + l %}", 40) + "{{ l | join('x') }}", "too large"},
      {"{% set a = [1] %}" + repeated("{% set a = [a, a] %}", 60) + "{{ a }}", "too large"},
      {"{% set a = {'k': 1} %}" + repeated("{% set a = {'k': a, 'l': a} %}", 60) + "{{ a == a }}", "too large"},
      {"{% set s = 'ab' %}" + repeated("{% set s = s ~ s %}", 60), "too large"},
      {"{{ ('" + long_text + "' * 100).split('a') }}", "too many pieces"},
      {"{{ range(100000) | list | unique | list | length }}", "too long to be sorted"},
      // Deep, but never seen as a whole: each list hangs below the last one's innermost.
      {"{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set n = [] %}"
       "{% set _ = ns.l.append([[[[[[[[[[n]]]]]]]]]]) %}{% set ns.l = n %}{% endfor %}",
       "too often"},
  };
  for (const auto& [source, reason] : cases) {
    try {
      // Time enough that it is never the clock that ends it.
      const std::vector<ChatMessage> messages = {{"user", "Hi"}};
      ChatTemplate(source, "<bos>", "<eos>", 3600).render(messages);
      ADD_FAILURE() << source.substr(0, 100) << " was accepted";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(reason), std::string::npos) << source.substr(0, 100) << "\n" << text.substr(0, 300);
      EXPECT_EQ(text.find('\n'), std::string::npos) << text.substr(0, 300);
    }
  }
}

// The bounds leave what templates do alone.
TEST(ChatTemplate, ALongConversationIsNoHostileOne) {
  const std::string source =
      "{% set ns = namespace(kept=[]) %}{% for m in messages %}{% set _ = ns.kept.append({'m': m, 'l': [m.role]}) %}"
      "{% set ns.kept = ns.kept + [] %}{% endfor %}{% for k in ns.kept %}{{ k.m.content | trim | replace('a', 'bb') }}"
      "{% if loop.index0 == messages | length - 1 %}.{% endif %}{% endfor %}{{ '-' * 3 }}{{ messages[0] | "
      "tojson(indent=2) }}";
  const std::vector<ChatMessage> messages(1024, ChatMessage{"user", "banana "});
  std::string all;
  for (const PromptPart& part : ChatTemplate(source, "", "", 60).render(messages)) all += part.text;
  EXPECT_EQ(all.find("bbbnbbnbbbbbnbbnbb"), 0U);
  EXPECT_NE(all.find(".---{"), std::string::npos);
}

TEST(ChatTemplate, MacrosThatEndMayCallThemselves) {
  const std::string source =
      "{% macro f(n) %}{{ n }}{% if n > 0 %},{{ f(n - 1) }}{% endif %}{% endmacro %}"
      "{% for i in range(2) %}[{{ f(10) }}]{% endfor %}";
  EXPECT_EQ(join(render(source, {{"user", "Hi"}})), "[10,9,8,7,6,5,4,3,2,1,0][10,9,8,7,6,5,4,3,2,1,0]");
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ChatTemplate, ATemplateThatTakesTooMuchMemoryIsGivenUp) {
  // No value of it is too large, but all of them are.
  std::string source = "{% set s = '" + std::string(200'000, 'x') + "' * 80 %}";
  for (int i = 0; i < 16; ++i) source += "{% set v" + std::to_string(i) + " = s ~ '' %}{{ s | length }}";
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
