// D = A B + C: gather the lanes' registers into matrices, multiply, scatter. See matrix.h.
// Products of all 8 to 19-bit floats are exact in f32; sums are rounded to f32 once per product, in the order of k, and
// once more to the accumulator's type (docs/numerics.md §4 leaves the order open).
#include "lib/emulator/lanes/matrix.h"
#include "lib/emulator/lanes/wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Fragments and scratch are bytes that are read as what the instruction says they are.
typedef uint8_t __attribute__((may_alias)) any_u8_t;
typedef uint16_t __attribute__((may_alias)) any_u16_t;
typedef uint32_t __attribute__((may_alias)) any_u32_t;
typedef float __attribute__((may_alias)) any_f32_t;
typedef double __attribute__((may_alias)) any_f64_t;

//===--- room ---------------------------------------------------------------===//

static size_t operand_bytes(const tessera_matrix_operand_t *operand) {
  size_t bytes = ((size_t)operand->count * tessera_lane_type_bits(operand->type) + 7) / 8;
  return (bytes + 15) / 16 * 16;
}

static bool is_f64(const tessera_matrix_t *matrix) { return matrix->a.type == TESSERA_LANE_F64; }

bool tessera_matrix_prepare(tessera_matrix_t *matrix, tessera_error_t *out_error) {
  tessera_matrix_operand_t *operands[] = {&matrix->a, &matrix->b, &matrix->c, &matrix->d};
  size_t at = 0, places = 0;
  for (int i = 0; i < 4; ++i)
    places += (size_t)operands[i]->count * matrix->lanes;
  if (matrix->is_sparse)
    places += (size_t)matrix->a.count * matrix->lanes;
  int runs = matrix->scale_block ? matrix->k / matrix->scale_block : 0;
  places += (size_t)(matrix->m + matrix->n) * (size_t)runs;
  uint16_t *place = calloc(places, sizeof *place);
  if (!place)
    return tessera_fail(out_error, "out of memory");
  for (int i = 0; i < 4; ++i) { // D after C: an op may write f32 where it read f16
    operands[i]->place = place;
    operands[i]->at = (int)at;
    place += (size_t)operands[i]->count * matrix->lanes;
    at += operand_bytes(operands[i]);
  }
  matrix->index = place; // after all others
  matrix->index_at = (int)at;
  matrix->fragment_bytes = at + (matrix->is_sparse || runs ? 16 : 0);
  for (int i = 0; i < 2; ++i) {
    matrix->scaled[i].scale = place + (size_t)(i * matrix->m * runs);
    matrix->scaled[i].scale_at = (int)at + 4 * i;
  }
  size_t elements = (size_t)matrix->blocks * (matrix->m * matrix->k + matrix->k * matrix->n + matrix->m * matrix->n);
  matrix->scratch_bytes = elements * (is_f64(matrix) ? 8 : 4);
  return true;
}

void tessera_matrix_destroy(tessera_matrix_t *matrix) {
  free(matrix->a.place); // the others follow it
  matrix->a.place = NULL;
}

//===--- gather and scatter ---------------------------------------------------===//

#define GATHER(bits_type)                                                                                              \
  for (int lane = 0; lane < lanes; ++lane, place += count) {                                                           \
    const bits_type *from = (const bits_type *)((const char *)fragments[lane] + operand->at);                          \
    for (int i = 0; i < count; ++i)                                                                                    \
      to[place[i]] = from[i];                                                                                          \
  }

static void gather_bits(const tessera_matrix_operand_t *operand, int lanes, void *const *fragments, uint32_t *to) {
  const uint16_t *place = operand->place;
  int count = operand->count, bits = tessera_lane_type_bits(operand->type);
  if (bits == 32) {
    GATHER(any_u32_t)
  } else if (bits == 16) {
    GATHER(any_u16_t)
  } else if (bits == 8) {
    GATHER(any_u8_t)
  } else {
    for (int lane = 0; lane < lanes; ++lane, place += count)
      for (int i = 0; i < count; ++i)
        to[place[i]] = tessera_lane_type_get(operand->type, (const char *)fragments[lane] + operand->at, i);
  }
}

static uint32_t index_of(const tessera_matrix_t *matrix, void *const *fragments, int at) {
  const char *holder = fragments[matrix->index[at] / 16];
  return *(const any_u32_t *)(holder + matrix->index_at) >> 2 * (matrix->index[at] % 16) & 3;
}

