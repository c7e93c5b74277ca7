// Models from a hub: names, the choice of a file, settings, and downloads against a hub that fails in every way.
#include "hub/hub.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "dts/error.h"
#include "hub/checksum.h"
#include "hub/gguf_choice.h"
#include "hub/hub_cache.h"
#include "hub/hub_name.h"
#include "hub/hub_server.h"
#include "hub/web_client.h"
#include "support/temporary_directory.h"

namespace dts::hub {
namespace {

namespace fs = std::filesystem;
using test::HubServer;
using test::sha256_of;
using test::TemporaryDirectory;

std::string random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What `act` throws.
template <typename Act>
std::string failure_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_named(const std::string& text, const std::vector<std::string>& named) {
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const std::string& part : named) EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
}

// Names and choices.

TEST(HubName, IsARepositoryAndPerhapsAQuant) {
  EXPECT_EQ(parse_hub_name("org/model").repo, "org/model");
  EXPECT_EQ(parse_hub_name("org/model").quant, "");
  EXPECT_EQ(parse_hub_name("a.b/c_d-1.5B:Q4_K_M").quant, "Q4_K_M");
  for (const char* wrong : {"", "model", "org/", "/model", "org/model:", "a/b/c", "../x", "org/..", "org/mo del",
                            "org/model:Q 4", "https://huggingface.co/org/model", "org/a--b", "-org/a", "org/a\n"}) {
    expect_named(failure_of([&] { parse_hub_name(wrong); }), {"hf_repo", "ORG/REPO"});
  }
}

TEST(GgufChoice, ReadsTheQuantFromTheName) {
  const std::map<std::string, std::string> names = {
      {"DeepSeek-R1-Distill-Qwen-1.5B-Q4_K_M.gguf", "Q4_K_M"},
      {"qwen2.5-0.5b-instruct-q8_0.gguf", "Q8_0"},
      {"model.Q5_K_S.gguf", "Q5_K_S"},
      {"Phi-4-mini-reasoning-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"},
      {"BF16/model-BF16-00001-of-00002.gguf", "BF16"},
      {"Q6_K/model-00001-of-00003.gguf", "Q6_K"},
      {"model-IQ2_XXS.gguf", "IQ2_XXS"},
      {"gpt-oss-20b-mxfp4.gguf", "MXFP4"},
      {"model_q4_k_m.gguf", "Q4_K_M"},
      {"model-f16.gguf", "F16"},
      {"QwQ-32B.gguf", ""},
      {"Qwen3-8B.gguf", ""},
      {"model.gguf", ""},
  };
  for (const auto& [name, quant] : names) EXPECT_EQ(quant_of(name), quant) << name;
}

std::vector<HubFile> files_named(const std::vector<std::string>& names) {
  std::vector<HubFile> files;
  for (const std::string& name : names) files.push_back({name, 100, ""});
  return files;
}

TEST(GgufChoice, PartsOfASplitAreOneModelAndMissingOnesNone) {
  const auto models = gguf_models(
      files_named({"m-Q8_0-00002-of-00003.gguf", "m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf",
                   "m-F16-00001-of-00002.gguf", "mmproj-m-F16.gguf", "m.imatrix.gguf", "README.md", "m-Q4_K_M.gguf"}));
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].path(), "m-Q4_K_M.gguf");
  ASSERT_EQ(models[1].parts.size(), 3U);
  EXPECT_EQ(models[1].parts[1].path, "m-Q8_0-00002-of-00003.gguf");
  EXPECT_EQ(models[1].bytes(), 300);
}

