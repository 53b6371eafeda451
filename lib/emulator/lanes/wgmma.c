// wgmma: see wgmma.h. Numbers are as in matrix.c: products are exact, sums are rounded once for each, in the order of
// k.
#include "lib/emulator/lanes/wgmma.h"
#include "lib/emulator/lanes/wide.h"

#include <string.h>

typedef uint8_t __attribute__((may_alias)) any_u8_t;
typedef uint16_t __attribute__((may_alias)) any_u16_t;
typedef uint32_t __attribute__((may_alias)) any_u32_t;
typedef float __attribute__((may_alias)) any_f32_t;

enum { PIECE = 16, GROUP_ROWS = 8, ADDRESS_MASK = 0x3ffff };

//===--- Which there are -------------------------------------------------===//

static int bytes_of(tessera_lane_type_t type) { return tessera_lane_type_bits(type) / 8; }

static bool are_types(const tessera_wgmma_t *op) {
  bool integers = tessera_lane_type_is_integer(op->a), small = bytes_of(op->a) == 1;
  if (integers || tessera_lane_type_is_integer(op->b))
    return integers && tessera_lane_type_is_integer(op->b) && op->d == TESSERA_LANE_S32 && small;
  return op->d == TESSERA_LANE_F32 && (op->a == op->b || (small && bytes_of(op->b) == 1));
}

bool tessera_wgmma_check(const tessera_wgmma_t *op, tessera_error_t *out_error) {
  int bytes = bytes_of(op->a);
  if (!are_types(op))
    return tessera_fail(out_error, "wgmma of %s and %s to %s is not known to the emulator",
                        tessera_lane_type_name(op->a), tessera_lane_type_name(op->b), tessera_lane_type_name(op->d));
  if (op->n < 8 || op->n > TESSERA_WGMMA_MOST_N || op->n % 8 || op->k * bytes != TESSERA_WGMMA_DEPTH_BYTES)
    return tessera_fail(out_error, "there is no wgmma of shape m64n%dk%d for %s", op->n, op->k,
                        tessera_lane_type_name(op->a));
  if (bytes != 2 && (op->a_is_column || op->b_is_row))
    return tessera_fail(out_error, "wgmma of %s takes only operands whose neighbours are along k",
                        tessera_lane_type_name(op->a));
  return true;
}

//===--- Descriptors -----------------------------------------------------===//

typedef struct descriptor_t {
  uint32_t start, leading, stride;
  uint32_t span; // bytes of the swizzle; 16: none
} descriptor_t;

static bool read_descriptor(uint64_t bits, descriptor_t *out, tessera_error_t *error) {
  static const uint32_t spans[] = {16, 128, 64, 32};
  *out = (descriptor_t){.start = (uint32_t)(bits & 0x3fff) << 4,
                        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                        .span = spans[bits >> 62]};
  if (bits >> 49 & 7)
    return tessera_fail(error, "a matrix descriptor with base offset %d, which the emulator does not know",
                        (int)(bits >> 49 & 7));
  return true;
}

// Pieces change places within groups of 128 bytes, by the address.
static uint32_t swizzled(const descriptor_t *descriptor, uint32_t address) {
  address &= ADDRESS_MASK;
  return address ^ (address >> 7 & (descriptor->span / PIECE - 1)) << 4;
}

// A row has 32 bytes along k; rows lie in groups of 8.
static uint32_t along_depth(const descriptor_t *d, uint32_t row, uint32_t piece) {
  uint32_t step = d->span == PIECE ? d->leading : PIECE;
  return d->start + row % GROUP_ROWS * d->span + row / GROUP_ROWS * d->stride + piece * step;
}

// A step of k has pieces along m or n. Without a swizzle the two distances change their parts.
static uint32_t along_row(const descriptor_t *d, uint32_t k, uint32_t piece) {
  uint32_t width = d->span / PIECE;
  bool plain = d->span == PIECE;
  return d->start + piece % width * PIECE + piece / width * (plain ? d->stride : d->leading) +
         k % GROUP_ROWS * d->span + k / GROUP_ROWS * (plain ? d->leading : d->stride);
}

