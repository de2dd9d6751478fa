#pragma once
#include "core/attend.h"
#include "core/generate.h"
#include "core/quantise.h"
#include "core/reference.h"
#include "cpu/attention.h"
#include "cpu/read.h"
#include "cpu/rows.h"

namespace dcpscope {

/** The vector code of one instruction set. */
struct Kernels {
  const char* simd;
  const GenerateKernels& generate;
  const QuantiseKernels& quantise;
  const ReferenceKernels& reference;
  const AttendKernels& attend;
  const AttentionKernels& attention;
  const RowKernels& rows;
  const ReadKernels& read;
};

/**
 * The best set that this CPU runs, or a lesser one that the environment variable DCPSCOPE_SIMD names
 * (`avx512`, `avx2`, `generic`). Chosen once.
 */
const Kernels& kernels();

}  // namespace dcpscope
