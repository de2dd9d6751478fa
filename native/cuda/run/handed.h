#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "core/metadata.h"
#include "cuda/run/buffers.h"
#include "cuda/run/memory.h"
#include "cuda/run/sizes.h"

namespace dcpscope::cuda {

/**
 * Metadata of a branch that the host makes and hands to the kernels of each rank, with what faults make of
 * it. It lies in buffers that are refreshed before each execution of a step, outside of its graph; what is
 * stale is not.
 */
class Handed {
 public:
  /** For a run that handsMetadata(). */
  Handed(const RunState& state, const Sizes& sizes, Branch branch);

  /** Before a step. */
  void refresh(cudaStream_t stream);
  /** Behind the metadata kernel: its lengths, bounds and slots become those that are handed. */
  void take(int rank, const Buffers& buffers, cudaStream_t stream) const;

  const Metadata& of(int rank) const { return *metadata_[local(rank)]; }
  /** Keys that attention walks over, and columns of the page table [requests]. */
  const int32_t* keys(int rank) const { return at<int32_t>(rank, z_.handed.keys); }
  const int32_t* columns(int rank) const { return at<int32_t>(rank, z_.handed.columns); }
  const int32_t* pages(int rank) const { return at<int32_t>(rank, z_.handed.pages); }
  /** Where the pages of each request begin [requests + 1]; of all ranks. */
  const int64_t* tableBegin() const { return tableBegin_.at<int64_t>(); }

 private:
  size_t local(int rank) const { return static_cast<size_t>(rank - first_); }
  int64_t offset(int rank) const { return static_cast<int64_t>(local(rank)) * z_.handed.bytes; }
  template <class T>
  T* at(int rank, int64_t part) const {
    return device_.at<T>(offset(rank) + part);
  }
  void uploadTableBegin() const;
  void writeLengths(int rank) const;
  void writePages(int rank) const;
  void writeSlots(int rank) const;
  /** Bytes `begin` to before `end` of what is handed to a rank. */
  void send(int rank, int64_t begin, int64_t end, cudaStream_t stream) const;

  const Config& c_;
  const Shape& s_;
  const Sizes& z_;
  const Branch branch_;
  const int first_;
  std::vector<std::unique_ptr<Metadata>> metadata_;
  DeviceMemory tableBegin_;
  DeviceMemory device_;
  PinnedMemory host_;
};

}  // namespace dcpscope::cuda
