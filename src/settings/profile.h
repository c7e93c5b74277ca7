// A profile: the settings that `dts calibrate` found for a model, as a question takes them.
#pragma once

#include <string>
#include <vector>

namespace dts {

// One setting of a profile.
struct ProfileSetting {
  std::string name;    // the library's: "tau_v"; or "answer"
  std::string value;   // as text
  std::string origin;  // "model.toml:3"
};

// In the order of the file. What stands in tables is for the commands they are named after, or about the profile
// itself, and left out. Throws a usage error naming the file and the line for a key that no question has.
std::vector<ProfileSetting> read_profile(const std::string& path);

}  // namespace dts
