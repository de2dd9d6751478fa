#pragma once
#include "cuda/sm90/decode_fp8.cuh"
#include "cuda/sm90/producer.cuh"
#include "cuda/sm90/row_access.cuh"
#include "cuda/sm90/row_finder.cuh"

/**
 * Brings quantised keys, listed one by one or in pages of any size. Four warps convert 16 rows of a tile
 * each, and share nothing. Codes pass through registers; those of the next part are under way while one is
 * converted.
 */
namespace dcpscope::cuda {

enum class CodeFormat { fp8, fp8DsMla };

template <CodeFormat kFormat, bool kListed>
class CodeProducer {
 public:
  static constexpr int kThreads = kGroupThreads;
  static constexpr int kFullArrivals = kThreads / 32;
  static constexpr bool kOrdinaryStores = true;
  static constexpr int kProducerRegisters = 120;
  static constexpr int kConsumerRegisters = 192;

  static __device__ void work(SharedMemory& shared, const KernelArgs& args, const KernelMaps& maps, int part,
                              int rowBlock, int thread) {
    CodeProducer producer(shared, args, thread);
    produceTogether(producer, shared, args, maps, part, rowBlock, thread);
  }

  /** Brings all tiles of a segment. */
  __device__ void fill(const Segment& segment) {
    finder_.begin(segment);
    int key = segment.firstTile * kTile;
    const int end = key + segment.tiles * kTile;
    Rows now = rowsOf(look(key), key);
    // Looked up two tiles ahead, so that nothing waits for pages or slots.
    Looked next = look(key + kTile);
    Looked later = look(key + 2 * kTile);
    Codes first;
    Codes second;
    loadBoxes(first, now, 0);
    loadScales(now);
    prefetch(next, key + kTile);
#pragma unroll 1
    for (int odd = 0; key < end; odd ^= 1, key += kTile) {
      // An even tile begins with its left part, an odd one with its right part.
      const uint32_t parity = (phases_ >> odd & 1) ^ 1;
      phases_ ^= 1 << odd;
      const uint32_t free = shared_ + offsetof(SharedMemory, free) + odd * 2 * sizeof(uint64_t);
      const int firstBox = 4 * odd;
      const int secondBox = 4 - firstBox;
      loadBoxes(second, now, secondBox);
      if constexpr (!kScaled) loadRope(second, now);
      const Factors all(scales_);
      PartFactors factors(all, firstBox);
      barrierWait(free, parity);
      convert(first, factors, odd, firstBox);
      handOver(odd, firstBox);

      const Rows following = rowsOf(next, key + kTile);
      loadBoxes(first, following, secondBox);
      loadScales(following);
      prefetch(later, key + 2 * kTile);
      next = later;
      later = look(key + 3 * kTile);
      factors = PartFactors(all, secondBox);
      barrierWait(free + sizeof(uint64_t), parity);
      if constexpr (kScaled) copyRope(now, odd);
      convert(second, factors, odd, secondBox);
      if constexpr (kScaled)
        copiesWait();
      else
        convertRope(second, factors, odd);
      handOver(odd, secondBox);
      now = following;
    }
  }

 private:
  static constexpr bool kScaled = kFormat == CodeFormat::fp8DsMla;
  static constexpr int kRowBytes = kScaled ? 656 : 576;
  /** fp8_ds_mla: 512 codes, a scale of each 128 of them, and the rope values as bf16. Of fp8, rope values are
   * codes as well. */
  static constexpr int kScalesAt = 512;
  static constexpr int kRopeAt = 528;
  /** Rows of a run that is worth a prefetch. */
  static constexpr int kLeastRun = 16;

  /** The thread's place in the two rows of a tile that it shares with three others. */
  struct Rows {
    const unsigned char* at[2];
  };
  struct Looked {
    int32_t at[2];
  };
  /** Factors of the thread's own scale of each row, and of the two scales of each row that a part needs. */
  struct Factors {
    __device__ explicit Factors(const float (&scales)[2]) {
#pragma unroll
      for (int r = 0; r < 2; ++r) of[r] = fp8Factor(kScaled ? scales[r] : 1.0F);
    }
    uint32_t of[2];
  };
  struct PartFactors {
    __device__ PartFactors(const Factors& all, int firstBox) {
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int g = 0; g < 2; ++g)
          of[r][g] = kScaled ? __shfl_sync(~0U, all.of[r], firstBox / 2 + g, 4) : all.of[r];
    }
    uint32_t of[2][2];
  };
  /** Codes of a part: four boxes of each row, and of fp8 the rope values. */
  struct Codes {
    uint4 box[4][2];
    uint4 rope[2];
  };

