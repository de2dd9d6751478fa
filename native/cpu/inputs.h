#pragma once
#include <cstdint>

#include "core/block.h"
#include "core/config.h"
#include "cpu/kernels.h"
#include "cpu/pool.h"

namespace dcpscope {

/**
 * What a serving engine's projections would hand to attention in one step: queries [layers][T][H][D] and the
 * new tokens' keys [layers][T][D], in the type of the cache. Made before the step's clock starts.
 */
class Inputs {
 public:
  Inputs(const Config& config, const Shape& shape);

  /** `contexts`: global length of each request before the new tokens. */
  void make(Pool& pool, const int64_t* contexts);

  const unsigned char* queries(int layer) const { return queries_.data() + layer * queryBytes_; }
  const unsigned char* keys(int layer) const { return keys_.data() + layer * keyBytes_; }

  static int64_t bytes(const Config& config, const Shape& shape);

 private:
  void makeToken(int layer, int token, int64_t position);

  const Config& config_;
  const Shape& shape_;
  int64_t queryBytes_;
  int64_t keyBytes_;
  Block<unsigned char> queries_;
  Block<unsigned char> keys_;
};

/** Writes one row in the type of the cache. */
inline void generateRow(const Config& config, const RowSpec& spec, int n, void* to) {
  const GenerateKernels& generate = kernels().generate;
  if (config.kvType == KvType::bf16)
    generate.bf16(spec, n, static_cast<uint16_t*>(to));
  else
    generate.fp32(spec, n, static_cast<float*>(to));
}

inline Source sourceOf(const Config& c, int layer, int request) {
  return makeSource(c.seed, layer, request, c.needles, c.contextLens[static_cast<size_t>(request)],
                    c.kvLoraRank + c.ropeDim, c.softmaxScale);
}

}  // namespace dcpscope