TEST(GgufChoice, TakesQ4KMThenWhatIsNearestAndSaysWhy) {
  const auto choose = [](const std::vector<std::string>& names, const std::string& quant = "",
                         const std::string& file = "") {
    return choose_gguf(gguf_models(files_named(names)), quant, file, "org/m");
  };
  EXPECT_EQ(choose({"m-Q8_0.gguf", "m-Q4_K_M.gguf"}).model.quant, "Q4_K_M");
  EXPECT_EQ(choose({"m-Q8_0.gguf", "m-Q4_K_M.gguf"}).why, "");
  EXPECT_EQ(choose({"m-Q8_0.gguf", "m-Q4_K_M.gguf"}, "q8_0").model.quant, "Q8_0");
  const GgufChoice other = choose({"m-Q8_0.gguf", "m-Q5_K_M.gguf", "m-F16.gguf"});
  EXPECT_EQ(other.model.quant, "Q5_K_M");
  expect_named(other.why, {"took Q5_K_M", "no Q4_K_M", "Q8_0"});
  EXPECT_EQ(choose({"m.gguf"}).model.path(), "m.gguf");
  expect_named(choose({"m.gguf"}).why, {"m.gguf", "only"});
  EXPECT_EQ(choose({"m-Q8_0.gguf", "m-Q4_K_M.gguf"}, "", "m-Q8_0.gguf").model.quant, "Q8_0");
  expect_named(failure_of([&] {
                 choose({"m-Q8_0.gguf", "m-Q4_K_M.gguf"}, "Q4_K_N");
               }),
               {"Q4_K_N", "nearest is Q4_K_M", "Q8_0"});
  expect_named(failure_of([&] { choose({"m-Q8_0.gguf"}, "", "m-Q8_1.gguf"); }), {"m-Q8_1.gguf", "m-Q8_0.gguf"});
  expect_named(failure_of([&] { choose({"a-Q4_K_M.gguf", "b-Q4_K_M.gguf"}); }), {"hf_file", "a-Q4_K_M", "b-Q4_K_M"});
  expect_named(failure_of([&] { choose({}); }), {"no GGUF files"});
}