bool tessera_matrix_indices_ascend(const tessera_matrix_t *matrix, void *const *fragments) {
  for (int at = 0; matrix->is_sparse && matrix->must_ascend && at < matrix->lanes * matrix->a.count; at += 2)
    if (index_of(matrix, fragments, at) >= index_of(matrix, fragments, at + 1))
      return false;
  return true;
}

// A of a sparse product: zeros but where the indices say.
static void gather_sparse(const tessera_matrix_t *matrix, void *const *fragments, uint32_t *to) {
  memset(to, 0, sizeof *to * (size_t)(matrix->m * matrix->k));
  for (int lane = 0; lane < matrix->lanes; ++lane) {
    const char *fragment = fragments[lane];
    for (int i = 0; i < matrix->a.count; ++i) {
      int at = lane * matrix->a.count + i;
      to[matrix->a.place[at] + index_of(matrix, fragments, at)] =
          tessera_lane_type_get(matrix->a.type, fragment + matrix->a.at, i);
    }
  }
}

// Operands that some registers hold no element of (gfx11's f16 accumulators).
static void gather_some(const tessera_matrix_operand_t *operand, int lanes, void *const *fragments, uint32_t *to) {
  for (int at = 0; at < lanes * operand->count; ++at) {
    const char *fragment = (const char *)fragments[at / operand->count] + operand->at;
    if (operand->place[at] != TESSERA_MATRIX_NOWHERE)
      to[operand->place[at]] = tessera_lane_type_get(operand->type, fragment, at % operand->count);
  }
}

static bool has_gaps(const tessera_matrix_t *matrix, const tessera_matrix_operand_t *operand) {
  return (size_t)operand->count * matrix->lanes > (size_t)matrix->blocks * matrix->m * matrix->n;
}

// Do all lanes that hold one element agree on it?
static bool replicas_agree(const tessera_matrix_t *matrix, const tessera_matrix_operand_t *operand,
                           void *const *fragments, const uint32_t *gathered, int size) {
  if (operand->count * matrix->lanes <= size)
    return true;
  for (int at = 0; at < matrix->lanes * operand->count; ++at) {
    const char *fragment = (const char *)fragments[at / operand->count] + operand->at;
    if (tessera_lane_type_get(operand->type, fragment, at % operand->count) != gathered[operand->place[at]])
      return false;
  }
  return true;
}

static void scatter(const tessera_matrix_operand_t *operand, int lanes, void *const *fragments, const uint32_t *from) {
  const uint16_t *place = operand->place;
  for (int lane = 0; lane < lanes; ++lane, place += operand->count) {
    char *to = (char *)fragments[lane] + operand->at;
    for (int i = 0; i < operand->count; ++i)
      if (place[i] != TESSERA_MATRIX_NOWHERE)
        tessera_lane_type_set(operand->type, to, i, from[place[i]]);
  }
}

static void scatter_words(const tessera_matrix_operand_t *operand, int lanes, void *const *fragments,
                          const uint32_t *from) {
  const uint16_t *place = operand->place;
  for (int lane = 0; lane < lanes; ++lane, place += operand->count) {
    any_u32_t *to = (any_u32_t *)((char *)fragments[lane] + operand->at);
    for (int i = 0; i < operand->count; ++i)
      to[i] = from[place[i]];
  }
}

//===--- products -----------------------------------------------------------===//

// Rows of N elements; N is a constant at each call, so that the innermost loop is vectors.
#define MULTIPLY(element, N)                                                                                           \
  for (int row = 0; row < m; ++row, c += N, a += k)                                                                    \
    for (int j = 0; j < k; ++j) {                                                                                      \
      const element factor = a[j], *restrict from = b + (size_t)j * N;                                                 \
      for (int column = 0; column < N; ++column)                                                                       \
        c[column] += factor * from[column];                                                                            \
    }

#define DEFINE_MULTIPLY(name, element, target)                                                                         \
  target static void name(int m, int n, int k, const element *a, const element *b, element *restrict c) {              \
    if (n == 8) {                                                                                                      \
      MULTIPLY(element, 8)                                                                                             \
    } else if (n == 16) {                                                                                              \
      MULTIPLY(element, 16)                                                                                            \
    } else if (n == 32) {                                                                                              \
      MULTIPLY(element, 32)                                                                                            \
    } else {                                                                                                           \
      MULTIPLY(element, 4)                                                                                             \
    }                                                                                                                  \
  }
