// A model's weights as the CPU's kernels read them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/native/cpu/lazy_panels.h"
#include "engine/native/weight_source.h"

namespace dts::native {

// Matrices that a file keeps apart and that have the same inputs: their outputs follow one another.
struct StackedPanels {
  std::vector<LazyPanels> matrices;
  int inputs = 0;
  int outputs = 0;

  int panels() const;
  bool wants_codes() const;    // any is quantised
  bool wants_bf16() const;     // any is bf16
  std::int64_t bytes() const;  // when all is packed
  std::int64_t unpacked_bytes() const;
};

struct CpuLayer {
  std::vector<float> attention_norm;     // [width]
  StackedPanels qkv;                     // [qkv_width, width]
  std::vector<float> qkv_bias;           // [qkv_width]; empty: none
  std::vector<float> query_norm;         // [head_size]; empty: none
  std::vector<float> key_norm;           // [head_size]; empty: none
  StackedPanels attention_output;        // [width, q_width]
  std::vector<float> feed_forward_norm;  // [width]
  StackedPanels gate_up;                 // [2 * feed_forward, width]
  StackedPanels down;                    // [width, feed_forward]
};

class PanelWeights {
 public:
  // Brings stored weights into memory; packs nothing of them. `progress` is told how far it is, from 0 to 1, and stops
  // it by returning false: then dts::Error is thrown.
  PanelWeights(const WeightSource& source, const std::function<bool(float)>& progress);

  const Geometry& geometry() const { return geometry_; }
  const std::vector<float>& output_norm() const { return output_norm_; }
  const StackedPanels& head() const { return head_; }
  const CpuLayer& layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }
  // The embedding of a token. [width]
  void embed(int token, float* out) const;
  std::int64_t bytes() const;           // of memory when all is packed
  std::int64_t unpacked_bytes() const;  // of it that is still to be filled
  std::size_t largest_panel() const;    // bytes

 private:
  std::vector<const StackedPanels*> stacks() const;  // in the order in which a step reads them

  Geometry geometry_;
  StoredRows stored_embedding_;   // read where it lies; without data: see below
  std::vector<float> embedding_;  // [n_vocab, width]
  std::vector<float> output_norm_;
  StackedPanels head_;
  std::vector<CpuLayer> layers_;
};

// Why the kernels cannot read these weights, in words: "they have none for q2_K". Empty: they can.
std::string why_no_panels(const WeightSource& source);

}  // namespace dts::native
