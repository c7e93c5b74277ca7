// A machine that others keep busy.
#pragma once

#include "cli/model_options.h"
#include "cli/terminal.h"

namespace dts::cli {

// On a terminal: says so when there is more to do than there are cores, before we add to it. Our threads wait for each
// other at every layer, and one that has to wait for a core makes all of them wait: fewer are faster then. Silent where
// the number of threads was chosen, or the model is on a server.
void note_busy_machine(const ModelFlags& flags, const Terminal& terminal);

}  // namespace dts::cli
