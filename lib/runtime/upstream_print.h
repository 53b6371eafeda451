// upstream_print.h - what vector.print, sparse_tensor.print and calls of printMemref… become, for compiled code. Why:
// programs written for upstream's runner print by its libraries' functions, so they run here without those.
#pragma once

#include "lib/runtime/copy.h"

// The names, arguments and text of libmlir_c_runner_utils (MLIR 22), on standard output.
void printI64(int64_t value);
void printU64(uint64_t value);
void printF16(uint16_t bits);
void printBF16(uint16_t bits);
void printF32(float value);
void printF64(double value);
void printString(const char *text);
void printOpen(void);
void printClose(void);
void printComma(void);
void printNewline(void);

// From libmlir_runner_utils: where a memref lies, its sizes and strides, then its elements, a line for each innermost
// row. A memref of any rank comes as its rank and its descriptor, or by the C interface as the address of both.
#define TESSERA_PRINTED_MEMREFS(X)                                                                                     \
  X(I8, int8_t, "%c")                                                                                                  \
  X(I16, int16_t, "%d")                                                                                                \
  X(I32, int32_t, "%d")                                                                                                \
  X(I64, int64_t, "%" PRId64)                                                                                          \
  X(Ind, int64_t, "%" PRId64)                                                                                          \
  X(F32, float, "%g")                                                                                                  \
  X(F64, double, "%g")

#define X(name, type, format)                                                                                          \
  void printMemref##name(int64_t rank, void *descriptor);                                                              \
  void _mlir_ciface_printMemref##name(const tessera_unranked_memref_t *memref); // NOLINT(bugprone-reserved-identifier)
TESSERA_PRINTED_MEMREFS(X)
#undef X

// A memref of one rank comes by the C interface only.
#define TESSERA_PRINTED_RANKED_MEMREFS(X)                                                                              \
  X(0d, F32)                                                                                                           \
  X(1d, I8)                                                                                                            \
  X(1d, I32)                                                                                                           \
  X(1d, I64)                                                                                                           \
  X(1d, Ind)                                                                                                           \
  X(1d, F32)                                                                                                           \
  X(1d, F64)                                                                                                           \
  X(2d, F32)                                                                                                           \
  X(3d, F32)                                                                                                           \
  X(4d, F32)
#define X(rank, name)                                                                                                  \
  void _mlir_ciface_printMemref##rank##name(void *descriptor); // NOLINT(bugprone-reserved-identifier)
TESSERA_PRINTED_RANKED_MEMREFS(X)
#undef X

// Elapsed time: seconds, and nanoseconds; flops per second as "… GFLOPS" on standard error.
double rtclock(void);
int64_t nanoTime(void);
int64_t _mlir_ciface_nanoTime(void); // NOLINT(bugprone-reserved-identifier)
void printFlops(double flops);
