// The hub's cache on disk, in the layout that its own tools have, so that all of them share the files:
//   models--ORG--REPO/blobs/SUM                  the bytes, named by their sum
//   models--ORG--REPO/blobs/SUM.incomplete       what has come of them so far
//   models--ORG--REPO/snapshots/COMMIT/FILE      a link to ../../blobs/SUM
//   models--ORG--REPO/refs/main                  the commit that main was at
//   .locks/models--ORG--REPO/SUM.lock            held (flock) by whoever downloads
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hub/gguf_choice.h"

namespace dts::hub {

class RepoCache {
 public:
  // `cache`: the folder that holds the repositories. `repo`: "ORG/REPO", checked. Makes nothing.
  RepoCache(std::string cache, const std::string& repo);

  std::string blob(const std::string& sum) const;
  std::string incomplete(const std::string& sum) const { return blob(sum) + ".incomplete"; }
  std::string lock(const std::string& sum) const;
  std::string snapshot(const std::string& commit, const std::string& file) const;

  // Makes snapshots/COMMIT/FILE a link to the blob; where links cannot be made, the blob itself. Throws dts::Error.
  void link(const std::string& commit, const std::string& file, const std::string& sum) const;
  void set_main(const std::string& commit) const;
  // Folders for blobs and locks. Throws dts::Error.
  void make_folders() const;

  // Complete files of one snapshot, the one that main was at where it has GGUF files, else the newest that does; its
  // commit first. Empty: nothing is here.
  std::pair<std::string, std::vector<HubFile>> newest_snapshot() const;

 private:
  std::vector<HubFile> files_of(const std::string& commit) const;

  std::string cache_;
  std::string name_;  // "models--ORG--REPO"
};

// Repositories that the cache has, as "ORG/REPO", by name.
std::vector<std::string> cached_repos(const std::string& cache);

// Bytes that can still be written where `path` is or would be made.
std::int64_t free_bytes(const std::string& path);

}  // namespace dts::hub
