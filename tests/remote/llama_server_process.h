// llama-server as a user would start it, on a loopback port, with the built-in model.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace dts {

inline int free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool bound = bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(probe);
  if (!bound) throw std::runtime_error("no loopback port");
  return ntohs(address.sin_port);
}

class LlamaServerProcess {
 public:
  // `more`: flags beside those that every test wants.
  LlamaServerProcess(int port, int slots, std::string model = DTS_NANO_MODEL, std::vector<std::string> more = {})
      : port_(port), slots_(slots), model_(std::move(model)), more_(std::move(more)) {
    start();
  }
  ~LlamaServerProcess() { kill(); }
  LlamaServerProcess(const LlamaServerProcess&) = delete;
  LlamaServerProcess& operator=(const LlamaServerProcess&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void start() {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    std::vector<std::string> words = {DTS_LLAMA_SERVER,
                                      "-m",
                                      model_,
                                      "--host",
                                      "127.0.0.1",
                                      "--port",
                                      std::to_string(port_),
                                      "-np",
                                      std::to_string(slots_),
                                      "-c",
                                      std::to_string(640 * slots_),
                                      "-t",
                                      "1",
                                      "-fa",
                                      "off",
                                      "--no-warmup"};
    words.insert(words.end(), more_.begin(), more_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failure = posix_spawn(&pid_, DTS_LLAMA_SERVER, &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe[1]);
    if (failure != 0) throw std::runtime_error("cannot run " DTS_LLAMA_SERVER);
    listening_ = ended_ = false;
    // Its log is read to the end, so that it never waits for us.
    reader_ = std::thread([this, from = pipe[0]] {
      std::string log;
      std::array<char, 4096> buffer{};
      for (ssize_t n = 0; (n = read(from, buffer.data(), buffer.size())) > 0;) {
        log.append(buffer.data(), static_cast<std::size_t>(n));
        if (log.find("listening on http") == std::string::npos) continue;
        log.clear();
        const std::lock_guard lock(mutex_);
        listening_ = true;
        changed_.notify_all();
      }
      close(from);
      const std::lock_guard lock(mutex_);
      ended_ = true;
      log_ = log;
      changed_.notify_all();
    });
  }

  void wait_until_listening() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return listening_ || ended_; });
    if (!listening_) throw std::runtime_error("llama-server did not start: " + log_);
  }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
    reader_.join();
  }

 private:
  int port_;
  int slots_;
  std::string model_;
  std::vector<std::string> more_;
  pid_t pid_ = 0;
  std::thread reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool listening_ = false;
  bool ended_ = false;
  std::string log_;
};

}  // namespace dts
