// llama.cpp logs what it does to one process-wide callback. Ours prints nothing and keeps the errors of the calling
// thread, so that a failure can be explained in one line.
#pragma once

#include <string>

namespace dts {

// Installs the callback and initialises llama.cpp's backends; once, whatever the number of calls.
void initialise_llama();

// For programs: an invariant of llama.cpp that breaks ends the process with one line and exit code 1, in place of a
// stack trace and a core file. Damaged models that our own checks let pass end here.
void exit_when_llama_aborts();

// Forgets what this thread has logged so far: call before the operation whose failure is to be explained.
void forget_llama_errors();

// The most telling error this thread has logged since, without llama.cpp's function names; empty when there is none.
std::string last_llama_error();

}  // namespace dts
