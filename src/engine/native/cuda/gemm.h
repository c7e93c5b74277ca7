// Products of rows with weights through cuBLASLt, the same to the last bit for any number of rows.
//
// What decides the bits is the order along the inner dimension alone. Algorithms that would cut it as they see fit are
// left out: where it is long, it is cut here, at the same places for any number of rows, and the slices' results are
// left to be added by whoever reads them. Of the other algorithms the fastest is taken whose results are, on rows of
// random numbers, those of the first that cuBLASLt recommends for 64 rows: that has always been all of them. Where none
// is, rows go 64 at a time.
#pragma once

#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <vector>

namespace dts::native::cuda {

class GemmLibrary;

// Into how many slices inputs are cut where outputs are few, so that there is work for the whole device.
int slices_of(int inputs);

struct GemmShape {
  int outputs = 0;
  int inputs = 0;
  int stride = 0;     // of a row of y; at least `outputs`
  int room = 0;       // rows of y; of each slice's
  int slices = 1;     // of the inputs, each a product of its own: slices_of()
  bool half = false;  // y is half precision, else single
};

class Gemm {
 public:
  // `weights`: matrices of that shape, more than one where there are, so that a cache does not flatter the timing.
  Gemm(GemmLibrary& library, const GemmShape& shape, std::vector<const __half*> weights);
  ~Gemm();

  // Chooses for that many rows; not while a graph is captured.
  void prepare(int rows);

  // y[slices, room, stride] from x[rows, inputs] and w[outputs, inputs]. `rows` was prepared.
  void run(const __half* w, const __half* x, void* y, int rows, cudaStream_t stream);

 private:
  struct Choice {
    cublasLtMatmulAlgo_t algorithm = {};
    int slice = 0;  // rows of one call
  };

  struct Layouts;
  void run(const cublasLtMatmulAlgo_t& algorithm, const __half* w, const __half* x, void* y, int rows,
           cudaStream_t stream, bool& done);
  std::size_t result_bytes() const { return shape_.half ? 2 : 4; }
  std::vector<cublasLtMatmulAlgo_t> candidates(int rows);
  // Milliseconds of one product; negative: it cannot be done so.
  float time(const cublasLtMatmulAlgo_t& algorithm, int rows);
  bool same_bits(const cublasLtMatmulAlgo_t& algorithm, int rows);

  GemmLibrary& library_;
  GemmShape shape_;
  std::vector<const __half*> weights_;
  cublasLtMatmulDesc_t description_ = nullptr;
  std::map<int, Choice> choices_;  // by rows
  std::vector<char> reference_;    // its results, as many columns as are compared
};

// The handle, its workspace, and rows of random numbers to choose by.
class GemmLibrary {
 public:
  GemmLibrary(int most_rows, int most_inputs, std::size_t most_results);
  ~GemmLibrary();
  GemmLibrary(const GemmLibrary&) = delete;
  GemmLibrary& operator=(const GemmLibrary&) = delete;

 private:
  friend class Gemm;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dts::native::cuda