  /** Lanes 0 to 3 and 4 to 7 of eight that store together have rows of different parity, so that they meet
   * all banks. */
  __device__ CodeProducer(SharedMemory& shared, const KernelArgs& args, int thread)
      : shared_(sharedAddress(&shared)),
        finder_(args),
        row_(thread / 32 * 16 + thread % 32 / 4),
        column_(thread % 4),
        place_(chunkAt(0, row_, 2 * column_)),
        ropePlace_(chunkAt(0, row_, column_)) {
    const int run = runOf(args.pageSize);
    if (run > 0 && thread % 32 == 0 && row_ % run == 0) runBytes_ = run * kRowBytes;
  }

  /** Rows of a tile that are known to follow each other in the pool, 0: too few. */
  __device__ static int runOf(int pageSize) {
    if (kListed || pageSize < kLeastRun) return 0;
    if (pageSize % kTile == 0) return kTile;
    return kTile % pageSize == 0 ? pageSize : 0;
  }

  __device__ Looked look(int key) const { return {finder_.look(key + row_), finder_.look(key + row_ + 8)}; }

  __device__ Rows rowsOf(const Looked& looked, int key) const {
    return {finder_.rowOf(looked.at[0], key + row_) + column_ * 16,
            finder_.rowOf(looked.at[1], key + row_ + 8) + column_ * 16};
  }

  /** Brings the tile at `key` to the L2 by runs of rows. Rows that are scattered are left to the loads. */
  __device__ void prefetch(const Looked& looked, int key) const {
    if (runBytes_ > 0 && finder_.has(key + row_))
      prefetchBytes(finder_.rowOf(looked.at[0], key + row_), runBytes_);
  }

  __device__ static void loadBoxes(Codes& codes, const Rows& rows, int firstBox) {
#pragma unroll
    for (int box = 0; box < 4; ++box)
#pragma unroll
      for (int r = 0; r < 2; ++r) codes.box[box][r] = load16(rows.at[r] + firstBox * 64 + box * 64);
  }
  __device__ static void loadRope(Codes& codes, const Rows& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r) codes.rope[r] = load16(rows.at[r] + kRopeBox * 64);
  }

  /** Each of the four threads of a row loads one of its scales. */
  __device__ void loadScales(const Rows& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if constexpr (kScaled) scales_[r] = load4(rows.at[r] + (kScalesAt - column_ * 12));
  }

  /** Enqueues the copies of the rope values, which need no conversion. */
  __device__ void copyRope(const Rows& rows, int tile) const {
    const uint32_t to = keysAt(tile, kRopeBox) + ropePlace_;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        copy16((to ^ (i * 4 * kChunk)) + r * 8 * 128, rows.at[r] + kRopeAt + i * 64);
    copiesCommit();
  }

  __device__ uint32_t keysAt(int tile, int box) const {
    return shared_ + offsetof(SharedMemory, keys) + tile * kTileBytes + box * kBoxBytes;
  }

  /** Converts the four boxes of a part. */
  __device__ void convert(const Codes& codes, const PartFactors& factors, int tile, int firstBox) const {
    const uint32_t to = keysAt(tile, firstBox) + place_;
#pragma unroll
    for (int box = 0; box < 4; ++box)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        decode(codes.box[box][r], factors.of[r][box / 2], to, box * kBoxBytes + 8 * r * 128);
  }
  __device__ void convertRope(const Codes& codes, const PartFactors& factors, int tile) const {
#pragma unroll
    for (int r = 0; r < 2; ++r)
      decode(codes.rope[r], factors.of[r][0], keysAt(tile, kRopeBox) + place_, 8 * r * 128);
  }

  __device__ void handOver(int tile, int firstBox) const {
    __syncwarp();
    if (row_ % 16 == 0 && column_ == 0)
      barrierArrive(shared_ + offsetof(SharedMemory, full) + (tile * kBoxes + firstBox) * sizeof(uint64_t));
  }

  /** 16 codes to two pieces of 16 bytes, `at` bytes behind `to`. */
  __device__ static void decode(const uint4& codes, uint32_t factor, uint32_t to, int at) {
    write16(to + at, decodeFp8(codes.x, factor), decodeFp8(codes.y, factor));
    write16((to ^ kChunk) + at, decodeFp8(codes.z, factor), decodeFp8(codes.w, factor));
  }

  const uint32_t shared_;
  RowFinder<kRowBytes, kListed> finder_;
  const int row_;
  const int column_;
  /** Where the thread's values go within a box: of codes, and of rope values. */
  const uint32_t place_;
  const uint32_t ropePlace_;
  /** Length of the run of rows that the thread prefetches from its row on. */
  int runBytes_ = 0;
  float scales_[2];
  /** Bits of even and odd tiles: whether an odd number of them was converted. */
  uint32_t phases_ = 0;
};

}  // namespace dcpscope::cuda
