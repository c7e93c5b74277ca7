#include "engine/native/cuda/gemm.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "dts/error.h"
#include "engine/native/cuda/cuda_check.h"
#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/kernels.h"

namespace dts::native::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20U;
constexpr int kReferenceRows = 64;
constexpr int kCandidates = 64;
constexpr int kTimed = 28;  // products
constexpr int kComparedColumns = 8192;

struct MatrixLayout {
  MatrixLayout(cudaDataType type, int rows, int columns, int stride, int slices, std::int64_t apart) {
    check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), stride),
          "describing a matrix");
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &slices, sizeof slices),
          "describing a matrix");
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart, sizeof apart),
          "describing a matrix");
  }
  MatrixLayout(const MatrixLayout&) = delete;
  MatrixLayout& operator=(const MatrixLayout&) = delete;
  ~MatrixLayout() { cublasLtMatrixLayoutDestroy(layout); }
  cublasLtMatrixLayout_t layout = nullptr;
};

}  // namespace

int slices_of(int inputs) {
  constexpr int kLeastInputs = 256;  // of a slice
  constexpr int kMultiple = 64;
  for (int slices = kMostSlices; slices > 1; --slices) {
    if (inputs % (slices * kMultiple) == 0 && inputs / slices >= kLeastInputs) return slices;
  }
  return 1;
}

struct Gemm::Layouts {
  Layouts(const GemmShape& s, int rows)
      : a(CUDA_R_16F, s.inputs / s.slices, s.outputs, s.inputs, s.slices, s.inputs / s.slices),
        b(CUDA_R_16F, s.inputs / s.slices, rows, s.inputs, s.slices, s.inputs / s.slices),
        c(s.half ? CUDA_R_16F : CUDA_R_32F, s.outputs, rows, s.stride, s.slices, std::int64_t{s.room} * s.stride) {}
  MatrixLayout a, b, c;
};

struct GemmLibrary::Impl {
  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  DeviceBuffer<char> workspace;
  DeviceBuffer<__half> rows;  // random, repeated every kReferenceRows
  DeviceBuffer<float> results;
  int most_inputs = 0;
};

GemmLibrary::GemmLibrary(int most_rows, int most_inputs, std::size_t most_results) : impl_(std::make_unique<Impl>()) {
  check(cublasLtCreate(&impl_->handle), "starting cuBLASLt");
  check(cudaStreamCreate(&impl_->stream), "making a stream");
  check(cudaEventCreate(&impl_->start), "making an event");
  check(cudaEventCreate(&impl_->end), "making an event");
  impl_->workspace = DeviceBuffer<char>(kWorkspaceBytes);
  const int rows = std::max(most_rows, kReferenceRows);
  const auto period = static_cast<std::size_t>(kReferenceRows) * static_cast<std::size_t>(most_inputs);
  impl_->rows = DeviceBuffer<__half>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(most_inputs) + period);
  impl_->results = DeviceBuffer<float>(most_results);
  impl_->most_inputs = most_inputs;
}

GemmLibrary::~GemmLibrary() {
  cudaEventDestroy(impl_->start);
  cudaEventDestroy(impl_->end);
  cudaStreamDestroy(impl_->stream);
  cublasLtDestroy(impl_->handle);
}

Gemm::Gemm(GemmLibrary& library, const GemmShape& shape, std::vector<const __half*> weights)
    : library_(library), shape_(shape), weights_(std::move(weights)) {
  check(cublasLtMatmulDescCreate(&description_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "describing a product");
}

Gemm::~Gemm() { cublasLtMatmulDescDestroy(description_); }

void Gemm::run(const cublasLtMatmulAlgo_t& algorithm, const __half* w, const __half* x, void* y, int rows,
               cudaStream_t stream, bool& done) {
  const Layouts layouts(shape_, rows);
  const float one = 1;
  const float zero = 0;
  const GemmLibrary::Impl& lib = *library_.impl_;
  done = cublasLtMatmul(lib.handle, description_, &one, w, layouts.a.layout, x, layouts.b.layout, &zero, y,
                        layouts.c.layout, y, layouts.c.layout, &algorithm, lib.workspace.get(), kWorkspaceBytes,
                        stream) == CUBLAS_STATUS_SUCCESS;
}

std::vector<cublasLtMatmulAlgo_t> Gemm::candidates(int rows) {
  const Layouts layouts(shape_, rows);
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "choosing a product");
  const std::size_t workspace = kWorkspaceBytes;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                       sizeof workspace);
  const std::uint32_t uncut = CUBLASLT_REDUCTION_SCHEME_NONE;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &uncut, sizeof uncut);
  std::vector<cublasLtMatmulHeuristicResult_t> found(kCandidates);
  int count = 0;
  cublasLtMatmulAlgoGetHeuristic(library_.impl_->handle, description_, layouts.a.layout, layouts.b.layout,
                                 layouts.c.layout, layouts.c.layout, preference, kCandidates, found.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  std::vector<cublasLtMatmulAlgo_t> out;
  for (int i = 0; i < count; ++i) out.push_back(found[static_cast<std::size_t>(i)].algo);
  return out;
}

