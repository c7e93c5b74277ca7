#include "cli/command_facts.h"

#include <string_view>

#include "dts/method.h"
#include "dts/options.h"

namespace dts::cli {
namespace {

// "streams|unified" -> both; a value that is described rather than listed has none.
std::vector<std::string> listed_words(const std::string& value) {
  if (value.find('|') == std::string::npos) return {};
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    const std::string word = value.substr(begin, end - begin);
    if (word.empty() || word.find_first_of("[]<>, ") != std::string::npos) return {};
    words.push_back(word);
    begin = end + 1;
  }
  return words;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  if (option.check_lname("gpu-layers")) facts.names.emplace_back("-ngl");  // rewrite_arguments()
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) facts.value = option.get_type_name();
  facts.description = option.get_description();
  facts.group = option.get_group();
  facts.words = listed_words(facts.value);
  for (const std::string& name : option.get_lnames()) {
    if (name == "method" || name == "methods") {
      facts.words.clear();
      for (const MethodInfo& method : methods()) facts.words.emplace_back(method.name);
    } else if (const OptionInfo* known = find_option_flag(name); known != nullptr && !known->words.empty()) {
      facts.words.assign(known->words.begin(), known->words.end());
    }
  }
  facts.file = facts.value.find("FILE") != std::string::npos;
  return facts;
}

}  // namespace

std::vector<CommandFacts> command_facts(const CLI::App& app) {
  std::vector<CommandFacts> all;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;  // not for people
    CommandFacts facts{command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* option : command->get_options()) facts.options.push_back(facts_of(*option));
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace dts::cli
