#include "cuda/run/handed.h"

#include <algorithm>

#include "cuda/check.h"

namespace dcpscope::cuda {

Handed::Handed(const RunState& state, const Sizes& sizes, Branch branch)
    : c_(state.config),
      s_(state.shape),
      z_(sizes),
      branch_(branch),
      first_(state.firstRank()),
      tableBegin_(z_.tableBegin, "page_tables"),
      device_(z_.ranks * z_.handed.bytes, "page_tables"),
      host_(z_.ranks * z_.handed.bytes, "pinned") {
  for (int rank = first_; rank < state.endRank(); ++rank) {
    metadata_.push_back(std::make_unique<Metadata>(state, rank, branch));
    writeLengths(rank);
  }
  uploadTableBegin();
  // What a stale first step finds.
  cudaCheck(cudaMemcpy(device_.at(), host_.at(), static_cast<size_t>(host_.bytes()), cudaMemcpyHostToDevice),
            "handing over metadata");
}

/** Requests behind those of the run have no pages, as in Buffers. */
void Handed::uploadTableBegin() const {
  std::vector<int64_t> begin(static_cast<size_t>(z_.requests) + 1, Metadata::cells(c_, s_));
  for (int r = 0; r < s_.requests; ++r) begin[static_cast<size_t>(r)] = metadata_[0]->begin(r);
  cudaCheck(cudaMemcpy(tableBegin_.at(), begin.data(), begin.size() * 8, cudaMemcpyHostToDevice),
            "sending the page table");
}

void Handed::refresh(cudaStream_t stream) {
  for (int rank = first_; rank < first_ + z_.ranks; ++rank) {
    const Refreshed refreshed = metadata_[local(rank)]->refresh();
    if (refreshed.lengths) {
      writeLengths(rank);
      send(rank, z_.handed.lengths, z_.handed.columns, stream);
    }
    if (refreshed.pages) {
      writePages(rank);
      send(rank, z_.handed.columns, z_.handed.slots, stream);
    }
    writeSlots(rank);
    send(rank, z_.handed.slots, z_.handed.bytes, stream);
  }
}

void Handed::writeLengths(int rank) const {
  const Metadata& metadata = of(rank);
  auto* lengths = host_.at<int32_t>(offset(rank) + z_.handed.lengths);
  auto* keys = host_.at<int32_t>(offset(rank) + z_.handed.keys);
  for (int r = 0; r < s_.requests; ++r) {
    lengths[r] = static_cast<int32_t>(metadata.localLength(r));
    keys[r] = static_cast<int32_t>(metadata.keys(r));
  }
  std::copy_n(metadata.bounded().data(), s_.tokens, host_.at<int32_t>(offset(rank) + z_.handed.bounds));
}

void Handed::writePages(int rank) const {
  const Metadata& metadata = of(rank);
  auto* columns = host_.at<int32_t>(offset(rank) + z_.handed.columns);
  for (int r = 0; r < s_.requests; ++r) columns[r] = static_cast<int32_t>(metadata.columns(r));
  std::copy_n(metadata.table().data(), metadata.table().size(),
              host_.at<int32_t>(offset(rank) + z_.handed.pages));
}

void Handed::writeSlots(int rank) const {
  auto* slots = host_.at<int64_t>(offset(rank) + z_.handed.slots);
  std::copy_n(of(rank).slots().data(), s_.tokens, slots);
  std::fill(slots + s_.tokens, slots + z_.tokens, -1);
}

void Handed::send(int rank, int64_t begin, int64_t end, cudaStream_t stream) const {
  cudaCheck(cudaMemcpyAsync(device_.at(offset(rank) + begin), host_.at(offset(rank) + begin),
                            static_cast<size_t>(end - begin), cudaMemcpyHostToDevice, stream),
            "handing over metadata");
}

void Handed::take(int rank, const Buffers& buffers, cudaStream_t stream) const {
  const auto copy = [&](void* to, int64_t part, int64_t bytes) {
    cudaCheck(cudaMemcpyAsync(to, at<char>(rank, part), static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice,
                              stream),
              "taking over metadata");
  };
  copy(buffers.lengths(rank, branch_), z_.handed.lengths, z_.requests * int64_t{4});
  copy(buffers.bounds(rank, branch_), z_.handed.bounds, z_.tokens * int64_t{4});
  copy(buffers.slotMapping(rank, branch_), z_.handed.slots, z_.tokens * int64_t{8});
}

}  // namespace dcpscope::cuda
