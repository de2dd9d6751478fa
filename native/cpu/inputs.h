#pragma once
#include <cstdint>
#include <cstring>

#include "core/block.h"
#include "core/branch.h"
#include "core/config.h"
#include "core/source.h"
#include "cpu/kernels.h"
#include "cpu/pool.h"

namespace dcpscope {

/** Heads first .. first + count - 1. */
struct HeadRange {
  int first;
  int count;
};

/**
 * What a serving engine's projections would hand to attention in one step: queries [layers][T][H][D], the new
 * tokens' keys [layers][T][parts][D] as generate.h makes them, both fp32 for a fp32 cache and else bf16, and
 * what its indexer would: the keys that each query token attends to, [layers][T][topk]. Made before the
 * step's clock starts.
 */
class Inputs {
 public:
  /** Makes queries of `heads` alone, into `queries` where that is given: then [layers][T][heads][D]. */
  Inputs(const Config& config, const Shape& shape, HeadRange heads, unsigned char* queries = nullptr);

  /** `contexts`: global length of each request before the new tokens. */
  void make(Pool& pool, const int64_t* contexts);

  const unsigned char* queries(int layer) const { return queriesAt_ + layer * queryBytes_; }
  const unsigned char* keys(int layer) const { return keys_.data() + layer * keyBytes_; }
  /** Global positions, -1 for none. */
  const int32_t* topk(int layer) const { return topk_.data() + layer * topkValues_; }

  static int64_t bytes(const Config& config, const Shape& shape, HeadRange heads);

 private:
  void makeToken(int layer, int token, int64_t position);

  const Config& config_;
  const Shape& shape_;
  const HeadRange heads_;
  int64_t queryBytes_;
  int64_t keyBytes_;
  int64_t topkValues_;
  Block<unsigned char> queries_;
  unsigned char* const queriesAt_;
  Block<unsigned char> keys_;
  Block<int32_t> topk_;
};

/** Writes one row, fp32 for a fp32 cache and else bf16. */
inline void generateRow(const Config& config, const RowSpec& spec, int n, void* to) {
  const GenerateKernels& generate = kernels().generate;
  if (config.kvType == KvType::fp32)
    generate.fp32(spec, n, static_cast<float*>(to));
  else
    generate.bf16(spec, n, static_cast<uint16_t*>(to));
}

/** Keeps a generated key of `keyDim` values as the cache does, in `row` of a pool. */
inline void storeKey(const Config& config, int keyDim, const unsigned char* key, unsigned char* row) {
  const QuantiseKernels& quantise = kernels().quantise;
  switch (config.kvType) {
    case KvType::fp32:
    case KvType::bf16:
      std::memcpy(row, key, static_cast<size_t>(keyDim) * (config.kvType == KvType::fp32 ? 4 : 2));
      return;
    case KvType::fp8:
      quantise.fp8(reinterpret_cast<const uint16_t*>(key), keyDim, kvScale(config), row);
      return;
    case KvType::fp8DsMla:
      quantise.dsMla(reinterpret_cast<const uint16_t*>(key), row);
      return;
  }
}

}  // namespace dcpscope
