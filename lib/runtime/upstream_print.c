// upstream_print.c - functions of upstream's runner libraries. What prints, prints character by character as those do.
// Expects: descriptors as compiled code makes them. Leaves: text on standard output, flushed at line ends.
#include "lib/runtime/upstream_print.h"
#include "lib/runtime/call.h"
#include "lib/support/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- elements -----------------------------------------------------------===//

static double of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static double of_bf16(uint16_t bits) { return of_bits((uint32_t)bits << 16); }

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
void printBF16(uint16_t bits) { printf("%g", of_bf16(bits)); }
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

typedef struct element_t {
  void (*print)(FILE *file, const void *base, int64_t index);
  bool (*agrees)(const void *actual, const void *expected, int64_t index);
} element_t;

typedef struct printed_memref_t {
  int64_t rank, offset;
  const int64_t *sizes, *strides;
  const void *base;
  const element_t *element;
} printed_memref_t;

static bool is_near(double actual, double expected, double epsilon) {
  return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= epsilon * fabs(expected);
}

#define X(name, type, format, value, agreement)                                                                        \
  static void print_element_##name(FILE *file, const void *base, int64_t index) {                                      \
    type x = ((const type *)base)[index];                                                                              \
    fprintf(file, format, value);                                                                                      \
  }                                                                                                                    \
  static bool agrees_##name(const void *actual, const void *expected, int64_t index) {                                 \
    type a = ((const type *)actual)[index], e = ((const type *)expected)[index];                                       \
    return agreement;                                                                                                  \
  }
X(I8, int8_t, "%c", x, a == e)
X(I16, int16_t, "%d", x, a == e)
X(I32, int32_t, "%d", x, a == e)
X(I64, int64_t, "%" PRId64, x, a == e)
X(Ind, int64_t, "%" PRId64, x, a == e)
X(F16, uint16_t, "%g", of_f16(x), of_f16(a) == of_f16(e))
X(BF16, uint16_t, "%g", of_bf16(x), of_bf16(a) == of_bf16(e))
X(F32, float, "%g", (double)x, is_near((double)a, (double)e, 1e-6))
X(F64, double, "%g", x, is_near(a, e, 1e-12))
#undef X

#define X(name, type)                                                                                                  \
  static void print_element_##name(FILE *file, const void *base, int64_t index) {                                      \
    const type *x = (const type *)base + 2 * index;                                                                    \
    fprintf(file, "(%g,%g)", (double)x[0], (double)x[1]);                                                              \
  }                                                                                                                    \
  static bool agrees_##name(const void *actual, const void *expected, int64_t index) {                                 \
    const type *a = (const type *)actual + 2 * index, *e = (const type *)expected + 2 * index;                         \
    return a[0] == e[0] && a[1] == e[1];                                                                               \
  }
X(C32, float)
X(C64, double)
#undef X

static void print_numbers(FILE *file, const char *name, int64_t count, const int64_t *numbers) {
  fprintf(file, " %s = [", name);
  for (int64_t i = 0; i < count; ++i)
    fprintf(file, "%s%" PRId64, i ? ", " : "", numbers[i]);
  putc(']', file);
}

