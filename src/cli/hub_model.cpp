#include "cli/hub_model.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/download_line.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "dts/error.h"
#include "hub/hub.h"

namespace dts::cli {

std::optional<std::string> model_path(const ModelFlags& flags, const LoadingHooks& hooks) {
  if (flags.hub_repo.empty()) {
    if (!flags.hub_file.empty()) throw usage_error("--hf-file goes with -hf, which names the repository");
    return flags.path;
  }
  if (!flags.path.empty()) throw usage_error("--model and -hf both name a model: one of them must go");
  DownloadLine line(detect_terminal(STDERR_FILENO, /*no_colour=*/true), !hooks.quiet);
  hub::HubHooks watch;
  watch.progress = [&line](const hub::HubProgress& progress) { line.show(progress); };
  watch.note = [&](const std::string& text) {
    if (hooks.quiet) return;
    line.clear();
    print_note(text);
  };
  watch.stopping = hooks.stopping ? hooks.stopping : [] { return Interrupt::requested(); };
  std::string path = hub::fetch_model({flags.hub_repo, flags.hub_file},
                                      hub::hub_settings([](const char* name) { return getenv(name); }), watch);
  if (!path.empty()) return path;
  line.clear();
  if (!hooks.quiet) print_note("what was downloaded is kept: the same command carries on from there");
  if (hooks.stopping) return std::nullopt;
  throw Error("interrupted while the model was being downloaded");
}

}  // namespace dts::cli
