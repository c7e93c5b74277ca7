// libFuzzer: any bytes as csv end in a table or an Error; and what was read, written again, is read the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "eval/datasets/csv.h"

namespace {

using dts::eval::DataTable;

void put_field(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  out += '"';
}

std::string write_csv(const DataTable& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) out += ',';
    put_field(out, table.columns[i].name);
  }
  out += "\r\n";
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += ',';
      put_field(out, std::get<std::string>(table.columns[i].cells[row]));
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;  // all columns: they are known only once they are read
  DataTable first;
  try {
    names = dts::eval::read_csv(text, "fuzz", {}).present;
    first = dts::eval::read_csv(text, "fuzz", names);
  } catch (const dts::Error&) {
    return 0;  // malformed, and said so
  }
  // What we wrote ourselves is never malformed: an Error here ends the program.
  const DataTable second = dts::eval::read_csv(write_csv(first), "again", names);
  if (second.rows != first.rows || second.columns.size() != first.columns.size()) std::abort();
  for (std::size_t i = 0; i < first.columns.size(); ++i) {
    if (second.columns[i].cells != first.columns[i].cells) std::abort();
  }
  return 0;
}
