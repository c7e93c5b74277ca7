// What the hub's answers say: read from bytes that anybody may have sent, apart from the connection they came over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hub/gguf_choice.h"
#include "hub/web_client.h"

namespace dts::hub {

struct RepoFacts {
  std::string commit;          // 7 to 64 hex digits
  std::vector<HubFile> files;  // paths inside the repository; a size or a sum that it does not say is left out
};

// The API's answer about a repository. `name` is what errors call it. Throws dts::Error; JsonError when it is no JSON.
RepoFacts read_repo_facts(std::string_view body, const std::string& name);

// The API's answer to a search: "ORG/REPO" each, on one line and of a sane length. Throws dts::Error.
std::vector<std::string> read_repo_names(std::string_view body);

// Size and sum of a file where the API did not say: from the headers of its own address. What is there is kept, and
// what makes no sense left out.
void read_file_headers(const WebAnswer& answer, HubFile& file);

// Whether both are known: nothing is taken that cannot be checked.
bool is_checkable(const HubFile& file);

// "bytes 100-199/200"
struct ContentRange {
  std::int64_t first = -1;  // -1: it makes no sense
  std::int64_t total = -1;  // -1: it does not say
};
ContentRange read_content_range(std::string_view text);

// Empty: the answer has none. Names in small letters.
std::string header_of(const WebAnswer& answer, const std::string& name);

}  // namespace dts::hub