float Gemm::time(const cublasLtMatmulAlgo_t& algorithm, int rows) {
  const GemmLibrary::Impl& lib = *library_.impl_;
  float best = std::numeric_limits<float>::max();
  for (int round = 0; round < 3; ++round) {  // the first also warms up
    check(cudaEventRecord(lib.start, lib.stream), "timing");
    for (int i = 0; i < kTimed; ++i) {
      bool done = false;
      run(algorithm, weights_[static_cast<std::size_t>(i) % weights_.size()], lib.rows.get(), lib.results.get(), rows,
          lib.stream, done);
      if (!done) return -1;
    }
    check(cudaEventRecord(lib.end, lib.stream), "timing");
    check(cudaEventSynchronize(lib.end), "timing a product");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, lib.start, lib.end), "timing");
    best = std::min(best, ms / kTimed);
  }
  return best;
}

bool Gemm::same_bits(const cublasLtMatmulAlgo_t& algorithm, int rows) {
  const GemmLibrary::Impl& lib = *library_.impl_;
  const std::size_t stride_bytes = static_cast<std::size_t>(shape_.stride) * result_bytes();
  // A head of 150,000 outputs need not come back in full to tell orders of summation apart.
  const std::size_t row_bytes = static_cast<std::size_t>(std::min(shape_.outputs, kComparedColumns)) * result_bytes();
  const auto n = static_cast<std::size_t>(rows);
  const auto slices = static_cast<std::size_t>(shape_.slices);
  const std::size_t slice_bytes = static_cast<std::size_t>(shape_.room) * stride_bytes;
  char* results = reinterpret_cast<char*>(lib.results.get());
  for (std::size_t slice = 0; slice < slices; ++slice) {  // what is not written must not pass for what was before
    check(cudaMemsetAsync(results + slice * slice_bytes, 0xFF, n * stride_bytes, lib.stream), "clearing");
  }
  bool done = false;
  run(algorithm, weights_[0], lib.rows.get(), lib.results.get(), rows, lib.stream, done);
  if (!done) return false;
  std::vector<char> got(slices * n * row_bytes);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    check(cudaMemcpy2DAsync(got.data() + slice * n * row_bytes, row_bytes, results + slice * slice_bytes, stride_bytes,
                            row_bytes, n, cudaMemcpyDeviceToHost, lib.stream),
          "reading a product");
  }
  check(cudaStreamSynchronize(lib.stream), "making a product");
  if (reference_.empty()) reference_ = got;
  for (std::size_t slice = 0; slice < slices; ++slice) {
    for (std::size_t row = 0; row < n; ++row) {
      const char* expected = reference_.data() + (slice * kReferenceRows + row % kReferenceRows) * row_bytes;
      if (std::memcmp(got.data() + (slice * n + row) * row_bytes, expected, row_bytes) != 0) return false;
    }
  }
  return true;
}

void Gemm::prepare(int rows) {
  if (choices_.contains(rows)) return;
  if (rows != kReferenceRows) prepare(kReferenceRows);
  GemmLibrary::Impl& lib = *library_.impl_;
  {
    // Rows of random numbers, packed for this inner dimension, the same every kReferenceRows.
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<__half> period(static_cast<std::size_t>(kReferenceRows) * static_cast<std::size_t>(shape_.inputs));
    for (__half& value : period) value = __float2half(normal(random));
    for (int row = 0; row < rows; row += kReferenceRows) {
      check(cudaMemcpyAsync(lib.rows.get() + static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.inputs),
                            period.data(), period.size() * sizeof(__half), cudaMemcpyHostToDevice, lib.stream),
            "writing rows");
    }
    check(cudaStreamSynchronize(lib.stream), "writing rows");
  }
  std::vector<cublasLtMatmulAlgo_t> algorithms = candidates(rows);
  const bool is_reference = rows == kReferenceRows;
  if (!is_reference) algorithms.push_back(choices_.at(kReferenceRows).algorithm);
  // Whose bits are the reference's must not depend on timing, or two starts of a program would grow different trees.
  if (is_reference) {
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
      if (same_bits(algorithm, rows)) break;
    }
  }
  std::vector<std::pair<float, std::size_t>> timed;
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    const float ms = time(algorithms[i], rows);
    if (ms >= 0) timed.emplace_back(ms, i);
  }
  std::sort(timed.begin(), timed.end());
  for (const auto& [ms, i] : timed) {
    if (!same_bits(algorithms[i], rows)) continue;  // the reference is compared with itself
    choices_[rows] = {.algorithm = algorithms[i], .slice = rows};
    return;
  }
  if (is_reference) throw Error("cuBLASLt has no algorithm for this model's matrices");
  choices_[rows] = {.algorithm = choices_.at(kReferenceRows).algorithm, .slice = kReferenceRows};
}

void Gemm::run(const __half* w, const __half* x, void* y, int rows, cudaStream_t stream) {
  const Choice& choice = choices_.at(rows);
  // Of fewer rows than a slice, the rest is computed, too: buffers have room for it.
  for (int row = 0; row < rows; row += choice.slice) {
    bool done = false;
    run(choice.algorithm, w, x + static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.inputs),
        static_cast<char*>(y) +
            static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.stride) * result_bytes(),
        choice.slice, stream, done);
    if (!done) throw Error("the GPU failed while multiplying by the weights");
  }
}

}  // namespace dts::native::cuda
