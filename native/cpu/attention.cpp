#include "cpu/attention.h"

#include "core/micro.h"
#include "cpu/dot_bf16.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

// As in cpu/plan.h, which vector sources cannot include.
constexpr int kTile = 64;
constexpr int kRows = 32;
constexpr float kNegInf = -__builtin_inff();

inline void widenRow(const float* from, int n, float* to) { __builtin_memcpy(to, from, sizeof(float) * n); }
inline void widenRow(const uint16_t* from, int n, float* to) {
  for (int d = 0; d < n; d += kLanes) store(to + d, widen(load<vh>(from + d)));
}

/** The keys of one tile: local keys begin .. begin + keys, and rows of zeros up to `padded`. */
struct Tile {
  int64_t begin;
  int keys;
  int padded;
};

template <class T>
inline const T* keyAt(const AttentionTask& task, int64_t local) {
  const int64_t page = task.pages[local / task.pageSize];
  return static_cast<const T*>(task.pool) + (page * task.pageSize + local % task.pageSize) * task.keyDim;
}

/** Calls row(k, key) for each key of the tile. */
template <class T, class F>
inline void forEachKey(const AttentionTask& task, const Tile& tile, F row) {
  for (int k = 0; k < tile.keys;) {
    const auto offset = static_cast<int>((tile.begin + k) % task.pageSize);
    const int run = task.pageSize - offset < tile.keys - k ? task.pageSize - offset : tile.keys - k;
    const T* key = keyAt<T>(task, tile.begin + k);
    for (int i = 0; i < run; ++i) row(k + i, key + static_cast<int64_t>(i) * task.keyDim);
    k += run;
  }
}

/** The first n values of each key as floats, rows `stride` apart. */
template <class T>
inline void widenTile(const AttentionTask& task, const Tile& tile, int n, int stride, float* to) {
  forEachKey<T>(task, tile, [&](int k, const T* key) { widenRow(key, n, to + k * stride); });
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
    const int64_t seen = task.bounds[r] - tile.begin;
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

/** Whether the tile's keys lie behind each other in one page, with none to add. */
inline bool isWhole(const AttentionTask& task, const Tile& tile) {
  return tile.padded == tile.keys && tile.begin % task.pageSize + tile.keys <= task.pageSize;
}

/** Distance of rows in a tile of fp32 keys: that of the pages, unless it would crowd few cache sets. */
inline int wideStride(const AttentionTask& task) {
  constexpr int kLine = 16;
  constexpr int kCrowded = 8;
  return task.keyDim / kLine % kCrowded != 0 ? task.keyDim : spreadStride<float>(task.keyDim);
}

/** Scores and values from fp32 rows; bf16 keys, and fp32 keys that are scattered, are copied tile by tile. */
template <class T>
class WideTiles {
 public:
  WideTiles(const AttentionTask& task, float* scratch)
      : task_(task),
        stride_(sizeof(T) == sizeof(float) ? wideStride(task) : spreadStride<float>(task.keyDim)),
        q_(scratch),
        copy_(scratch + kRows * stride_) {
    for (int r = 0; r < task.rows; ++r)
      widenRow(static_cast<const T*>(task.q) + r * task.keyDim, task.keyDim, q_ + r * stride_);
  }

  void score(const Tile& tile, float* scores) {
    values_ = rows(tile);
    dotTile<vf, float>({q_, task_.rows, values_, tile.padded, stride_, task_.keyDim}, scores, kTile);
  }
  const float* values(const Tile&) const { return values_; }
  int stride() const { return stride_; }

 private:
  const float* rows(const Tile& tile) {
    if constexpr (sizeof(T) == sizeof(float))
      if (stride_ == task_.keyDim && isWhole(task_, tile)) return keyAt<float>(task_, tile.begin);
    widenTile<T>(task_, tile, task_.keyDim, stride_, copy_);
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
    widenTile<uint16_t>(task_, tile, task_.valueDim, stride_, tile_);
    return tile_;
  }
  int stride() const { return stride_; }

 private:
  /** The tile's rows behind each other: in the page where they are, else as a copy. */
  const uint16_t* rows(const Tile& tile) {
    const int D = task_.keyDim;
    if (isWhole(task_, tile)) return keyAt<uint16_t>(task_, tile.begin);
    forEachKey<uint16_t>(task_, tile, [&](int k, const uint16_t* key) {
      __builtin_memcpy(raw_ + k * D, key, sizeof(uint16_t) * D);
    });
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
  for (int64_t begin = task.keyBegin; begin < task.keyEnd; begin += kTile) {
    if (__atomic_load_n(task.cancel, __ATOMIC_RELAXED) != 0) return;
    const auto keys = static_cast<int>(task.keyEnd - begin < kTile ? task.keyEnd - begin : kTile);
    const Tile tile{begin, keys, (keys + kLanes - 1) / kLanes * kLanes};
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
  using Half = WideTiles<uint16_t>;
#endif
  if (task.bf16)
    attendTiles<Half>(task, scratch, out);
  else
    attendTiles<WideTiles<float>>(task, scratch, out);
}

}  // namespace

extern const AttentionKernels attentionKernels;
const AttentionKernels attentionKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
