// What the machine has: cores and memory that this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace dts {

// Cores this process may use: its affinity mask, cut by a cgroup's CPU quota. At least 1.
int usable_cores();

// Bytes of memory that can still be taken: what the kernel calls available, cut by what cgroups leave.
std::int64_t available_memory();

// Bytes of memory that this process holds now: what the kernel calls resident. 0 where nobody tells.
std::int64_t resident_memory();

// The first two read from another root than "/", for tests: `root` + "/proc/meminfo", `root` + "/sys/fs/cgroup/...".
std::int64_t available_memory_under(const std::string& root);
double cpu_quota_under(const std::string& root);  // cores; infinity: none

}  // namespace dts