uint32_t tessera_wgmma_places(uint64_t bits, bool along_rows, int first, int rows, uint32_t *out_places,
                              tessera_error_t *out_error) {
  descriptor_t descriptor;
  uint32_t count = 0, across = along_rows ? TESSERA_WGMMA_DEPTH_BYTES / 2 : (uint32_t)rows;
  uint32_t along = along_rows ? (uint32_t)rows / 8 : 2;
  if (!read_descriptor(bits, &descriptor, out_error))
    return 0;
  for (uint32_t i = 0; i < across; ++i)
    for (uint32_t piece = 0; piece < along; ++piece)
      out_places[count++] = swizzled(&descriptor, along_rows ? along_row(&descriptor, i, (uint32_t)first / 8 + piece)
                                                             : along_depth(&descriptor, (uint32_t)first + i, piece));
  return count;
}

//===--- Matrices --------------------------------------------------------===//

static void widen(tessera_lane_type_t type, size_t count, uint32_t *values) {
  if (!tessera_lane_type_is_integer(type)) {
    tessera_lane_values_to_f32(type, count, values);
    return;
  }
  for (size_t i = 0; i < count; ++i)
    values[i] = (uint32_t)tessera_lane_type_to_i32(type, values[i]);
}

#define GATHER(bits_type)                                                                                              \
  for (int i = 0; i < across; ++i)                                                                                     \
    for (int j = 0; j < along; ++j) {                                                                                  \
      const bits_type *from = *pieces++;                                                                               \
      uint32_t *to = out + i * by_i + j * each * by_e;                                                                 \
      for (int e = 0; e < each; ++e)                                                                                   \
        to[e * by_e] = from[e];                                                                                        \
    }

void tessera_wgmma_gather(tessera_lane_type_t type, bool along_rows, int rows, int k, const void *const *pieces,
                          bool transposed, uint32_t *out) {
  int each = PIECE / bytes_of(type), across = along_rows ? k : rows, along = (along_rows ? rows : k) / each;
  int by_row = transposed ? 1 : k, by_k = transposed ? rows : 1;
  int by_i = along_rows ? by_k : by_row, by_e = along_rows ? by_row : by_k;
  if (bytes_of(type) == 1) {
    GATHER(any_u8_t)
  } else if (bytes_of(type) == 2) {
    GATHER(any_u16_t)
  } else {
    GATHER(any_u32_t)
  }
  widen(type, (size_t)rows * (size_t)k, out);
}

// Word i of a lane: row lane / 4 + 8 (i mod 2), and the elements of a word along k from (lane mod 4) + 4 (i / 2) words.
void tessera_wgmma_gather_held(tessera_lane_type_t type, int k, const uint32_t *const *words, uint32_t *out) {
  int each = 4 / bytes_of(type);
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int e = 0; e < each; ++e)
        out[(lane / 4 + 8 * (i % 2)) * k + (lane % 4 + 4 * (i / 2)) * each + e] =
            tessera_lane_type_get(type, &words[lane][i], (size_t)e);
  widen(type, (size_t)(TESSERA_WGMMA_ROWS * k), out);
}

void tessera_wgmma_gather_words(tessera_lane_type_t type, int rows, int k, const uint32_t *words, int stride,
                                uint32_t *out) {
  int each = 4 / bytes_of(type);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < k; ++i)
      out[row * k + i] = tessera_lane_type_get(type, &words[i / each * stride + row], (size_t)(i % each));
  widen(type, (size_t)(rows * k), out);
}

// Sum i of a lane: row lane / 4 + 8 (i / 2 mod 2), column 8 (i / 4) + 2 (lane mod 4) + i mod 2.
static int place_of_sum(int n, int lane, int i) {
  return (lane / 4 + 8 * (i / 2 % 2)) * n + 8 * (i / 4) + 2 * (lane % 4) + i % 2;
}

