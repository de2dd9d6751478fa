#include "core/quantise.h"

namespace dcpscope::DCPSCOPE_ISA {

extern const QuantiseKernels quantiseKernels;
const QuantiseKernels quantiseKernels{quantiseFp8, dsmla::quantise};

}  // namespace dcpscope::DCPSCOPE_ISA
