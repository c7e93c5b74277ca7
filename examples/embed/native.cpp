// One token on the native engine: on the GPU where there is one, else on its oracle.
#include <dts/native.h>

#include <exception>
#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "usage: native MODEL.gguf QUESTION\n", 2;
  const bool has_gpu = dts::why_no_native_gpu().empty();
  const dts::NativeModel model(
      {.path = argv[1], .device = has_gpu ? dts::NativeDevice::kCuda : dts::NativeDevice::kCpu});
  const std::vector<dts::ChatMessage> messages = {{"user", argv[2]}};
  const std::vector<dts::Token> prompt = model.vocabulary().chat(messages).tokens;
  const auto engine = model.make_engine({.max_branches = 1, .context_length = static_cast<int>(prompt.size()) + 1});
  const dts::BranchId branch = engine->open();
  const std::span<const dts::Token> tokens(prompt);
  engine->prefill(branch, tokens.first(tokens.size() - 1));
  const dts::PredictionSpec spec{.top_k = 1};
  const dts::Feed feed{.branch = branch, .tokens = tokens.last(1), .draw = 0, .spec = &spec};
  dts::Prediction prediction;
  engine->step({&feed, 1}, {&prediction, 1});
  std::cout << engine->info().kind << ": \"" << model.vocabulary().detokenize({&prediction.top[0].token, 1}) << "\"\n";
  return 0;
} catch (const std::exception& error) {
  return std::cerr << error.what() << '\n', 1;
}
