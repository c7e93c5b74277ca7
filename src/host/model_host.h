// A model that a program asks questions of, from any thread and as many at once as it likes: an engine, its scheduler
// and the thread that drives them.
//
// The engine is made when the first question comes, as wide and as long as what is asked needs, and made anew, between
// two questions, when more is asked. No tree depends on that.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "dts/model.h"
#include "dts/scheduler.h"
#include "host/hosted_run.h"

namespace dts::host {

struct HostOptions {
  int parallel_branches = 48;  // branches open at once, over all questions; a question that needs more has them
  int context_length = 0;      // tokens a branch may hold; 0: what the questions need, or the model and memory allow
};

class ModelHost {
 public:
  explicit ModelHost(std::shared_ptr<const Model> model, const HostOptions& options = {});
  // Ends all that runs, and waits for it.
  ~ModelHost();
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  const Model& model() const { return *model_; }

  // Throws a usage error for whatever is wrong with the question itself; what goes wrong later is the run's error().
  std::shared_ptr<HostedRun> ask(HostQuestion question);

  // Ends all that runs and takes no more questions; does not wait.
  void close();

 private:
  using Runs = std::deque<std::shared_ptr<HostedRun>>;

  // What an engine must have for some runs.
  struct Need {
    int branches = 0;
    int context = 0;  // tokens; 0: all there can be
  };

  void work();
  bool admit(Runs& waiting);  // false: they wait for another engine
  Need need_of(const Runs& waiting) const;
  bool enough(const Need& need) const;
  void make_engine(const Need& need);
  void submit(const std::shared_ptr<HostedRun>& run);
  static void fail(HostedRun& run, const std::exception& error);

  const std::shared_ptr<const Model> model_;
  const HostOptions options_;
  const int process_;  // a thread does not survive fork()

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Runs asked_;
  bool closing_ = false;

  // Below: the thread's own.
  std::vector<std::shared_ptr<HostedRun>> running_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
  Need made_for_;
  std::thread thread_;  // last: it uses all of the above. Started with the first question
};

}  // namespace dts::host
