#include "serve/api/option_fields.h"

#include <algorithm>

namespace dts::serve {

std::string field_name(std::string_view option) {
  const OptionInfo* known = find_option(option);
  return known == nullptr || known->openai ? std::string(option) : "dts." + std::string(option);
}

OptionRange request_range(const OptionInfo& option, const Limits& limits) {
  OptionRange range = option.range;
  const auto at_most = [&range](auto most) {
    if (most > 0) range.most = std::min(range.most, static_cast<double>(most));
  };
  if (option.name == "branch_k") at_most(limits.branch_k);
  if (option.name == "max_branches") at_most(limits.branches);
  if (option.name == "votes" || option.name == "samples" || option.name == "warmup") at_most(limits.votes);
  if (option.name == "max_tokens" || option.name == "window") at_most(limits.max_tokens);
  if (option.name == "window") at_most(limits.context);  // more tokens than that no trajectory has
  if (option.name == "max_total_tokens") at_most(limits.max_total_tokens);
  if (option.name == "max_seconds") at_most(limits.seconds);
  if (option.name == "temperature") at_most(limits.temperature);
  return range;
}

}  // namespace dts::serve
