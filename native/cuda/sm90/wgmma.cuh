#pragma once
#include <cstdint>

#include "cuda/words.cuh"

/** Warpgroup matrix instructions on bf16 with fp32 accumulators (sm_90a). */
namespace dcpscope::cuda {

/** Registers of an accumulator of 64 rows and n columns: thread t of the warpgroup holds rows (t / 32) * 16 +
 * t % 32 / 4 and that + 8, in each block of 8 columns the columns t % 4 * 2 and the next. */
template <int kColumns>
struct Accumulator {
  float v[kColumns / 2];
};

__device__ inline void mmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void mmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/** Waits until at most `kPending` groups are unfinished. */
template <int kPending>
__device__ inline void mmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/** Bytes of a box: 64 rows of 64 values, 128 bytes a row, 16-byte chunks xor-ed with the row modulo 8. */
constexpr uint32_t kBoxBytes = 8192;

/** Shared memory in units of operands: 16 bytes. */
constexpr uint32_t kChunk = 16;
constexpr uint32_t kBoxChunks = kBoxBytes / kChunk;

/** A descriptor is its low word plus a constant, so that a step costs one addition: 128-byte swizzle, 1024
 * bytes from one group of 8 rows to the next. `distance` is where the next box lies, in chunks. */
__device__ inline uint64_t operandAt(uint32_t chunk, uint32_t distance) {
  constexpr uint32_t kHigh = 1U << 30 | 1024 / kChunk;
  uint64_t operand;
  asm("mov.b64 %0, {%1, %2};" : "=l"(operand) : "r"(chunk + (distance << 16)), "n"(kHigh));
  return operand;
}

/** Operand whose rows are contiguous along the contraction: 64 rows of one box, from one of its chunks on. */
__device__ inline uint64_t rowOperand(uint32_t chunk) { return operandAt(chunk, 1); }

/** Operand whose rows are contiguous across the contraction (values of keys): boxes of 64 columns follow each
 * other. */
__device__ inline uint64_t columnOperand(uint32_t chunk) { return operandAt(chunk, kBoxChunks); }

/** d = a * b^T, or d += with `add`: 64 rows of a, 64 rows of b, contraction 16, both `rowOperand`s. */
__device__ inline void scoreStep(Accumulator<64>& d, uint64_t a, uint64_t b, int add) {
  float* v = d.v;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, p, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]), "+f"(v[4]), "+f"(v[5]), "+f"(v[6]), "+f"(v[7]),
        "+f"(v[8]), "+f"(v[9]), "+f"(v[10]), "+f"(v[11]), "+f"(v[12]), "+f"(v[13]), "+f"(v[14]), "+f"(v[15]),
        "+f"(v[16]), "+f"(v[17]), "+f"(v[18]), "+f"(v[19]), "+f"(v[20]), "+f"(v[21]), "+f"(v[22]),
        "+f"(v[23]), "+f"(v[24]), "+f"(v[25]), "+f"(v[26]), "+f"(v[27]), "+f"(v[28]), "+f"(v[29]),
        "+f"(v[30]), "+f"(v[31])
      : "l"(a), "l"(b), "r"(add));
}

