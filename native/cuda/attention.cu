#include "cuda/attention.h"
#include "cuda/sm90/attention_sm90.h"

namespace dcpscope::cuda {

std::unique_ptr<Attention> Attention::create(const AttentionShape& shape) {
  return sm90Can(shape) ? createSm90(shape) : createPortable(shape);
}

}  // namespace dcpscope::cuda
