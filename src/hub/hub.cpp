#include "hub/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "hub/blob_download.h"
#include "hub/gguf_choice.h"
#include "hub/hub_api.h"
#include "hub/hub_cache.h"
#include "hub/hub_name.h"
#include "hub/web_client.h"
#include "text/numbers.h"

namespace dts::hub {
namespace {

// Beside the model itself, for links and whoever else writes.
constexpr std::int64_t kSpareBytes = std::int64_t{64} << 20U;

std::int64_t file_bytes(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return failure ? -1 : static_cast<std::int64_t>(size);
}

class Fetch {
 public:
  Fetch(const HubRequest& request, const HubSettings& settings, const HubHooks& hooks)
      : name_(parse_hub_name(request.name)),
        file_(request.file),
        settings_(settings),
        hooks_(hooks),
        cache_(settings.cache, name_.repo),
        api_(settings, hooks.stopping) {
    if (!file_.empty() && !name_.quant.empty()) {
      throw usage_error(fmt::format("{} names the file and {} a quant ({}): one of them must go",
                                    option_name("hf_file"), option_name("hf_repo"), name_.quant));
    }
  }

  std::string run() {
    if (settings_.offline) return from_cache("HF_HUB_OFFLINE is set");
    RepoFacts facts;
    try {
      facts = api_.facts(name_.repo);
    } catch (const WebError& error) {
      const std::string path = from_cache(error.what());
      note(fmt::format("the hub cannot be reached ({}): this is what the cache has", error.what()));
      return path;
    }
    const std::vector<GgufModel> models = gguf_models(facts.files);
    if (models.empty()) throw no_models();
    GgufChoice choice = choose_gguf(models, name_.quant, file_, name_.repo);
    if (!choice.why.empty()) note(choice.why);
    for (HubFile& part : choice.model.parts) api_.complete(name_.repo, facts.commit, part);
    download(choice.model, facts.commit);
    cache_.set_main(facts.commit);
    return cache_.snapshot(facts.commit, choice.model.path());
  }

 private:
  void note(const std::string& line) const {
    if (hooks_.note) hooks_.note(line);
  }

  Error no_models() const {
    std::vector<std::string> near = api_.near_repos(name_.repo);
    std::erase(near, name_.repo);
    return Error(fmt::format("{} has no GGUF files{}", name_.repo,
                             near.empty()
                                 ? ": look for a repository whose name ends in -GGUF"
                                 : fmt::format("; near to it, with such files, are {}", fmt::join(near, ", "))));
  }

  std::string from_cache(const std::string& why) const {
    const auto [commit, files] = cache_.newest_snapshot();
    const std::vector<GgufModel> models = gguf_models(files);
    if (models.empty()) {
      throw Error(fmt::format("{} is not in the cache ({}), and {}", name_.repo, settings_.cache, why));
    }
    const GgufChoice choice =
        choose_gguf(models, name_.quant, file_, fmt::format("the cache's copy of {} ({})", name_.repo, why));
    if (!choice.why.empty()) note(choice.why);
    return cache_.snapshot(commit, choice.model.path());
  }

  void download(const GgufModel& model, const std::string& commit) const {
    std::int64_t missing = 0;
    for (const HubFile& part : model.parts) {
      if (file_bytes(cache_.blob(part.sum)) == part.bytes) continue;
      if (file_bytes(cache_.snapshot(commit, part.path)) == part.bytes) continue;
      missing += part.bytes - std::max<std::int64_t>(0, file_bytes(cache_.incomplete(part.sum)));
    }
    if (missing > 0) {
      const std::int64_t free = free_bytes(settings_.cache);
      if (missing + kSpareBytes > free) {
        throw Error(
            fmt::format("{} needs {} more in {}, and {} to spare, but there is room for {}: make room, or set HF_HOME "
                        "to another place",
                        name_.repo, text::binary_bytes(missing), settings_.cache, text::binary_bytes(kSpareBytes),
                        text::binary_bytes(free)));
      }
    }
    HubProgress progress;
    progress.parts = static_cast<int>(model.parts.size());
    progress.total = model.bytes();
    std::int64_t before = 0;  // bytes of the parts before this one
    for (std::size_t i = 0; i < model.parts.size(); ++i) {
      const HubFile& part = model.parts[i];
      progress.file = part.path;
      progress.part = static_cast<int>(i) + 1;
      bring(part, commit, [&](std::int64_t bytes) {
        progress.done = before + bytes;
        if (hooks_.progress) hooks_.progress(progress);
      });
      before += part.bytes;
    }
  }

  void bring(const HubFile& part, const std::string& commit, const std::function<void(std::int64_t)>& progress) const {
    const std::string blob = cache_.blob(part.sum);
    if (file_bytes(blob) != part.bytes) {
      // Where no links can be made the hub's tools keep the file itself in the snapshot.
      if (file_bytes(cache_.snapshot(commit, part.path)) == part.bytes) return;
      download_blob(api_, settings_, cache_, {name_.repo, commit, part}, {progress, hooks_.note, hooks_.stopping});
    }
    cache_.link(commit, part.path, part.sum);
  }

  HubName name_;
  std::string file_;
  const HubSettings& settings_;
  const HubHooks& hooks_;
  RepoCache cache_;
  HubApi api_;
};

}  // namespace

std::string fetch_model(const HubRequest& request, const HubSettings& settings, const HubHooks& hooks) {
  try {
    return Fetch(request, settings, hooks).run();
  } catch (const WebStopped&) {
    return "";
  }
}

}  // namespace dts::hub
