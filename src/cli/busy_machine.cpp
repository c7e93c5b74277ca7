#include "cli/busy_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/machine.h"
#include "cli/output.h"

namespace dts::cli {

void note_busy_machine(const ModelFlags& flags, const Terminal& terminal) {
  if (!terminal.interactive || flags.is_remote() || flags.threads > 0) return;
  double load = 0;  // processes that run or want to, over the last minute
  const int cores = usable_cores();
  if (cores < 2 || getloadavg(&load, 1) != 1 || load < 1.5 * cores) return;
  print_note(fmt::format("this machine is busy ({:.0f} processes for {} cores): fewer threads may be faster, as -t {}",
                         load, cores, std::max(1, cores / 2)));
}

}  // namespace dts::cli
