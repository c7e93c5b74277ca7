#include "hub/checksum.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace dts::hub {

struct Checksum::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Checksum::Checksum(Kind kind, std::int64_t size) : kind_(kind), size_(size), state_(std::make_unique<State>()) {
  check(state_->context != nullptr, "there is room for a checksum");
  restart();
}

Checksum::~Checksum() = default;

void Checksum::restart() {
  const EVP_MD* kind = kind_ == Kind::kSha256 ? EVP_sha256() : EVP_sha1();
  check(EVP_DigestInit_ex(state_->context, kind, nullptr) == 1, "a checksum can be started");
  if (kind_ == Kind::kGit) add(fmt::format("blob {}", size_) + std::string(1, '\0'));
}

void Checksum::add(std::string_view bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "bytes can be added to a checksum");
}

std::string Checksum::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(state_->context, sum.data(), &size) == 1, "a checksum can be ended");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", sum[i]);
  return text;
}

}  // namespace dts::hub