TEST(HubSettings, CertificatesAreThoseThatOtherToolsTrust) {
  std::map<std::string, std::string> set = {{"HOME", "/h"}, {"SSL_CERT_FILE", "/c"}};
  const auto environment = [&set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(hub_settings(environment).certificates, "/c");
  set["CURL_CA_BUNDLE"] = "/b";
  EXPECT_EQ(hub_settings(environment).certificates, "/b");
  set["REQUESTS_CA_BUNDLE"] = "/a";
  EXPECT_EQ(hub_settings(environment).certificates, "/a");
}

TEST(HubSettings, ReadsTheEnvironmentAsTheHubsToolsDo) {
  const TemporaryDirectory folder;
  std::map<std::string, std::string> set = {{"HOME", folder.path().string()}};
  const auto settings = [&set] {
    return hub_settings([&set](const char* name) -> const char* {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(settings().endpoint, "https://huggingface.co");
  EXPECT_EQ(settings().cache, folder.path().string() + "/.cache/huggingface/hub");
  EXPECT_EQ(settings().token, "");
  EXPECT_FALSE(settings().offline);
  set["XDG_CACHE_HOME"] = "/caches";
  EXPECT_EQ(settings().cache, "/caches/huggingface/hub");
  set["HF_HOME"] = "~/hf";
  EXPECT_EQ(settings().cache, folder.path().string() + "/hf/hub");
  fs::create_directories(folder.path().string() + "/hf");
  std::ofstream(folder.path().string() + "/hf/token") << " hf_file\n";
  EXPECT_EQ(settings().token, "hf_file");
  set["HF_TOKEN"] = "hf_variable\n";
  EXPECT_EQ(settings().token, "hf_variable");
  set["HF_HUB_CACHE"] = "/elsewhere";
  EXPECT_EQ(settings().cache, "/elsewhere");
  set["HF_ENDPOINT"] = "http://127.0.0.1:1/";
  EXPECT_EQ(settings().endpoint, "http://127.0.0.1:1");
  for (const char* yes : {"1", "ON", "yes", "True"}) {
    set["HF_HUB_OFFLINE"] = yes;
    EXPECT_TRUE(settings().offline) << yes;
  }
  set["HF_HUB_OFFLINE"] = "0";
  EXPECT_FALSE(settings().offline);

  set["HF_ENDPOINT"] = "ftp://x";
  expect_named(failure_of(settings), {"HF_ENDPOINT", "ftp://x"});
  set["HF_ENDPOINT"] = "";
  set["HF_TOKEN"] = "two words";
  const std::string refused = failure_of(settings);
  expect_named(refused, {"HF_TOKEN"});
  EXPECT_EQ(refused.find("two words"), std::string::npos);
  set = {};
  expect_named(failure_of(settings), {"HF_HOME"});
}

TEST(Checksum, IsWhatOtherProgramsCompute) {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 1000U, 100000U}) {
    const std::string bytes = random_bytes(size, static_cast<unsigned>(size));
    Checksum sum(Checksum::Kind::kSha256, static_cast<std::int64_t>(size));
    sum.add(bytes.substr(0, size / 3));
    sum.add(bytes.substr(size / 3));
    EXPECT_EQ(sum.hex(), sha256_of(bytes));
  }
  Checksum git(Checksum::Kind::kGit, 6);  // as `git hash-object` says
  git.add("hello\n");
  EXPECT_EQ(git.hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(WebClient, OriginsDecideWhoSeesAToken) {
  EXPECT_EQ(origin_of("https://huggingface.co/a?b"), origin_of("HTTPS://HuggingFace.co:443"));
  EXPECT_NE(origin_of("https://huggingface.co"), origin_of("http://huggingface.co"));
  EXPECT_NE(origin_of("https://huggingface.co"), origin_of("https://huggingface.co.evil.com"));
  EXPECT_NE(origin_of("https://huggingface.co"), origin_of("https://huggingface.co@evil.com"));
  EXPECT_EQ(origin_of("no url at all"), "");
  EXPECT_EQ(url_path("a b/c#d?e%.gguf"), "a%20b/c%23d%3Fe%25.gguf");
}

// Downloads.

class Hub : public testing::Test {
 public:
  HubSettings settings() const {
    HubSettings settings;
    settings.endpoint = server.url();
    settings.cache = folder.path().string() + "/hub";
    settings.retry_seconds = 0;
    settings.stall_seconds = 600;
    return settings;
  }
  std::string fetch(const std::string& name = "org/model", const std::string& file = "") {
    return fetch_with(settings(), name, file);
  }
  std::string fetch_with(const HubSettings& with, const std::string& name = "org/model", const std::string& file = "") {
    HubHooks hooks;
    hooks.note = [this](const std::string& line) { notes.push_back(line); };
    hooks.progress = [this](const HubProgress& progress) {
      EXPECT_LE(progress.done, progress.total);
      progress_calls.push_back(progress);
    };
    hooks.stopping = stopping;
    return fetch_model({name, file}, with, hooks);
  }
  std::string blob() const { return repo_folder() + "/blobs/" + sha256_of(bytes); }
  std::string repo_folder() const { return folder.path().string() + "/hub/models--org--model"; }
  void leave_partial(const std::string& part) const {
    fs::create_directories(repo_folder() + "/blobs");
    std::ofstream(blob() + ".incomplete", std::ios::binary) << part;
  }
  // Refused, and nothing that could be taken for the file is left.
  void expect_refused(const std::vector<std::string>& named) {
    expect_named(failure_of([&] { fetch(); }), named);
    EXPECT_FALSE(fs::exists(blob()));
    EXPECT_FALSE(fs::exists(repo_folder() + "/snapshots/" + test::kCommit + "/m-Q4_K_M.gguf"));
  }

  const std::string bytes = random_bytes(1 << 20, 1);
  HubServer server{"org/model", {{"m-Q4_K_M.gguf", bytes}, {"m-Q8_0.gguf", random_bytes(5000, 2)}}};
  TemporaryDirectory folder;
  std::vector<std::string> notes;
  std::vector<HubProgress> progress_calls;
  std::function<bool()> stopping;
};

TEST_F(Hub, KeepsFilesAsTheHubsOwnToolsDo) {
  const std::string path = fetch();
  EXPECT_EQ(path, repo_folder() + "/snapshots/" + test::kCommit + "/m-Q4_K_M.gguf");
  EXPECT_EQ(read(path), bytes);
  EXPECT_EQ(fs::read_symlink(path).string(), "../../blobs/" + sha256_of(bytes));
  EXPECT_EQ(read(repo_folder() + "/refs/main"), test::kCommit);
  EXPECT_FALSE(fs::exists(blob() + ".incomplete"));
  EXPECT_TRUE(fs::exists(folder.path().string() + "/hub/.locks/models--org--model/" + sha256_of(bytes) + ".lock"));
  ASSERT_FALSE(progress_calls.empty());
  EXPECT_EQ(progress_calls.back().done, static_cast<std::int64_t>(bytes.size()));
  EXPECT_TRUE(notes.empty());

  // Again: only asked what there is.
  const int before = server.requests();
  EXPECT_EQ(fetch(), path);
  EXPECT_EQ(server.requests(), before + 1);
  EXPECT_EQ(fetch("org/model:q8_0"), repo_folder() + "/snapshots/" + test::kCommit + "/m-Q8_0.gguf");
  EXPECT_EQ(fetch("org/model", "m-Q8_0.gguf"), repo_folder() + "/snapshots/" + test::kCommit + "/m-Q8_0.gguf");
}

TEST_F(Hub, TakesABlobThatAnotherToolHasBrought) {
  fs::create_directories(repo_folder() + "/blobs");
  std::ofstream(blob(), std::ios::binary) << bytes;
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.file_requests(), 0);
}

TEST(HubSplit, AllPartsAreBroughtAndTheFirstIsNamed) {
  const std::string a = random_bytes(3000, 1);
  const std::string b = random_bytes(2000, 2);
  HubServer server("org/big", {{"Q4_K_M/b-Q4_K_M-00001-of-00002.gguf", a}, {"Q4_K_M/b-Q4_K_M-00002-of-00002.gguf", b}});
  const TemporaryDirectory folder;
  HubSettings settings;
  settings.endpoint = server.url();
  settings.cache = folder.path().string();
  std::int64_t last = 0;
  HubHooks hooks;
  hooks.progress = [&last](const HubProgress& progress) {
    EXPECT_EQ(progress.parts, 2);
    EXPECT_EQ(progress.total, 5000);
    EXPECT_GE(progress.done, last);
    last = progress.done;
  };
  const std::string path = fetch_model({"org/big", ""}, settings, hooks);
  EXPECT_TRUE(path.ends_with("/Q4_K_M/b-Q4_K_M-00001-of-00002.gguf")) << path;
  EXPECT_EQ(read(path), a);
  EXPECT_EQ(read(path.substr(0, path.size() - 19) + "00002-of-00002.gguf"), b);
  EXPECT_EQ(fs::read_symlink(path).string(), "../../../blobs/" + sha256_of(a));
  EXPECT_EQ(last, 5000);
}

TEST_F(Hub, BrokenConnectionsAreCarriedOnFromWithoutAByteTwice) {
  server.faults.break_after = 100'000;
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.file_requests(), 11);  // of 1,048,576 bytes
  EXPECT_EQ(server.body_bytes(), static_cast<std::int64_t>(bytes.size()));
}

TEST_F(Hub, AServerWithoutLengthsThatBreaksOffIsNoticed) {
  server.faults.break_after = 400'000;
  server.faults.no_length = true;
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.file_requests(), 3);
}

TEST_F(Hub, CarriesOnFromWhatAnEarlierProcessLeft) {
  leave_partial(bytes.substr(0, 900'000));
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.body_bytes(), static_cast<std::int64_t>(bytes.size()) - 900'000);
}

TEST_F(Hub, WhatWasCompleteButNotYetNamedIsNotAskedForAgain) {
  leave_partial(bytes);
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.file_requests(), 0);
}

TEST_F(Hub, ASpoiledBeginningIsThrownAway) {
  std::string spoiled = bytes.substr(0, 900'000);
  spoiled[1234] ^= 1;
  leave_partial(spoiled);
  EXPECT_EQ(read(fetch()), bytes);
  ASSERT_EQ(notes.size(), 1U);
  expect_named(notes[0], {"sum is wrong"});
  leave_partial(std::string(bytes.size() + 1, 'x'));  // more than there can be
  fs::remove(blob());
  EXPECT_EQ(read(fetch()), bytes);
}

TEST_F(Hub, AServerThatKnowsNoRangesBeginsAnew) {
  server.faults.ignore_ranges = true;
  leave_partial(bytes.substr(0, 900'000));
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.body_bytes(), static_cast<std::int64_t>(bytes.size()));
}

TEST_F(Hub, AServerThatNeverComesFurtherIsGivenUp) {
  server.faults.ignore_ranges = true;
  server.faults.break_after = 500'000;
  expect_refused({"m-Q4_K_M.gguf", "500,000 of 1,048,576", "carries on"});
  EXPECT_EQ(server.file_requests(), 6);  // the first, and five retries that come no further
  EXPECT_TRUE(fs::exists(blob() + ".incomplete"));
  server.faults = {};
  EXPECT_EQ(read(fetch()), bytes);
}

TEST_F(Hub, ABusyServerIsAskedAgain) {
  server.faults.busy = 3;
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_EQ(server.file_requests(), 1);
}

TEST_F(Hub, WaitingForABusyHubCanBeStopped) {
  server.faults.api_status = 503;
  HubSettings patient = settings();
  patient.retry_seconds = 86'400;
  stopping = [this] { return server.requests() > 0; };
  EXPECT_EQ(fetch_with(patient), "");
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Hub, OtherBytesThanAskedForAreRefused) {
  server.faults.other_range = true;
  leave_partial(bytes.substr(0, 900'000));
  expect_refused({"m-Q4_K_M.gguf", "900000"});
}

TEST_F(Hub, AWrongSumIsRefusedAndNothingKept) {
  server.faults.spoil = true;
  expect_refused({"m-Q4_K_M.gguf", "SHA-256", sha256_of(bytes), "nothing was kept"});
  EXPECT_FALSE(fs::exists(blob() + ".incomplete"));
  server.faults = {};
  EXPECT_EQ(read(fetch()), bytes);
}

TEST_F(Hub, SizesThatDoNotAgreeAreRefused) {
  server.faults.size_off = 1;
  expect_refused({"offers 1,048,576 bytes", "names 1,048,577"});
  server.faults.size_off = -1;
  expect_refused({"offers 1,048,576 bytes", "names 1,048,575"});
  server.faults.size_off = 0;
  server.faults.surplus = 10;
  server.faults.no_length = true;
  expect_refused({"more than the 1,048,576 bytes"});
}

TEST_F(Hub, SizeAndSumFromTheFilesOwnHeaders) {
  server.faults.no_storage_facts = true;
  EXPECT_EQ(read(fetch()), bytes);
  EXPECT_TRUE(fs::exists(blob()));
}

TEST_F(Hub, AFileThatNobodyCanCheckIsNotTaken) {
  server.faults.no_storage_facts = true;
  server.faults.serve_here = true;  // no sum in these headers
  expect_refused({"m-Q4_K_M.gguf", "cannot be checked"});
}

TEST_F(Hub, TheTokenGoesToTheHubAndToNobodyElse) {
  HubSettings with = settings();
  with.token = "hf_secret";
  server.faults.token = "hf_secret";
  EXPECT_EQ(read(fetch_with(with)), bytes);
  for (const std::string& head : server.hub_heads()) EXPECT_NE(head.find("Bearer hf_secret"), std::string::npos);
  ASSERT_FALSE(server.storage_heads().empty());
  for (const std::string& head : server.storage_heads()) EXPECT_EQ(head.find("hf_secret"), std::string::npos);
}

TEST_F(Hub, RedirectsInACircleOrElsewhereEnd) {
  server.faults.redirect = "/org/model/resolve/" + std::string(test::kCommit) + "/m-Q4_K_M.gguf";
  expect_refused({"redirects"});
  server.faults.redirect = "file:///etc/passwd";
  expect_refused({"Unsupported protocol"});
}

TEST_F(Hub, RefusalsSayWhatToDo) {
  server.known_repos = {"org/models-GGUF", "other/model", "org/modell"};
  server.faults.token = "hf_right";
  expect_refused({"org/model", "not on", "HF_TOKEN", "near to it are org/modell, other/model, org/models-GGUF"});
  HubSettings wrong = settings();
  wrong.token = "hf_wrong";
  const std::string refused = failure_of([&] { fetch_with(wrong); });
  expect_named(refused, {"does not accept the token", "401"});
  EXPECT_EQ(refused.find("hf_wrong"), std::string::npos);

  server.faults = {};
  server.faults.api_status = 403;
  server.faults.error_code = "GatedRepo";
  expect_refused({"gated", server.url() + "/org/model", "HF_TOKEN"});
  server.faults = {};
  server.faults.file_status = 403;
  server.faults.error_code = "GatedRepo";
  expect_refused({"gated"});
  server.faults = {};
  server.faults.api_status = 404;
  server.faults.error_code = "RepoNotFound";
  expect_refused({"404", "org/modell"});
  server.faults = {};
  expect_named(failure_of([&] { fetch("org/mode"); }), {"404", "org/model"});
  expect_named(failure_of([&] { fetch("org/model:Q8_1"); }), {"Q8_1", "nearest is Q8_0"});
  server.faults.api_status = 500;
  expect_refused({"500", "not in the cache"});
}

TEST(HubWithoutModels, NamesRepositoriesThatHaveThem) {
  HubServer server("deepseek-ai/DeepSeek-R1", {{"model.safetensors", "x"}});
  server.known_repos = {"unsloth/DeepSeek-R1-GGUF"};
  const TemporaryDirectory folder;
  HubSettings settings;
  settings.endpoint = server.url();
  settings.cache = folder.path().string();
  expect_named(failure_of([&] {
                 fetch_model({"deepseek-ai/DeepSeek-R1", ""}, settings, {});
               }),
               {"no GGUF files", "unsloth/DeepSeek-R1-GGUF"});
}

TEST(HubHostile, PathsStayInsideTheCache) {
  const TemporaryDirectory folder;
  for (const char* path : {"../../../evil.gguf", "/evil.gguf", "a/../../evil.gguf", "a//b.gguf", "a\\b.gguf"}) {
    HubServer server("org/evil", {{path, "x"}});
    HubSettings settings;
    settings.endpoint = server.url();
    settings.cache = folder.path().string() + "/hub";
    expect_named(failure_of([&] { fetch_model({"org/evil", ""}, settings, {}); }), {"rfilename", "inside"});
  }
  EXPECT_FALSE(fs::exists(folder.path().string() + "/hub"));
}

TEST_F(Hub, OfflineTakesWhatTheCacheHas) {
  HubSettings offline = settings();
  offline.offline = true;
  expect_named(failure_of([&] { fetch_with(offline); }), {"org/model", "not in the cache", "HF_HUB_OFFLINE"});
  const std::string path = fetch("org/model:Q8_0");
  const int before = server.requests();
  EXPECT_EQ(fetch_with(offline), path);
  EXPECT_EQ(fetch_with(offline, "org/model:Q8_0"), path);
  expect_named(failure_of([&] { fetch_with(offline, "org/model:Q4_K_M"); }), {"cache", "Q4_K_M", "Q8_0"});
  EXPECT_EQ(server.requests(), before);
}

TEST_F(Hub, AHubOutOfReachIsNoHindranceToWhatIsHere) {
  const std::string path = fetch();
  HubSettings away = settings();
  away.endpoint = "http://127.0.0.1:1";
  notes.clear();
  EXPECT_EQ(fetch_with(away), path);
  ASSERT_EQ(notes.size(), 1U);
  expect_named(notes[0], {"cannot be reached"});
  fs::remove(blob());  // the link is left: it is no file
  expect_named(failure_of([&] { fetch_with(away); }), {"not in the cache", "127.0.0.1"});
}

TEST_F(Hub, DiskSpaceIsAskedForFirst) {
  server.faults.size_off = std::int64_t{1} << 49U;
  expect_refused({"needs 524288", "GiB", "64.0 MiB to spare", "there is room for", "HF_HOME"});
  EXPECT_EQ(server.file_requests(), 0);
}

TEST_F(Hub, TwoAtOnceDownloadOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> paths(4);
  for (std::string& path : paths) {
    threads.emplace_back([this, &path] { path = fetch_model({"org/model", ""}, settings(), {}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& path : paths) EXPECT_EQ(read(path), bytes);
  EXPECT_EQ(server.file_requests(), 1);
}

TEST_F(Hub, StoppingKeepsWhatHasCome) {
  // The server sends half and waits: the client looks up at least once a second.
  server.faults.send = [](std::size_t from, LoopbackReply& reply, const std::string& rest) {
    if (from > 0) return static_cast<void>(reply.raw(rest));
    reply.raw(rest.substr(0, 500'000));
    reply.wait_until_closed();
  };
  stopping = [this] { return fs::exists(blob() + ".incomplete") && fs::file_size(blob() + ".incomplete") == 500'000; };
  EXPECT_EQ(fetch(), "");
  stopping = nullptr;
  EXPECT_EQ(fs::file_size(blob() + ".incomplete"), 500'000U);
  EXPECT_EQ(read(fetch()), bytes);
}

}  // namespace
}  // namespace dts::hub
