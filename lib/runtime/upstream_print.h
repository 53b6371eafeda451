// upstream_print.h - what vector.print, sparse_tensor.print and calls of printMemref…, verifyMemRef…, rtrand and
// rtclock become, for compiled code. Why: programs written for upstream's runner call its libraries' functions, so they
// run here without those.
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

// From libmlir_runner_utils: where a memref lies, its sizes and strides (printMemrefShape… ends there), then its
// elements, a line for each innermost row. verifyMemRef… counts elements that differ (f32 by 1e-6, f64 by 1e-12 of the
// expected one) and names the first ten on standard error; -1: another shape. A memref of any rank comes as its rank
// and its descriptor, or by the C interface as the address of both.
#define TESSERA_PRINTED_MEMREFS(X) X(I8) X(I16) X(I32) X(I64) X(Ind) X(F16) X(BF16) X(F32) X(F64) X(C32) X(C64)
#define X(name)                                                                                                        \
  void printMemref##name(int64_t rank, void *descriptor);                                                              \
  void _mlir_ciface_printMemref##name(const tessera_unranked_memref_t *memref);      /* NOLINT(bugprone-reserved-*) */ \
  void _mlir_ciface_printMemrefShape##name(const tessera_unranked_memref_t *memref); /* NOLINT(bugprone-reserved-*) */ \
  int64_t verifyMemRef##name(int64_t rank, void *actual, int64_t expected_rank, void *expected);                       \
  int64_t _mlir_ciface_verifyMemRef##name(const tessera_unranked_memref_t *actual, /* NOLINT(bugprone-reserved-*) */   \
                                          const tessera_unranked_memref_t *expected);
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
  X(1d, C32)                                                                                                           \
  X(1d, C64)                                                                                                           \
  X(2d, F32)                                                                                                           \
  X(3d, F32)                                                                                                           \
  X(4d, F32)
#define X(rank, name)                                                                                                  \
  void _mlir_ciface_printMemref##rank##name(void *descriptor); // NOLINT(bugprone-reserved-identifier)
TESSERA_PRINTED_RANKED_MEMREFS(X)
#undef X

// Random numbers: a generator of its own for each seed; 0 to `most`; the numbers 0 to size - 1 in any order. The
// sequence is not that of upstream's library.
void *rtsrand(uint64_t seed);
uint64_t rtrand(void *generator, uint64_t most);
void rtdrand(void *generator);
void _mlir_ciface_shuffle(void *descriptor, void *generator); // NOLINT(bugprone-reserved-identifier)

// Elapsed time: seconds, and nanoseconds; flops per second as "… GFLOPS" on standard error.
double rtclock(void);
int64_t nanoTime(void);
int64_t _mlir_ciface_nanoTime(void); // NOLINT(bugprone-reserved-identifier)
void printFlops(double flops);
