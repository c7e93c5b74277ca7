// What the hub says of a repository, and what its refusals mean.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hub/gguf_choice.h"
#include "hub/hub_answers.h"
#include "hub/hub_settings.h"
#include "hub/web_client.h"

namespace dts::hub {

class HubApi {
 public:
  HubApi(const HubSettings& settings, std::function<bool()> stopping)
      : settings_(settings), stopping_(std::move(stopping)) {}

  // Files of the repository's main branch. Throws WebError where the hub cannot be reached, dts::Error for what it
  // refuses: 401, 403, 404 with the nearest names that it has.
  RepoFacts facts(const std::string& repo) const;
  // Size and sum of a file where facts() did not say: from the headers of its own address.
  void complete(const std::string& repo, const std::string& commit, HubFile& file) const;
  // Repositories with GGUF files whose names are near to `repo`'s: at most three, the nearest first.
  std::vector<std::string> near_repos(const std::string& repo) const;

  // A request for a file's bytes.
  WebRequest file_request(const std::string& repo, const std::string& commit, const std::string& path) const;
  // What a refusal of a request for `what` in `repo` means, in one line.
  std::string explain(const WebAnswer& answer, const std::string& repo, const std::string& what) const;

 private:
  WebRequest request(const std::string& path) const;
  std::string read(const std::string& path, WebAnswer& answer) const;

  HubSettings settings_;
  std::function<bool()> stopping_;
};

}  // namespace dts::hub