// Brackets around each row; every row but a dimension's first stands below that, one space in for each dimension.
static void print_elements(const printed_memref_t *memref, int64_t dim, int64_t offset) {
  if (dim == memref->rank) {
    memref->element->print(stdout, memref->base, offset);
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

static void print_shape(FILE *file, const char *kind, const printed_memref_t *memref) {
  fprintf(file, "%sbase@ = %p rank = %" PRId64 " offset = %" PRId64, kind, memref->base, memref->rank, memref->offset);
  print_numbers(file, "sizes", memref->rank, memref->sizes);
  print_numbers(file, "strides", memref->rank, memref->strides);
}

static printed_memref_t memref_of(int64_t rank, const int64_t *descriptor, const element_t *element) {
  return (printed_memref_t){.rank = rank,
                            .offset = descriptor[2],
                            .sizes = descriptor + 3,
                            .strides = descriptor + 3 + rank,
                            .base = (const void *)(intptr_t)descriptor[1],
                            .element = element};
}

static void print_memref(const char *kind, int64_t rank, const int64_t *descriptor, const element_t *element) {
  const printed_memref_t memref = memref_of(rank, descriptor, element);
  print_shape(stdout, kind, &memref);
  printf(" data = \n%s", rank ? "" : "[");
  print_elements(&memref, 0, memref.offset);
  printf("%s", rank ? "" : "]");
  printNewline();
}

static int64_t verify_elements(const printed_memref_t *actual, const printed_memref_t *expected, int64_t dim,
                               int64_t offset, int *said) {
  int64_t errors = 0;
  for (int64_t i = 0; dim < actual->rank && i < actual->sizes[dim]; ++i)
    errors += verify_elements(actual, expected, dim + 1, offset + i * actual->strides[dim], said);
  if (dim < actual->rank || actual->element->agrees(actual->base, expected->base, offset))
    return errors;
  if ((*said)++ < 10) {
    actual->element->print(stderr, actual->base, offset);
    fputs(" != ", stderr);
    actual->element->print(stderr, expected->base, offset);
    fprintf(stderr, " offset = %" PRId64 "\n", offset);
  }
  return 1;
}

static int64_t verify_memref(const printed_memref_t *actual, const printed_memref_t *expected) {
  size_t bytes = 2 * (size_t)actual->rank * sizeof *actual->sizes; // sizes and strides lie together
  int said = 0;
  if (actual->rank == expected->rank && actual->offset == expected->offset &&
      memcmp(actual->sizes, expected->sizes, bytes) == 0)
    return verify_elements(actual, expected, 0, actual->offset, &said);
  print_shape(stderr, "", actual);
  print_shape(stderr, "", expected);
  return -1;
}

#define X(name)                                                                                                        \
  static const element_t element_##name = {print_element_##name, agrees_##name};                                       \
  void printMemref##name(int64_t rank, void *descriptor) {                                                             \
    print_memref("Unranked Memref ", rank, descriptor, &element_##name);                                               \
  }                                                                                                                    \
  void _mlir_ciface_printMemref##name(const tessera_unranked_memref_t *memref) {                                       \
    printMemref##name(memref->rank, memref->descriptor);                                                               \
  }                                                                                                                    \
  void _mlir_ciface_printMemrefShape##name(const tessera_unranked_memref_t *memref) {                                  \
    const printed_memref_t shape = memref_of(memref->rank, memref->descriptor, &element_##name);                       \
    print_shape(stdout, "Unranked Memref ", &shape);                                                                   \
    printNewline();                                                                                                    \
  }                                                                                                                    \
  int64_t verifyMemRef##name(int64_t rank, void *actual, int64_t expected_rank, void *expected) {                      \
    const printed_memref_t is = memref_of(rank, actual, &element_##name);                                              \
    const printed_memref_t should_be = memref_of(expected_rank, expected, &element_##name);                            \
    return verify_memref(&is, &should_be);                                                                             \
  }                                                                                                                    \
  int64_t _mlir_ciface_verifyMemRef##name(const tessera_unranked_memref_t *actual,                                     \
                                          const tessera_unranked_memref_t *expected) {                                 \
    return verifyMemRef##name(actual->rank, actual->descriptor, expected->rank, expected->descriptor);                 \
  }
TESSERA_PRINTED_MEMREFS(X)
#undef X

#define X(rank, name)                                                                                                  \
  void _mlir_ciface_printMemref##rank##name(void *descriptor) {                                                        \
    print_memref("Memref ", #rank[0] - '0', descriptor, &element_##name);                                              \
  }
TESSERA_PRINTED_RANKED_MEMREFS(X)
#undef X

//===--- random numbers -------------------------------------------------------===//

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

void *rtsrand(uint64_t seed) {
  uint64_t *state = malloc(sizeof *state);
  if (!state)
    tessera_raise("rtsrand: out of memory");
  *state = seed;
  return state;
}
uint64_t rtrand(void *generator, uint64_t most) {
  uint64_t number = next_random(generator);
  return most == UINT64_MAX ? number : number % (most + 1);
}
void rtdrand(void *generator) { free(generator); }

void _mlir_ciface_shuffle(void *descriptor, void *generator) {
  const printed_memref_t memref = memref_of(1, descriptor, NULL);
  int64_t *numbers = (int64_t *)memref.base + memref.offset, step = memref.strides[0];
  for (int64_t i = 0; i < memref.sizes[0]; ++i) {
    int64_t other = (int64_t)rtrand(generator, (uint64_t)i);
    numbers[i * step] = numbers[other * step];
    numbers[other * step] = i;
  }
}

//===--- time -----------------------------------------------------------------===//

int64_t nanoTime(void) { return tessera_nanoseconds(); }
int64_t _mlir_ciface_nanoTime(void) { return nanoTime(); }
double rtclock(void) { return (double)nanoTime() * 1e-9; }
void printFlops(double flops) { fprintf(stderr, "%f GFLOPS\n", flops / 1e9); }