DEFINE_MULTIPLY(multiply_f32, any_f32_t, )
DEFINE_MULTIPLY(multiply_f32_wide, any_f32_t, TESSERA_WIDE)
DEFINE_MULTIPLY(multiply_f64, any_f64_t, )
DEFINE_MULTIPLY(multiply_u32, any_u32_t, )
DEFINE_MULTIPLY(multiply_u32_wide, any_u32_t, TESSERA_WIDE)

static int64_t bit_count(tessera_bit_product_t product, uint32_t a, uint32_t b) {
  return product == TESSERA_BIT_XOR ? a ^ b : a & b;
}

static int32_t clamp_i32(int64_t sum) {
  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

// One rounding at the end: exact sums fit 64 bits. The slow way, for clamped results and single bits.
static void multiply_wide(const tessera_matrix_t *matrix, const uint32_t *a, const uint32_t *b, uint32_t *c) {
  bool is_bits = matrix->a.type == TESSERA_LANE_B1;
  for (int row = 0; row < matrix->m; ++row)
    for (int column = 0; column < matrix->n; ++column) {
      int64_t sum = (int32_t)c[row * matrix->n + column];
      for (int j = 0; j < matrix->k; ++j) {
        uint32_t x = a[row * matrix->k + j], y = b[j * matrix->n + column];
        sum += is_bits ? bit_count(matrix->bit_product, x, y) : (int64_t)(int32_t)x * (int32_t)y;
      }
      c[row * matrix->n + column] = matrix->saturate ? (uint32_t)clamp_i32(sum) : (uint32_t)sum;
    }
}

//===--- the three kinds ------------------------------------------------------===//

typedef struct matrices_t {
  uint32_t *a, *b, *c;
  int a_size, b_size, c_size; // elements of all blocks
} matrices_t;

static matrices_t divide_scratch(const tessera_matrix_t *matrix, void *scratch) {
  matrices_t all = {.a = scratch,
                    .a_size = matrix->blocks * matrix->m * matrix->k,
                    .b_size = matrix->blocks * matrix->k * matrix->n,
                    .c_size = matrix->blocks * matrix->m * matrix->n};
  all.b = all.a + all.a_size;
  all.c = all.b + all.b_size;
  return all;
}

static void run_f32(const tessera_matrix_t *matrix, matrices_t *all) {
  tessera_lane_values_to_f32(matrix->a.type, all->a_size, all->a);
  tessera_lane_values_to_f32(matrix->b.type, all->b_size, all->b);
  tessera_lane_values_to_f32(matrix->c.type, all->c_size, all->c);
  int m = matrix->m, n = matrix->n, k = matrix->k;
  bool wide = tessera_has_wide_vectors();
  for (int block = 0; block < matrix->blocks; ++block)
    (wide ? multiply_f32_wide : multiply_f32)(m, n, k, (any_f32_t *)all->a + block * m * k,
                                              (any_f32_t *)all->b + block * k * n, (any_f32_t *)all->c + block * m * n);
  if (matrix->d.type != TESSERA_LANE_F32)
    for (int i = 0; i < all->c_size; ++i)
      all->c[i] = tessera_lane_type_from_f32(matrix->d.type, ((any_f32_t *)all->c)[i]);
}

//===--- block scales -------------------------------------------------------===//

static double scale_of(const tessera_matrix_t *matrix, int side, int at, void *const *fragments) {
  int place = matrix->scaled[side].scale[at];
  const char *holder = fragments[place / 4];
  uint32_t byte = *(const any_u32_t *)(holder + matrix->scaled[side].scale_at) >> 8 * (place % 4) & 0xff;
  if (!matrix->scales_are_powers)
    return tessera_lane_type_to_f32(TESSERA_LANE_E4M3, byte & 0x7f);
  return byte == 255 ? (double)NAN : ldexp(1, (int)byte - 127);
}

static void decode_scaled(const tessera_matrix_t *matrix, int side, int count, uint32_t *values) {
  tessera_lane_type_t element = matrix->scaled[side].element;
  uint32_t mask = (UINT32_C(1) << tessera_lane_type_bits(element)) - 1;
  for (int i = 0; i < count; ++i)
    values[i] = values[i] >> matrix->scaled[side].element_low & mask;
  tessera_lane_values_to_f32(element, (size_t)count, values);
}

// A run's sum is exact in f64, and so is its product with the scales; the sum is rounded to f32 once.
static void run_scaled(const tessera_matrix_t *matrix, void *const *fragments, matrices_t *all) {
  int n = matrix->n, k = matrix->k, run = matrix->scale_block, runs = k / run;
  decode_scaled(matrix, 0, all->a_size, all->a);
  decode_scaled(matrix, 1, all->b_size, all->b);
  const any_f32_t *a = (any_f32_t *)all->a, *b = (any_f32_t *)all->b;
  any_f32_t *c = (any_f32_t *)all->c;
  for (int row = 0; row < matrix->m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = c[row * n + column];
      for (int r = 0; r < runs; ++r) {
        double part = 0;
        for (int j = r * run; j < (r + 1) * run; ++j)
          part += (double)a[row * k + j] * b[j * n + column];
        sum +=
            part * (scale_of(matrix, 0, row * runs + r, fragments) * scale_of(matrix, 1, column * runs + r, fragments));
      }
      c[row * n + column] = (float)sum;
    }
}

static void extend(tessera_lane_type_t type, int count, uint32_t *values) {
  for (int i = 0; i < count; ++i)
    values[i] = (uint32_t)tessera_lane_type_to_i32(type, values[i]);
}

static void run_integer(const tessera_matrix_t *matrix, matrices_t *all) {
  extend(matrix->a.type, all->a_size, all->a);
  extend(matrix->b.type, all->b_size, all->b);
  int m = matrix->m, n = matrix->n, k = matrix->k;
  for (int block = 0; block < matrix->blocks; ++block) {
    uint32_t *a = all->a + block * m * k, *b = all->b + block * k * n, *c = all->c + block * m * n;
    if (matrix->saturate || matrix->a.type == TESSERA_LANE_B1)
      multiply_wide(matrix, a, b, c);
    else
      (tessera_has_wide_vectors() ? multiply_u32_wide : multiply_u32)(m, n, k, a, b, c);
  }
}

static void gather_f64(const tessera_matrix_operand_t *operand, int lanes, void *const *fragments, double *to) {
  const uint16_t *place = operand->place;
  int count = operand->count;
  GATHER(any_f64_t)
}

static void run_f64(const tessera_matrix_t *matrix, void *const *fragments, double *scratch) {
  int m = matrix->m, n = matrix->n, k = matrix->k, lanes = matrix->lanes;
  double *a = scratch, *b = a + matrix->blocks * m * k, *c = b + matrix->blocks * k * n;
  gather_f64(&matrix->a, lanes, fragments, a);
  gather_f64(&matrix->b, lanes, fragments, b);
  gather_f64(&matrix->c, lanes, fragments, c);
  for (int block = 0; block < matrix->blocks; ++block)
    multiply_f64(m, n, k, a + block * m * k, b + block * k * n, c + block * m * n);
  for (int at = 0; at < lanes * matrix->d.count; ++at) {
    any_f64_t *to = (any_f64_t *)((char *)fragments[at / matrix->d.count] + matrix->d.at);
    to[at % matrix->d.count] = c[matrix->d.place[at]];
  }
}

bool tessera_matrix_run(const tessera_matrix_t *matrix, void *const *fragments, void *scratch) {
  if (is_f64(matrix)) {
    run_f64(matrix, fragments, scratch);
    return true;
  }
  matrices_t all = divide_scratch(matrix, scratch);
  int lanes = matrix->lanes;
  if (matrix->is_sparse)
    gather_sparse(matrix, fragments, all.a);
  else
    gather_bits(&matrix->a, lanes, fragments, all.a);
  gather_bits(&matrix->b, lanes, fragments, all.b);
  (has_gaps(matrix, &matrix->c) ? gather_some : gather_bits)(&matrix->c, lanes, fragments, all.c);
  bool agree = replicas_agree(matrix, &matrix->a, fragments, all.a, all.a_size) &&
               replicas_agree(matrix, &matrix->b, fragments, all.b, all.b_size);
  if (matrix->scale_block)
    run_scaled(matrix, fragments, &all);
  else if (tessera_lane_type_is_integer(matrix->a.type))
    run_integer(matrix, &all);
  else
    run_f32(matrix, &all);
  if (tessera_lane_type_bits(matrix->d.type) == 32)
    scatter_words(&matrix->d, lanes, fragments, all.c);
  else {
    if (has_gaps(matrix, &matrix->d)) // the other halves stay C's
      for (int lane = 0; lane < lanes; ++lane)
        memcpy((char *)fragments[lane] + matrix->d.at, (char *)fragments[lane] + matrix->c.at,
               (size_t)matrix->d.count * tessera_lane_type_bits(matrix->d.type) / 8);
    scatter(&matrix->d, lanes, fragments, all.c);
  }
  return agree;
}
