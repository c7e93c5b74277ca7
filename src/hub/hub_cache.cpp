#include "hub/hub_cache.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "dts/error.h"
#include "io/whole_file.h"
#include "text/ascii.h"

namespace dts::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestCommit = 64;
constexpr std::size_t kMostFiles = 100000;

bool is_commit(std::string_view text) {
  return !text.empty() && text.size() <= kLongestCommit &&
         std::all_of(text.begin(), text.end(), [](char c) { return text::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(fmt::format("{}: the folder cannot be made: {}", folder.string(), failure.message()));
  }
}

bool has_models(const std::vector<HubFile>& files) { return !gguf_models(files).empty(); }

}  // namespace

RepoCache::RepoCache(std::string cache, const std::string& repo) : cache_(std::move(cache)), name_("models--" + repo) {
  name_.replace(name_.find('/'), 1, "--");
}

std::string RepoCache::blob(const std::string& sum) const { return fmt::format("{}/{}/blobs/{}", cache_, name_, sum); }

std::string RepoCache::lock(const std::string& sum) const {
  return fmt::format("{}/.locks/{}/{}.lock", cache_, name_, sum);
}

std::string RepoCache::snapshot(const std::string& commit, const std::string& file) const {
  return fmt::format("{}/{}/snapshots/{}/{}", cache_, name_, commit, file);
}

void RepoCache::make_folders() const {
  make_folder(fs::path(blob("x")).parent_path());
  make_folder(fs::path(lock("x")).parent_path());
}

void RepoCache::link(const std::string& commit, const std::string& file, const std::string& sum) const {
  const fs::path place = snapshot(commit, file);
  make_folder(place.parent_path());
  const fs::path target = fs::path(blob(sum)).lexically_relative(place.parent_path());
  std::error_code failure;
  if (fs::is_symlink(place, failure) && fs::read_symlink(place, failure) == target) return;
  // Beside its place and renamed into it: another process may be doing the same.
  const fs::path beside = place.string() + fmt::format(".{}", getpid());
  fs::remove(beside, failure);
  fs::create_symlink(target, beside, failure);
  if (!failure) {
    fs::rename(beside, place, failure);
  } else {
    fs::rename(blob(sum), place, failure);
  }
  if (failure) throw Error(fmt::format("{}: cannot be made: {}", place.string(), failure.message()));
}

void RepoCache::set_main(const std::string& commit) const {
  const std::string path = fmt::format("{}/{}/refs/main", cache_, name_);
  make_folder(fs::path(path).parent_path());
  write_whole_file(path, commit);
}

std::vector<HubFile> RepoCache::files_of(const std::string& commit) const {
  const fs::path root = fmt::format("{}/{}/snapshots/{}", cache_, name_, commit);
  std::vector<HubFile> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(root, failure), end; !failure && at != end && files.size() < kMostFiles;
       at.increment(failure)) {
    std::error_code broken;  // a link to a blob that is not there any more
    if (!at->is_regular_file(broken) || broken) continue;
    const auto bytes = static_cast<std::int64_t>(at->file_size(broken));
    if (!broken) files.push_back({at->path().lexically_relative(root).string(), bytes, ""});
  }
  std::sort(files.begin(), files.end(), [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  return files;
}

std::pair<std::string, std::vector<HubFile>> RepoCache::newest_snapshot() const {
  const fs::path repo = fmt::format("{}/{}", cache_, name_);
  std::error_code failure;
  if (fs::is_regular_file(repo / "refs/main", failure)) {
    const std::string commit(text::trim(read_whole_file((repo / "refs/main").string(), 4096)));
    if (is_commit(commit)) {
      if (std::vector<HubFile> files = files_of(commit); has_models(files)) return {commit, std::move(files)};
    }
  }
  std::vector<std::pair<fs::file_time_type, std::string>> snapshots;
  for (fs::directory_iterator at(repo / "snapshots", failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    const fs::file_time_type time = at->last_write_time(gone);
    const std::string commit = at->path().filename().string();
    if (!gone && is_commit(commit)) snapshots.emplace_back(time, commit);
  }
  std::sort(snapshots.rbegin(), snapshots.rend());
  for (const auto& [time, commit] : snapshots) {
    if (std::vector<HubFile> files = files_of(commit); has_models(files)) return {commit, std::move(files)};
  }
  return {};
}

std::vector<std::string> cached_repos(const std::string& cache) {
  constexpr std::string_view kPrefix = "models--";
  std::vector<std::string> repos;
  std::error_code failure;
  for (fs::directory_iterator at(cache, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename().string();
    const std::size_t slash = name.find("--", kPrefix.size());
    if (!name.starts_with(kPrefix) || slash == std::string::npos || slash == kPrefix.size()) continue;
    repos.push_back(name.substr(kPrefix.size(), slash - kPrefix.size()) + "/" + name.substr(slash + 2));
  }
  std::sort(repos.begin(), repos.end());
  return repos;
}

std::int64_t free_bytes(const std::string& path) {
  fs::path place = fs::absolute(path);
  std::error_code ignored;
  while (place.has_relative_path() && !fs::exists(place, ignored)) place = place.parent_path();
  struct statvfs facts {};
  if (statvfs(place.c_str(), &facts) != 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize);
}

}  // namespace dts::hub
