// Memory of the device, and pinned memory of the host: owned, freed with its owner.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "engine/native/cuda/cuda_check.h"

namespace dts::native::cuda {

template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)), "taking memory");
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }

  T* get() const { return static_cast<T*>(data_); }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size) {
    check(cudaMallocHost(&data_, size * sizeof(T)), "taking memory of the host");
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { cudaFreeHost(data_); }

  T* get() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace dts::native::cuda
