#include "hub/gguf_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "dts/error.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/nearest.h"

namespace dts::hub {
namespace {

constexpr const char* kDefaultQuant = "Q4_K_M";
constexpr std::size_t kMostNamed = 12;  // names in one error

// What to take where there is no Q4_K_M: what is nearest to it in quality for its size, smaller before larger.
constexpr std::array kPreferred = {"Q4_K_XL", "UD-Q4_K_XL", "Q4_K_L", "Q4_K_S", "IQ4_NL", "IQ4_XS", "Q4_1",
                                   "Q4_0",    "MXFP4",      "Q5_K_M", "Q5_K_S", "Q5_1",   "Q5_0",   "Q6_K",
                                   "Q8_0",    "Q3_K_L",     "Q3_K_M", "BF16",   "F16",    "F32"};

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// "Q4_K_M", "IQ2_XXS", "TQ1_0", "BF16", "MXFP4_MOE"; `word` in capitals.
bool is_quant(std::string_view word) {
  for (const std::string_view plain : {"BF16", "F16", "FP16", "F32", "FP32"}) {
    if (word == plain) return true;
  }
  for (const std::string_view start : {"IQ", "TQ", "MXFP", "Q"}) {
    if (!word.starts_with(start)) continue;
    word.remove_prefix(start.size());
    const auto part = [](char c) { return text::is_letter(c) || text::is_digit(c) || c == '_'; };
    return !word.empty() && text::is_digit(word.front()) && (word.size() == 1 || word[1] == '_') &&
           std::all_of(word.begin(), word.end(), part);
  }
  return false;
}

struct SplitName {
  std::string stem;  // without "-00001-of-00003.gguf"
  int part = 0;
  int parts = 0;
};

std::optional<int> five_digits(std::string_view text) {
  int number = 0;
  if (text.size() != 5 || !std::all_of(text.begin(), text.end(), text::is_digit)) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// None: it is not split.
std::optional<SplitName> split_name(std::string_view path) {
  constexpr std::string_view kPattern = "-00001-of-00002.gguf";
  if (path.size() <= kPattern.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kPattern.size());
  const std::optional<int> part = five_digits(tail.substr(1, 5));
  const std::optional<int> parts = five_digits(tail.substr(10, 5));
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !part || !parts || *part < 1 || *part > *parts) {
    return std::nullopt;
  }
  return SplitName{std::string(path.substr(0, path.size() - kPattern.size())), *part, *parts};
}

bool goes_beside(const std::string& path) {
  const std::string name = text::lower_case(path.substr(path.rfind('/') + 1));
  return name.find("mmproj") != std::string::npos || name.find("imatrix") != std::string::npos;
}

// "Q4_K_M, Q8_0", or the files' names where these say no quant.
std::string listed(const std::vector<GgufModel>& models) {
  std::string out;
  for (std::size_t i = 0; i < models.size() && i < kMostNamed; ++i) {
    out += (i == 0 ? "" : ", ") + text::one_line(models[i].quant.empty() ? models[i].path() : models[i].quant);
  }
  if (models.size() > kMostNamed) out += fmt::format(" and {} more", models.size() - kMostNamed);
  return out;
}

GgufModel choose_file(const std::vector<GgufModel>& models, const std::string& file, const std::string& where) {
  std::vector<std::string> paths;
  for (const GgufModel& model : models) {
    for (const HubFile& part : model.parts) {
      if (part.path == file) return model;
      paths.push_back(part.path);
    }
  }
  const std::string near = text::nearest(file, paths);
  throw Error(fmt::format("{} is '{}': {} has no such model file; {}", option_name("hf_file"), text::one_line(file),
                          where, near.empty() ? "it has " + listed(models) : fmt::format("the nearest is {}", near)));
}

// One model of those that bear the name; more than one cannot be told apart by it.
GgufModel only(const std::vector<GgufModel>& found, const std::string& quant, const std::string& where) {
  if (found.size() == 1) return found.front();
  std::vector<std::string> paths;
  for (const GgufModel& model : found) paths.push_back(text::one_line(model.path()));
  paths.resize(std::min(paths.size(), kMostNamed));
  throw Error(fmt::format("{} has {} models of quant {}: {} says which ({})", where, found.size(), quant,
                          option_name("hf_file"), fmt::join(paths, ", ")));
}

std::vector<GgufModel> with_quant(const std::vector<GgufModel>& models, const std::string& quant) {
  std::vector<GgufModel> found;
  for (const GgufModel& model : models) {
    if (model.quant == quant) found.push_back(model);
  }
  return found;
}

}  // namespace

std::int64_t GgufModel::bytes() const {
  std::int64_t sum = 0;
  for (const HubFile& part : parts) sum += part.bytes;
  return sum;
}

std::string quant_of(const std::string& path) {
  const std::optional<SplitName> split = split_name(path);
  std::string stem = upper_case(split ? split->stem : path.substr(0, path.size() - (path.ends_with(".gguf") ? 5 : 0)));
  // Words between '/', '-' and '.', from the end; "UD-" in front of one belongs to it.
  std::size_t end = stem.size();
  while (end > 0) {
    const std::size_t begin = stem.find_last_of("/-.", end - 1);
    const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
    const std::string word = stem.substr(from, end - from);
    if (is_quant(word)) {
      const bool dynamic = from >= 3 && stem.compare(from - 3, 3, "UD-") == 0;
      return (dynamic ? "UD-" : "") + word;
    }
    // "model_q4_k_m": an underscore may be what parts the name from the quant.
    for (std::size_t under = word.find('_'); under != std::string::npos; under = word.find('_', under + 1)) {
      if (is_quant(word.substr(under + 1))) return word.substr(under + 1);
    }
    if (begin == std::string::npos) break;
    end = begin;
  }
  return "";
}

std::vector<GgufModel> gguf_models(const std::vector<HubFile>& files) {
  std::vector<GgufModel> models;
  std::map<std::pair<std::string, int>, std::map<int, HubFile>> splits;  // by stem and number of parts
  for (const HubFile& file : files) {
    if (!file.path.ends_with(".gguf") || goes_beside(file.path)) continue;
    if (const auto split = split_name(file.path)) {
      splits[{split->stem, split->parts}][split->part] = file;
    } else {
      models.push_back({quant_of(file.path), {file}});
    }
  }
  for (const auto& [name, parts] : splits) {
    if (static_cast<int>(parts.size()) != name.second) continue;
    GgufModel model;
    for (const auto& [number, file] : parts) model.parts.push_back(file);
    model.quant = quant_of(model.path());
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(), [](const GgufModel& a, const GgufModel& b) { return a.path() < b.path(); });
  return models;
}

GgufChoice choose_gguf(const std::vector<GgufModel>& models, const std::string& quant, const std::string& file,
                       const std::string& where) {
  if (models.empty()) throw Error(fmt::format("{} has no GGUF files", where));
  if (!file.empty()) return {choose_file(models, file, where), ""};
  if (!quant.empty()) {
    const std::string wanted = upper_case(quant);
    if (const auto found = with_quant(models, wanted); !found.empty()) return {only(found, wanted, where), ""};
    std::vector<std::string> known;
    for (const GgufModel& model : models) known.push_back(model.quant);
    const std::string near = text::nearest(wanted, known);
    throw Error(fmt::format("{} has no quant '{}': {}it has {}", where, text::one_line(quant),
                            near.empty() ? "" : fmt::format("the nearest is {}; ", near), listed(models)));
  }
  if (const auto found = with_quant(models, kDefaultQuant); !found.empty())
    return {only(found, kDefaultQuant, where), ""};
  if (models.size() == 1) {
    const GgufModel& model = models.front();
    return {model, fmt::format("took {}: it is the only model of {}", text::one_line(model.path()), where)};
  }
  const auto because = [&](const GgufModel& model) {
    return fmt::format("took {}: {} has no {}, and this is nearest to it (of {}; :QUANT takes another)",
                       text::one_line(model.quant.empty() ? model.path() : model.quant), where, kDefaultQuant,
                       listed(models));
  };
  for (const char* preferred : kPreferred) {
    if (const auto found = with_quant(models, preferred); !found.empty()) {
      const GgufModel model = only(found, preferred, where);
      return {model, because(model)};
    }
  }
  // Quants that we have no opinion of: the smallest is the likeliest to fit.
  const auto smallest = std::min_element(models.begin(), models.end(),
                                         [](const GgufModel& a, const GgufModel& b) { return a.bytes() < b.bytes(); });
  return {*smallest, fmt::format("took {}: {} has no {}, and this is the smallest (of {}; :QUANT takes another)",
                                 text::one_line(smallest->quant.empty() ? smallest->path() : smallest->quant), where,
                                 kDefaultQuant, listed(models))};
}

}  // namespace dts::hub
