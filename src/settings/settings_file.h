// A file of settings (TOML): the names are those of the options, a table's values are for the command it is named
// after.
//   method = "dts-greedy"
//   [serve]
//   port = 8081
#pragma once

#include <string>
#include <vector>

namespace dts {

// One line of the file.
struct FileSetting {
  std::string section;              // a command; empty: for all that have the option
  std::string key;                  // as it was written
  std::vector<std::string> values;  // as a command line would have them; a list has several
  bool is_list = false;
  int line = 0;
};

// In the order of the file. Throws dts::Error naming the file and the line. Tables named in `skipped` are left out.
std::vector<FileSetting> read_settings(const std::string& path, const std::vector<std::string>& skipped = {});

}  // namespace dts