/** The 128 registers of an accumulator, in the text of an instruction and as its operands `v`. */
#define DCPSCOPE_ACCUMULATOR_TEXT                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define DCPSCOPE_ACCUMULATOR_OPERANDS                                                                       \
  "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]), "+f"(v[4]), "+f"(v[5]), "+f"(v[6]), "+f"(v[7]),           \
      "+f"(v[8]), "+f"(v[9]), "+f"(v[10]), "+f"(v[11]), "+f"(v[12]), "+f"(v[13]), "+f"(v[14]), "+f"(v[15]), \
      "+f"(v[16]), "+f"(v[17]), "+f"(v[18]), "+f"(v[19]), "+f"(v[20]), "+f"(v[21]), "+f"(v[22]),            \
      "+f"(v[23]), "+f"(v[24]), "+f"(v[25]), "+f"(v[26]), "+f"(v[27]), "+f"(v[28]), "+f"(v[29]),            \
      "+f"(v[30]), "+f"(v[31]), "+f"(v[32]), "+f"(v[33]), "+f"(v[34]), "+f"(v[35]), "+f"(v[36]),            \
      "+f"(v[37]), "+f"(v[38]), "+f"(v[39]), "+f"(v[40]), "+f"(v[41]), "+f"(v[42]), "+f"(v[43]),            \
      "+f"(v[44]), "+f"(v[45]), "+f"(v[46]), "+f"(v[47]), "+f"(v[48]), "+f"(v[49]), "+f"(v[50]),            \
      "+f"(v[51]), "+f"(v[52]), "+f"(v[53]), "+f"(v[54]), "+f"(v[55]), "+f"(v[56]), "+f"(v[57]),            \
      "+f"(v[58]), "+f"(v[59]), "+f"(v[60]), "+f"(v[61]), "+f"(v[62]), "+f"(v[63]), "+f"(v[64]),            \
      "+f"(v[65]), "+f"(v[66]), "+f"(v[67]), "+f"(v[68]), "+f"(v[69]), "+f"(v[70]), "+f"(v[71]),            \
      "+f"(v[72]), "+f"(v[73]), "+f"(v[74]), "+f"(v[75]), "+f"(v[76]), "+f"(v[77]), "+f"(v[78]),            \
      "+f"(v[79]), "+f"(v[80]), "+f"(v[81]), "+f"(v[82]), "+f"(v[83]), "+f"(v[84]), "+f"(v[85]),            \
      "+f"(v[86]), "+f"(v[87]), "+f"(v[88]), "+f"(v[89]), "+f"(v[90]), "+f"(v[91]), "+f"(v[92]),            \
      "+f"(v[93]), "+f"(v[94]), "+f"(v[95]), "+f"(v[96]), "+f"(v[97]), "+f"(v[98]), "+f"(v[99]),            \
      "+f"(v[100]), "+f"(v[101]), "+f"(v[102]), "+f"(v[103]), "+f"(v[104]), "+f"(v[105]), "+f"(v[106]),     \
      "+f"(v[107]), "+f"(v[108]), "+f"(v[109]), "+f"(v[110]), "+f"(v[111]), "+f"(v[112]), "+f"(v[113]),     \
      "+f"(v[114]), "+f"(v[115]), "+f"(v[116]), "+f"(v[117]), "+f"(v[118]), "+f"(v[119]), "+f"(v[120]),     \
      "+f"(v[121]), "+f"(v[122]), "+f"(v[123]), "+f"(v[124]), "+f"(v[125]), "+f"(v[126]), "+f"(v[127])

/** d = a * b, or d += with `add`: a 64 x 16 in registers or a `rowOperand`, b 16 x 256, a `columnOperand`. */
__device__ inline void valueStep(Accumulator<256>& d, const uint32_t (&a)[4], uint64_t b, int add = 1) {
  float* v = d.v;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" DCPSCOPE_ACCUMULATOR_TEXT
      "}, {%128, %129, %130, %131}, %132, p, 1, 1, 1;\n"
      "}\n"
      : DCPSCOPE_ACCUMULATOR_OPERANDS
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
__device__ inline void valueStep(Accumulator<256>& d, uint64_t a, uint64_t b, int add = 1) {
  float* v = d.v;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" DCPSCOPE_ACCUMULATOR_TEXT
      "}, %128, %129, p, 1, 1, 0, 1;\n"
      "}\n"
      : DCPSCOPE_ACCUMULATOR_OPERANDS
      : "l"(a), "l"(b), "r"(add));
}

#undef DCPSCOPE_ACCUMULATOR_TEXT
#undef DCPSCOPE_ACCUMULATOR_OPERANDS

/** Four 8 x 8 tiles of bf16 from fragments into shared memory; each lane names the address of one row. */
__device__ inline void storeTiles(uint32_t address, const uint32_t (&v)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v[0]),
               "r"(v[1]), "r"(v[2]), "r"(v[3])
               : "memory");
}

__device__ inline float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace dcpscope::cuda
