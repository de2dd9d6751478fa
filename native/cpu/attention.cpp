#include "cpu/attention.h"

#include "core/micro.h"
#include "cpu/dot_bf16.h"
#include "cpu/key_rows.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

// As in cpu/plan.h, which vector sources cannot include.
constexpr int kTile = 64;
constexpr int kRows = 32;
constexpr float kNegInf = -__builtin_inff();

/** The keys of one tile, in the pool, and how many there are together with rows of zeros behind them. */
struct Tile {
  const unsigned char* rows[kTile];
  int keys;
  int padded;
  /** Local key of rows[0] when dense. */
  int64_t begin;
  /** The rows lie behind each other, with none of zeros. */
  bool whole;
};

/** Walks over the keys of a task tile by tile. */
class Walk {
 public:
  explicit Walk(const AttentionTask& task) : task_(task), at_(task.keyBegin) {}

  /** False when there are no more keys. */
  bool next(Tile& tile) {
    tile.keys = 0;
    tile.begin = at_;
    if (task_.slots != nullptr)
      gather(tile);
    else
      run(tile);
    tile.padded = (tile.keys + kLanes - 1) / kLanes * kLanes;
    tile.whole = task_.valueAt == 0 && task_.slots == nullptr && tile.padded == tile.keys &&
                 tile.begin % task_.pageSize + tile.keys <= task_.pageSize;
    return tile.keys > 0;
  }

 private:
  void gather(Tile& tile) {
    for (; at_ < task_.keyEnd && tile.keys < kTile; ++at_)
      if (task_.slots[at_] >= 0) tile.rows[tile.keys++] = rowAt(task_.slots[at_]);
  }

  void run(Tile& tile) {
    while (at_ < task_.keyEnd && tile.keys < kTile) {
      const int64_t page = task_.pages[at_ / task_.pageSize];
      const int64_t offset = at_ % task_.pageSize;
      for (int64_t o = offset; o < task_.pageSize && at_ < task_.keyEnd && tile.keys < kTile; ++o, ++at_)
        tile.rows[tile.keys++] = rowAt(page * task_.pageSize + o);
    }
  }

  const unsigned char* rowAt(int64_t slot) const { return task_.pool + slot * task_.rowBytes; }

  const AttentionTask& task_;
  int64_t at_;
};

/** The first n values behind byte `at` of each key as floats, rows `stride` apart. */
template <class Rows>
inline void widenTile(const Tile& tile, int at, int n, int stride, float* to) {
  for (int k = 0; k < tile.keys; ++k) Rows::widen(tile.rows[k] + at, n, to + k * stride);
  for (int i = tile.keys * stride; i < tile.padded * stride; i += kLanes) store(to + i, vf{});
}

/** Turns scores into weights against the row's running maximum; returns the factor for what was summed
 * before. */
float softmaxRow(float* scores, int keys, int padded, float scale2, float& top, float& total) {
  for (int k = keys; k < padded; ++k) scores[k] = kNegInf;
  vf most = splat<vf>(kNegInf);
  for (int k = 0; k < padded; k += kLanes) {
    const vf scaled = load<vf>(scores + k) * scale2;
    store(scores + k, scaled);
    most = maximum(scaled, most);
  }
  const float before = top;
  const float tileTop = largest(most);
  top = tileTop > top ? tileTop : top;
  vf tile = {};
  for (int k = 0; k < padded; k += kLanes) {
    const vf weight = exp2Negative(load<vf>(scores + k) - top);
    store(scores + k, weight);
    tile += weight;
  }
  const float factor = before == top       ? 1.0F
                       : before == kNegInf ? 0.0F
                                           : exp2Negative(splat<vf>(before - top))[0];
  total = total * factor + sum(tile);
  return factor;
}

void softmaxTile(const AttentionTask& task, const Tile& tile, float* scores, const AttentionPartial& out) {
  const int V = task.valueDim;
  for (int r = 0; r < task.rows; ++r) {
    float* row = scores + r * kTile;
    const int64_t seen = task.slots != nullptr ? tile.keys : task.bounds[r] - tile.begin;
    const auto visible = static_cast<int>(seen < 0 ? 0 : seen < tile.keys ? seen : tile.keys);
    if (visible == 0) {
      for (int k = 0; k < tile.padded; ++k) row[k] = 0;
      continue;
    }
    const float factor = softmaxRow(row, visible, tile.padded, task.scale2, out.top[r], out.total[r]);
    if (factor != 1.0F)
      for (int v = 0; v < V; v += kLanes) store(out.acc + r * V + v, load<vf>(out.acc + r * V + v) * factor);
  }
}

/** Distance of rows in a tile of fp32 keys: that of the pages, unless it would crowd few cache sets. */
inline int wideStride(const AttentionTask& task) {
  constexpr int kLine = 16;
  constexpr int kCrowded = 8;
  return task.keyDim / kLine % kCrowded != 0 ? task.keyDim : spreadStride<float>(task.keyDim);
}

