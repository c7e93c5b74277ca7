// ask MODEL.gguf QUESTION: the answer of DTS-Stable, with the library's public headers and nothing else.
#include <dts/dts.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace {

int ask(const std::string& path, const std::string& question) {
  dts::LlamaModelOptions model_options;
  model_options.path = path;
  const dts::LlamaModel model(model_options);
  const dts::Vocabulary& vocabulary = model.vocabulary();
  const dts::ChatMessage message{.role = "user", .content = question};
  const dts::ChatPrompt prompt = vocabulary.chat(std::span(&message, 1));

  dts::SearchOptions options;
  options.method = dts::make_method("dts-stable");
  options.sampling = model.recommended_sampling().options;
  options.max_tokens = 2048;
  const auto search = dts::make_text_search(vocabulary, prompt, options);

  dts::EngineRequest request;
  request.max_branches = search->max_live();
  request.context_length = static_cast<int>(prompt.tokens.size()) + options.max_tokens;
  const std::unique_ptr<dts::Engine> engine = model.make_engine(request);
  dts::Scheduler scheduler(*engine);
  dts::Job job;
  job.search = search;
  scheduler.submit(job);
  scheduler.run();

  const dts::Outcome outcome = search->outcome();
  if (!outcome.winner) {
    std::fprintf(stderr, "no trajectory finished within %d tokens\n", options.max_tokens);
    return 3;
  }
  const auto tokens = search->tree().tokens_of(outcome.best_leaf);
  std::printf("%s\n", vocabulary.detokenize(tokens).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ask MODEL.gguf QUESTION\n");
    return 2;
  }
  try {
    return ask(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ask: %s\n", e.what());
    return 1;
  }
}
