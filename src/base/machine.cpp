#include "base/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace dts {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// First number in a file; nothing when it has none ("max") or cannot be read.
std::optional<std::int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// The value of "Key:   123 kB", or of "key 123".
std::optional<std::int64_t> read_field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  std::int64_t value = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

// This process's cgroup and all its ancestors, as directories: any of them may hold the limit. `controller` is empty
// for version 2.
std::vector<std::string> cgroup_directories(const std::string& root, std::string_view controller) {
  std::string path;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:memory,cpu:/some/path", version 2: "0::/some/path"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool wanted = controller.empty() ? controllers == ",,"
                                           : controllers.find(fmt::format(",{},", controller)) != std::string::npos;
    if (wanted) path = line.substr(second + 1);
  }
  std::vector<std::string> directories = {root + "/sys/fs/cgroup"};
  if (!controller.empty()) directories.back().append("/").append(controller);
  std::istringstream names(path);
  for (std::string name; std::getline(names, name, '/');) {
    if (!name.empty()) directories.push_back(directories.back() + "/" + name);
  }
  return directories;
}

// Limit minus what is used and cannot be reclaimed.
std::int64_t cgroup_room(const std::string& directory, const char* limit_file, const char* usage_file,
                         const char* cache_key) {
  const auto limit = read_number(directory + "/" + limit_file);
  const auto usage = read_number(directory + "/" + usage_file);
  if (!limit || !usage) return kUnlimited;
  const std::int64_t cache = read_field(directory + "/memory.stat", cache_key).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - cache));
}

}  // namespace

std::int64_t available_memory_under(const std::string& root) {
  std::int64_t room = kUnlimited;
  if (const auto kilobytes = read_field(root + "/proc/meminfo", "MemAvailable:")) room = *kilobytes * 1024;
  for (const std::string& directory : cgroup_directories(root, "")) {
    room = std::min(room, cgroup_room(directory, "memory.max", "memory.current", "inactive_file"));
  }
  for (const std::string& directory : cgroup_directories(root, "memory")) {
    room =
        std::min(room, cgroup_room(directory, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
  }
  return room;
}

double cpu_quota_under(const std::string& root) {
  double cores = std::numeric_limits<double>::infinity();
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) cores = std::min(cores, quota / period);
  };
  for (const std::string& directory : cgroup_directories(root, "")) {
    std::ifstream file(directory + "/cpu.max");  // "max 100000" or "150000 100000"
    double quota = 0;
    double period = 0;
    if (file >> quota >> period) limit(quota, period);
  }
  for (const std::string& directory : cgroup_directories(root, "cpu")) {
    const auto quota = read_number(directory + "/cpu.cfs_quota_us");
    const auto period = read_number(directory + "/cpu.cfs_period_us");
    if (quota && period) limit(static_cast<double>(*quota), static_cast<double>(*period));
  }
  return cores;
}

std::int64_t available_memory() { return available_memory_under(""); }

int usable_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  const double quota = cpu_quota_under("");
  if (std::isfinite(quota)) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::max(cores, 1);
}

std::int64_t resident_memory() {
  std::ifstream file("/proc/self/statm");  // pages: all of its address space, and those in memory
  std::int64_t space = 0;
  std::int64_t resident = 0;
  return file >> space >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace dts