/** Scores and values from floats: fp32 keys where they are, all others, and fp32 keys that are scattered, as
 * copies.
 */
template <class Rows>
class WideTiles {
 public:
  WideTiles(const AttentionTask& task, float* scratch)
      : task_(task),
        stride_(kInPlace ? wideStride(task) : spreadStride<float>(task.keyDim)),
        q_(scratch),
        copy_(scratch + kRows * stride_) {
    const auto* q = static_cast<const typename Rows::Query*>(task.q);
    for (int r = 0; r < task.rows; ++r)
      for (int d = 0; d < task.keyDim; d += kLanes)
        store(q_ + r * stride_ + d, loadFloat(q + static_cast<int64_t>(r) * task.keyDim + d));
  }

  void score(const Tile& tile, float* scores) {
    values_ = rows(tile);
    dotTile<vf, float>({q_, task_.rows, values_, tile.padded, stride_, task_.keyDim}, scores, kTile);
  }
  const float* values(const Tile& tile) {
    // Scores are done, so that values may take the place of the keys.
    if (task_.valueAt > 0) widenTile<Rows>(tile, task_.valueAt, task_.valueDim, stride_, copy_);
    return values_;
  }
  int stride() const { return stride_; }

 private:
  static constexpr bool kInPlace = std::is_same_v<Rows, Fp32Rows>;

  const float* rows(const Tile& tile) {
    if (kInPlace && tile.whole && stride_ == task_.keyDim)
      return reinterpret_cast<const float*>(tile.rows[0]);
    widenTile<Rows>(tile, 0, task_.keyDim, stride_, copy_);
    return copy_;
  }

  const AttentionTask& task_;
  const int stride_;
  float* q_;
  float* copy_;
  const float* values_ = nullptr;
};

#if defined(__AVX512BF16__)
/** Scores come straight from bf16 rows; only values are widened. */
class Bf16Tiles {
 public:
  Bf16Tiles(const AttentionTask& task, float* scratch)
      : task_(task),
        stride_(spreadStride<float>(task.valueDim)),
        raw_(reinterpret_cast<uint16_t*>(scratch)),
        tile_(scratch + kRows * spreadStride<float>(task.keyDim)) {}

  void score(const Tile& tile, float* scores) {
    const int D = task_.keyDim;
    dotTileBf16({static_cast<const uint16_t*>(task_.q), task_.rows, rows(tile), tile.padded, D, D}, scores,
                kTile);
  }
  const float* values(const Tile& tile) {
    widenTile<Bf16Rows>(tile, task_.valueAt, task_.valueDim, stride_, tile_);
    return tile_;
  }
  int stride() const { return stride_; }

 private:
  /** The tile's rows behind each other: in the page where they are, else as a copy. */
  const uint16_t* rows(const Tile& tile) {
    const int D = task_.keyDim;
    if (tile.whole) return reinterpret_cast<const uint16_t*>(tile.rows[0]);
    for (int k = 0; k < tile.keys; ++k) __builtin_memcpy(raw_ + k * D, tile.rows[k], sizeof(uint16_t) * D);
    __builtin_memset(raw_ + tile.keys * D, 0, sizeof(uint16_t) * (tile.padded - tile.keys) * D);
    return raw_;
  }

  const AttentionTask& task_;
  const int stride_;
  uint16_t* raw_;
  float* tile_;
};
#endif

template <class Tiles>
void attendTiles(const AttentionTask& task, float* scratch, const AttentionPartial& out) {
  Tiles tiles(task, scratch);
  float* scores = scratch + (kRows + kTile) * spreadStride<float>(task.keyDim);
  for (int r = 0; r < task.rows; ++r) {
    out.top[r] = kNegInf;
    out.total[r] = 0;
  }
  __builtin_memset(out.acc, 0, sizeof(float) * task.rows * task.valueDim);
  Walk walk(task);
  Tile tile;
  while (walk.next(tile)) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    tiles.score(tile, scores);
    softmaxTile(task, tile, scores, out);
    accumulateTile<vf, float>(
        {scores, task.rows, kTile, tiles.values(tile), tile.padded, tiles.stride(), out.acc, task.valueDim});
  }
}

void attend(const AttentionTask& task, float* scratch, const AttentionPartial& out) {
#if defined(__AVX512BF16__)
  using Half = Bf16Tiles;
#else
  using Half = WideTiles<Bf16Rows>;
#endif
  switch (task.kvType) {
    case KvType::fp32:
      return attendTiles<WideTiles<Fp32Rows>>(task, scratch, out);
    case KvType::bf16:
      return attendTiles<Half>(task, scratch, out);
    case KvType::fp8:
      return attendTiles<WideTiles<Fp8Rows>>(task, scratch, out);
    case KvType::fp8DsMla:
      return attendTiles<WideTiles<DsMlaRows>>(task, scratch, out);
  }
}

}  // namespace

extern const AttentionKernels attentionKernels;
const AttentionKernels attentionKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
