#pragma once

namespace dcpscope::cuda::bench {

/** FLOP/s of a bf16 product of 8192^3 on random data by cuBLAS; 0 where its library is not on this machine.
 */
double cublasRate();

/** FLOP/s of the matrix units alone: warpgroup instructions on random data in shared memory, for about a
 * second. */
double matrixUnitRate();

}  // namespace dcpscope::cuda::bench
