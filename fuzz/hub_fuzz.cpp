// libFuzzer: whatever a server that calls itself a hub answers ends in facts or an Error; nothing that it names lies
// outside the cache, and nothing is taken that could not be checked.
//
// The first byte says what the rest is: the API's answer about a repository, one to a search, or headers of a file.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "dts/error.h"
#include "hub/gguf_choice.h"
#include "hub/hub_answers.h"
#include "hub/hub_cache.h"
#include "hub/web_client.h"

namespace {

using namespace dts::hub;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_hex(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; }

void check_file(const HubFile& file) {
  require(file.bytes >= 0);
  require(file.sum.empty() || (is_hex(file.sum) && (file.sum.size() == 40 || file.sum.size() == 64)));
}

// By the file system's own reading of ".." and "//".
void check_inside(const std::string& folder, const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  require(plain == path && plain.starts_with(folder + "/"));
}

void take_facts(const std::string& body) {
  const RepoFacts facts = read_repo_facts(body, "the answer");
  require(is_hex(facts.commit) && facts.commit.size() >= 7 && facts.commit.size() <= 64);
  const RepoCache cache("/cache", "org/repo");
  for (const HubFile& file : facts.files) {
    check_file(file);
    check_inside("/cache/models--org--repo/snapshots/" + facts.commit, cache.snapshot(facts.commit, file.path));
    if (!file.sum.empty()) check_inside("/cache/models--org--repo/blobs", cache.blob(file.sum));
    require(url_path(file.path).find_first_of(" ?#\r\n") == std::string::npos);
  }
  const std::vector<GgufModel> models = gguf_models(facts.files);
  for (const GgufModel& model : models) {
    require(!model.parts.empty());
    // What is in the list can be asked for by its name.
    require(choose_gguf(models, "", model.path(), "org/repo").model.path() == model.path());
  }
  for (const char* quant : {"", "Q4_K_M", "q8_0"}) {
    try {
      const GgufChoice choice = choose_gguf(models, quant, "", "org/repo");
      require(choice.why.find('\n') == std::string::npos);
    } catch (const dts::Error& error) {
      require(std::string_view(error.what()).find('\n') == std::string_view::npos);
    }
  }
}

void take_headers(std::string_view lines) {
  WebAnswer answer;
  answer.status = 200;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      answer.headers[std::string(line.substr(0, colon))] = std::string(line.substr(colon + 1));
    }
    lines.remove_prefix(std::min(lines.size(), end + 1));
  }
  HubFile file;
  read_file_headers(answer, file);
  check_file(file);
  require(is_checkable(file) == (file.bytes > 0 && !file.sum.empty()));
  read_content_range(header_of(answer, "content-range"));
  origin_of(header_of(answer, "location"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0]) {
      case 'f':
        take_facts(body);
        break;
      case 'n':
        for (const std::string& name : read_repo_names(body)) require(name.find('\n') == std::string::npos);
        break;
      default:
        take_headers(body);
    }
  } catch (const dts::Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);  // malformed, and said so
  }
  return 0;
}
