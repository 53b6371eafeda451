// upstream_print.c - the printing functions of upstream's runner libraries, character by character as those print.
// Expects: descriptors as compiled code makes them. Leaves: text on standard output, flushed at line ends.
#include "lib/runtime/upstream_print.h"
#include "lib/support/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

//===--- elements -----------------------------------------------------------===//

static double of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The runtime takes no source of lib/support along.
static double of_f16(uint16_t bits) {
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023, sign = (uint32_t)(bits >> 15) << 31;
  if (exponent == 0)
    return fraction / 0x1p24 * (sign ? -1.0 : 1.0);
  return of_bits(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

void printI64(int64_t value) { printf("%" PRId64, value); }
void printU64(uint64_t value) { printf("%" PRIu64, value); }
void printF16(uint16_t bits) { printf("%g", of_f16(bits)); }
void printBF16(uint16_t bits) { printf("%g", of_bits((uint32_t)bits << 16)); }
void printF32(float value) { printf("%g", (double)value); }
void printF64(double value) { printf("%g", value); }
void printString(const char *text) { fputs(text, stdout); }
void printOpen(void) { fputs("( ", stdout); }
void printClose(void) { fputs(" )", stdout); }
void printComma(void) { fputs(", ", stdout); }
void printNewline(void) {
  putchar('\n');
  fflush(stdout); // before a failure that may follow
}

//===--- memrefs ------------------------------------------------------------===//

typedef void (*print_element_t)(const void *base, int64_t index);

typedef struct printed_memref_t {
  int64_t rank;
  const int64_t *sizes, *strides;
  const void *base;
  print_element_t element;
} printed_memref_t;

static void print_numbers(const char *name, int64_t count, const int64_t *numbers) {
  printf(" %s = [", name);
  for (int64_t i = 0; i < count; ++i)
    printf("%s%" PRId64, i ? ", " : "", numbers[i]);
  putchar(']');
}

// Brackets around each row; every row but a dimension's first stands below that, one space in for each dimension.
static void print_elements(const printed_memref_t *memref, int64_t dim, int64_t offset) {
  if (dim == memref->rank) {
    memref->element(memref->base, offset);
    return;
  }
  putchar('[');
  for (int64_t i = 0; i < memref->sizes[dim]; ++i) {
    if (i)
      printf(", %s%*s", dim + 1 < memref->rank ? "\n" : "", (int)dim + 1, "");
    print_elements(memref, dim + 1, offset + i * memref->strides[dim]);
  }
  putchar(']');
}

static void print_memref(const char *kind, int64_t rank, const int64_t *descriptor, print_element_t element) {
  const printed_memref_t memref = {rank, descriptor + 3, descriptor + 3 + rank, (const void *)(intptr_t)descriptor[1],
                                   element};
  printf("%s base@ = %p rank = %" PRId64 " offset = %" PRId64, kind, memref.base, rank, descriptor[2]);
  print_numbers("sizes", rank, memref.sizes);
  print_numbers("strides", rank, memref.strides);
  printf(" data = \n%s", rank ? "" : "[");
  print_elements(&memref, 0, descriptor[2]);
  printf("%s", rank ? "" : "]");
  printNewline();
}

#define X(name, type, format)                                                                                          \
  static void print_element_##name(const void *base, int64_t index) { printf(format, ((const type *)base)[index]); }   \
  void printMemref##name(int64_t rank, void *descriptor) {                                                             \
    print_memref("Unranked Memref", rank, descriptor, print_element_##name);                                           \
  }                                                                                                                    \
  void _mlir_ciface_printMemref##name(const tessera_unranked_memref_t *memref) {                                       \
    print_memref("Unranked Memref", memref->rank, memref->descriptor, print_element_##name);                           \
  }
TESSERA_PRINTED_MEMREFS(X)
#undef X

#define X(rank, name)                                                                                                  \
  void _mlir_ciface_printMemref##rank##name(void *descriptor) {                                                        \
    print_memref("Memref", #rank[0] - '0', descriptor, print_element_##name);                                          \
  }
TESSERA_PRINTED_RANKED_MEMREFS(X)
#undef X

//===--- time -----------------------------------------------------------------===//

int64_t nanoTime(void) { return tessera_nanoseconds(); }
int64_t _mlir_ciface_nanoTime(void) { return nanoTime(); }
double rtclock(void) { return (double)nanoTime() * 1e-9; }
void printFlops(double flops) { fprintf(stderr, "%f GFLOPS\n", flops / 1e9); }
