#pragma once
#include <cuda_runtime_api.h>

#include "cuda/ops/transport.h"
#include "cuda/run/exchange.h"

namespace dcpscope::cuda {

/** How a rank merges in the layer and the step at hand, with what faults change of it. */
class Merging {
 public:
  explicit Merging(const ExchangeParts& parts);

  TransportShape shape(int rank, int layer) const;
  /** The rank whose heads it takes. */
  int heads(int rank, int layer) const;
  /** Nothing is merged: the rank keeps its own partial of its heads. */
  bool isMissing(int rank, int layer) const;
  void keepOwn(int rank, int layer, cudaStream_t stream) const;

 private:
  const ExchangeParts parts_;
  const TransportShape shape_;
};

}  // namespace dcpscope::cuda
