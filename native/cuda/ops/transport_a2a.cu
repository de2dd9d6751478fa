#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/merge_row.cuh"
#include "cuda/ops/partial_rows.cuh"
#include "cuda/ops/transport.h"
#include "cuda/ops/transport_shape.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** 16-byte words that a thread copies. */
constexpr int kWordsPerThread = 4;
/** Rows of ranks that a warp of the merge has in flight at once. */
constexpr int kRowsInFlight = 4;
constexpr int64_t kAlign = 16;

/** Rows and bytes of one message; lse begins behind the values. */
struct Message {
  int headsPerRank;
  int rows;
  int64_t valueBytes;
  int64_t bytes;

  explicit Message(const TransportShape& s)
      : headsPerRank(s.heads / s.ranks),
        rows(s.tokens * headsPerRank),
        valueBytes(static_cast<int64_t>(rows) * s.valueDim * (s.wireFp32 ? 4 : 2)),
        bytes((valueBytes + static_cast<int64_t>(rows) * 4 + kAlign - 1) / kAlign * kAlign) {}
};

/** One thread a row. That of the last one clears what rounds the message up, which is sent too. */
__device__ inline void packLse(const Message& message, float lse, uint8_t* to, int row) {
  auto* lses = reinterpret_cast<float*>(to + message.valueBytes);
  lses[row] = lse;
  if (row != message.rows - 1) return;
  const int end = static_cast<int>((message.bytes - message.valueBytes) / 4);
#pragma unroll 1
  for (int i = message.rows; i < end; ++i) lses[i] = 0.0F;
}

/** One warp a row. */
template <bool OutFp32, bool WireFp32>
__device__ inline void packRow(const TransportShape& shape, const Message& message,
                               const HeldRow<OutFp32>& held, const float* lse, uint8_t* send, int row) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int count = shape.valueDim / kEight;
  const float rowLse = lse[row];
  const auto [token, head] = divided(row, shape.heads);
  const auto [to, ownHead] = divided(head, message.headsPerRank);
  const int toRow = token * message.headsPerRank + ownHead;
  uint8_t* base = send + to * message.bytes;
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i) {
    if (lane + i * kWarp >= count) continue;
    float values[kEight];
    widen(held.eights[i], values);
    storeEight(base, int64_t{toRow} * count + lane + i * kWarp, narrow<WireFp32>(values));
  }
  if (lane == 0) packLse(message, rowLse, base, toRow);
}

template <bool OutFp32, bool WireFp32>
__global__ void __launch_bounds__(kThreads, kRowBlocks<OutFp32>)
    packKernel(TransportShape shape, Message message, const void* out, const float* lse, uint8_t* send,
               Stamps stamps) {
  const BlockStamp stamp(stamps);
  eachRow<OutFp32, kWarps>(shape, out, [&](int row, const auto& held) {
    packRow<OutFp32, WireFp32>(shape, message, held, lse, send, row);
  });
  stamp.end();
}

__global__ void __launch_bounds__(kThreads)
    exchangeKernel(const __grid_constant__ RankBuffers sends, int rank, int64_t words, uint4* received,
                   int blocksPerRank, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int from = static_cast<int>(blockIdx.x) / blocksPerRank;
  const int64_t first =
      static_cast<int64_t>(static_cast<int>(blockIdx.x) % blocksPerRank) * kThreads * kWordsPerThread +
      threadIdx.x;
  const uint4* message = static_cast<const uint4*>(sends.at[from]) + rank * words;
  uint4 held[kWordsPerThread];
#pragma unroll
  for (int i = 0; i < kWordsPerThread; ++i)
    if (first + i * kThreads < words) held[i] = message[first + i * kThreads];
#pragma unroll
  for (int i = 0; i < kWordsPerThread; ++i)
    if (first + i * kThreads < words) received[from * words + first + i * kThreads] = held[i];
  stamp.end();
}

template <bool WireFp32, bool OutFp32, bool Alike>
__global__ void __launch_bounds__(kThreads)
    mergeKernel(TransportShape shape, Message message, const uint8_t* received, void* merged, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (row < message.rows) {
    const auto lseOf = [&](int r) {
      return reinterpret_cast<const float*>(received + r * message.bytes + message.valueBytes)[row];
    };
    const auto rowOf = [&](int r) {
      return received + r * message.bytes + row * shape.valueDim * (WireFp32 ? 4 : 2);
    };
    mergeRow<WireFp32, OutFp32, kRowsInFlight>(shape, weightsOf<Alike>(shape, lseOf), rowOf, merged, row);
  }
  stamp.end();
}

}  // namespace

int64_t messageBytes(const TransportShape& shape) { return Message(shape).bytes; }

void packMessages(const TransportShape& shape, const void* out, const float* lse, void* send,
                  cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const Message message(shape);
  const int blocks = blocksFor(static_cast<int64_t>(message.rows) * shape.ranks, kWarps);
  choose(shape.outFp32, shape.wireFp32, [&](auto outFp32, auto wireFp32) {
    packKernel<outFp32.value, wireFp32.value>
        <<<blocks, kThreads, 0, stream>>>(shape, message, out, lse, static_cast<uint8_t*>(send), stamps);
  });
  launched("out_all_to_all");
}

void exchangeMessages(const TransportShape& shape, int rank, const RankBuffers& sends, void* received,
                      cudaStream_t stream, Stamps stamps) {
  requireTransport(shape);
  const int64_t words = Message(shape).bytes / kAlign;
  const int blocks = blocksFor(words, kThreads * kWordsPerThread);
  exchangeKernel<<<blocks * shape.ranks, kThreads, 0, stream>>>(
      sends, rank, words, static_cast<uint4*>(received), blocks, stamps);
  launched("out_all_to_all");
}

void mergeMessages(const TransportShape& shape, const void* received, void* merged, cudaStream_t stream,
                   Stamps stamps) {
  requireTransport(shape);
  const Message message(shape);
  choose(shape.wireFp32, shape.outFp32, shape.same > 0, [&](auto wireFp32, auto outFp32, auto alike) {
    mergeKernel<wireFp32.value, outFp32.value, alike.value>
        <<<blocksFor(message.rows, kWarps), kThreads, 0, stream>>>(
            shape, message, static_cast<const uint8_t*>(received), merged, stamps);
  });
  launched("merge");
}

}  // namespace dcpscope::cuda