void tessera_wgmma_gather_sums(int n, const uint32_t *const *lanes, uint32_t *out) {
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane)
    for (int i = 0; i < n / 2; ++i)
      out[place_of_sum(n, lane, i)] = lanes[lane][i];
}

void tessera_wgmma_scatter_sums(int n, const uint32_t *sums, uint32_t *const *lanes) {
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane)
    for (int i = 0; i < n / 2; ++i)
      lanes[lane][i] = sums[place_of_sum(n, lane, i)];
}

uint32_t tessera_wgmma_sum(int n, const uint32_t *sums, int lane, int index) {
  return sums[place_of_sum(n, lane, index)];
}

//===--- The product -----------------------------------------------------===//

enum { BLOCK = 32 }; // columns that stay in registers

#define MULTIPLY(element, N)                                                                                           \
  for (int row = 0; row < TESSERA_WGMMA_ROWS; ++row) {                                                                 \
    element *to = c + row * n + first;                                                                                 \
    element sums[N];                                                                                                   \
    memcpy(sums, to, sizeof sums);                                                                                     \
    for (int j = 0; j < k; ++j) {                                                                                      \
      const element factor = a[row * k + j], *from = b + j * n + first;                                                \
      for (int column = 0; column < N; ++column)                                                                       \
        sums[column] += factor * from[column];                                                                         \
    }                                                                                                                  \
    memcpy(to, sums, sizeof sums);                                                                                     \
  }

#define DEFINE_MULTIPLY(name, element, target)                                                                         \
  target static void name(int n, int k, const element *a, const element *b, element *c) {                              \
    int first = 0;                                                                                                     \
    for (; first + BLOCK <= n; first += BLOCK)                                                                         \
      MULTIPLY(element, BLOCK)                                                                                         \
    for (; first < n; first += 8)                                                                                      \
      MULTIPLY(element, 8)                                                                                             \
  }
DEFINE_MULTIPLY(multiply_f32, any_f32_t, )
DEFINE_MULTIPLY(multiply_f32_wide, any_f32_t, TESSERA_WIDE)
DEFINE_MULTIPLY(multiply_u32, any_u32_t, )
DEFINE_MULTIPLY(multiply_u32_wide, any_u32_t, TESSERA_WIDE)

static int32_t clamped(int64_t sum) { return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum; }

// One rounding at the end: exact sums fit 64 bits.
static void multiply_clamped(int n, int k, const uint32_t *a, const uint32_t *b, uint32_t *c) {
  for (int row = 0; row < TESSERA_WGMMA_ROWS; ++row)
    for (int column = 0; column < n; ++column) {
      int64_t sum = (int32_t)c[row * n + column];
      for (int j = 0; j < k; ++j)
        sum += (int64_t)(int32_t)a[row * k + j] * (int32_t)b[j * n + column];
      c[row * n + column] = (uint32_t)clamped(sum);
    }
}

void tessera_wgmma_multiply(const tessera_wgmma_t *op, const uint32_t *a, const uint32_t *b, uint32_t *sums) {
  uint32_t negated[TESSERA_WGMMA_ROWS * TESSERA_WGMMA_MOST_K];
  bool wide = tessera_has_wide_vectors();
  if (op->from_zero)
    memset(sums, 0, sizeof *sums * TESSERA_WGMMA_ROWS * (size_t)op->n);
  if (op->a_negated != op->b_negated) { // of floats only: a sign
    for (int i = 0; i < TESSERA_WGMMA_ROWS * op->k; ++i)
      negated[i] = a[i] ^ UINT32_C(0x80000000);
    a = negated;
  }
  if (op->saturate)
    multiply_clamped(op->n, op->k, a, b, sums);
  else if (op->d == TESSERA_LANE_S32)
    (wide ? multiply_u32_wide : multiply_u32)(op->n, op->k, a, b, sums);
  else
    (wide ? multiply_f32_wide : multiply_f32)(op->n, op->k, (const any_f32_t *)a, (const any_f32_t *)b,
                                              (any_f32_t *)sums);
}
