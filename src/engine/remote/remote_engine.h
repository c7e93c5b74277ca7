// An engine whose model runs on servers: one stream a branch, read ahead, taken from in lockstep.
//
// A step takes the next token of each branch's stream. At a decision token the stream goes on for the child whose token
// it drew, if that is one; the others open streams of their own with prefix and token, and a stream that nobody goes on
// with is cancelled: what it had sent ahead is overshoot, and counted.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "engine/remote/fleet.h"
#include "engine/remote/server_protocol.h"
#include "engine/remote/token_stream.h"
#include "engine/remote/transport.h"
#include "engine/remote/wake_queue.h"

namespace dts::remote {

struct RemoteEngineOptions {
  std::vector<std::string> urls;
  int candidates = 20;  // log-probabilities to ask for while somebody needs them
  int max_branches = 48;
  int context_length = 0;  // tokens a branch may hold
  int n_vocab = 0;         // 0: not known
  // Log-probabilities are those that tokens are drawn with: of logits divided by the temperature.
  bool logprobs_after_temperature = false;
  std::string no_logprobs;  // why a search that needs log-probabilities cannot be; empty: it can
  std::string model_name;
  double patience = 0;  // seconds a search waits for a branch before it is given up; 0: as long as it takes
  // Seconds that a step goes on collecting searches once one can go on: their tokens come one by one.
  double gather_seconds = 0.001;
  StreamOptions stream;
  FleetOptions fleet;
};

class RemoteEngine final : public Engine {
 public:
  // All but the options must outlive the engine.
  RemoteEngine(RemoteEngineOptions options, const Protocol& protocol, PieceSink& pieces,
               std::unique_ptr<Transport> transport, std::unique_ptr<Clock> clock);
  ~RemoteEngine() override;

  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return times_; }
  BranchId open() override;
  BranchId fork(BranchId parent) override;
  void release(BranchId branch) override;
  void step(std::span<const Feed> feeds, std::span<Prediction> out) override;

  const Traffic& traffic() const { return context_.traffic; }
  const Fleet& fleet() const { return fleet_; }

 private:
  struct Branch {
    std::vector<Token> tokens;
    std::shared_ptr<SharedPrompt> question;
    // Also while it is another branch's: a fork's first feed decides who goes on with it.
    std::shared_ptr<TokenStream> stream;
    bool split = false;       // since its last feed
    double waits_since = -1;  // for the token after what is fed now; -1: it has not begun to
  };
  struct Row {
    Branch* branch = nullptr;
    std::size_t position = 0;  // of the token to predict: the branch's length once fed
  };
  // The rows of one search: it goes on when all of them can.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t ready = 0;  // the first that was not, when last looked at
  };
  Branch& find(BranchId branch);
  BranchId add(Branch branch);
  // The stream that gives what follows `feed`: the branch's own when it drew just that, else a new one.
  void assign_streams(std::span<const Feed> feeds);
  void assign_stream(Branch& branch, const Feed& feed);
  bool goes_on(const Branch& branch, const Feed& feed) const;
  StreamSpec stream_spec(const Feed& feed, std::size_t prefix) const;
  // Lets the streams of a search that needs no statistics any more do without, as far as one request a child goes.
  void forgo_statistics(Branch& branch);
  void collect_groups(std::span<const Feed> feeds);
  // Until a group can go on, and then a moment for the others. Throws Interrupted when it is due and none can.
  void wait();
  double pump_streams();  // those to whom something happened, or whose time has come; when the next one's will
  bool ready(const Row& row, double now) const;
  bool all_ready(Group& group, double now) const;
  void predict(const Feed& feed, const Row& row, Prediction& out);

  RemoteEngineOptions options_;
  EngineInfo info_;
  EngineTimes times_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Clock> clock_;
  Fleet fleet_;
  StreamContext context_;
  std::map<BranchId, Branch> branches_;
  BranchId next_ = 0;
  std::uint64_t step_ = 0;
  WakeQueue wakes_;
  std::vector<TokenStream*> attention_;  // scratch
  std::vector<Row> rows_;                // [feeds]
  std::vector<Group> groups_;
  std::vector<double> logprobs_;  // scratch
};

}  // namespace dts::remote
