// array.c - creating, copying, describing and checking dense arrays.
// Why: the tools meet arrays as files, as memrefs and as random data; this is what the three have in common.
// Expects: shapes from anywhere, files included. Leaves: no overflow unnoticed.
#include "lib/support/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int bytes;
} elements[] = {
#define X(name, enumerator, bytes, npy) {#name, bytes},
    TESSERA_ELEMENT_TYPES(X)
#undef X
};

const char *tessera_element_name(tessera_element_t element) { return elements[element].name; }

int tessera_element_bytes(tessera_element_t element) { return elements[element].bytes; }

//===--- packed elements ---===//

static const tessera_packed_type_t packed_types[] = {
#define X(name, bits, exponent, fraction) {#name, bits, exponent, fraction},
    TESSERA_PACKED_TYPES(X)
#undef X
};

const tessera_packed_type_t *tessera_packed_type(const char *name) {
  for (size_t i = 0; i < sizeof packed_types / sizeof *packed_types; ++i)
    if (strcmp(packed_types[i].name, name) == 0)
      return &packed_types[i];
  return NULL;
}

int64_t tessera_packed_row_bytes(const tessera_packing_t *packing) {
  return packing->columns / 8 * packing->type->bits + (packing->columns % 8 * packing->type->bits + 7) / 8;
}

int64_t tessera_array_elements(const tessera_array_t *array) {
  if (!array->packing.type)
    return array->count;
  int64_t row = tessera_packed_row_bytes(&array->packing);
  return row ? array->count / row * array->packing.columns : 0;
}

// The byte where element |i| begins; the bit there.
static uint8_t *packed_place(const tessera_array_t *array, int64_t i, int *out_bit) {
  int64_t columns = array->packing.columns, bit = i % columns * array->packing.type->bits;
  *out_bit = (int)(bit % 8);
  return (uint8_t *)array->data + i / columns * tessera_packed_row_bytes(&array->packing) + bit / 8;
}

static uint64_t packed_bits(const tessera_array_t *array, int64_t i) {
  int bit, bits = array->packing.type->bits;
  const uint8_t *at = packed_place(array, i, &bit);
  unsigned word = at[0] | (bit + bits > 8 ? (unsigned)at[1] << 8 : 0);
  return word >> bit & ((1U << bits) - 1);
}

int64_t tessera_packed_get(const tessera_array_t *array, int64_t i) {
  const tessera_packed_type_t *type = array->packing.type;
  int64_t value = (int64_t)packed_bits(array, i);
  bool is_negative = !type->exponent && value >> (type->bits - 1);
  return is_negative ? value - (INT64_C(1) << type->bits) : value;
}

void tessera_packed_set(tessera_array_t *array, int64_t i, int64_t value) {
  int bit, bits = array->packing.type->bits;
  uint8_t *at = packed_place(array, i, &bit);
  unsigned word = ((unsigned)value & ((1U << bits) - 1)) << bit;
  at[0] |= (uint8_t)word;
  if (bit + bits > 8)
    at[1] |= (uint8_t)(word >> 8);
}

// All bits of these floats are numbers: there is neither nan nor an infinity.
double tessera_packed_number(const tessera_array_t *array, int64_t i) {
  const tessera_packed_type_t *type = array->packing.type;
  if (!type->exponent)
    return (double)tessera_packed_get(array, i);
  int bits = (int)packed_bits(array, i), digits = bits & ((1 << type->fraction) - 1);
  int exponent = bits >> type->fraction & ((1 << type->exponent) - 1);
  int least = 2 - (1 << (type->exponent - 1)); // of a normal number
  double value =
      ldexp(exponent ? digits + (1 << type->fraction) : digits, (exponent ? exponent - 1 : 0) + least - type->fraction);
  return bits >> (type->bits - 1) ? -value : value;
}

//===--- making and copying ---===//

// The product of the sizes. A zero among them makes it zero even where the others would overflow.
static bool count_elements(int rank, const int64_t *shape, int64_t *out_count, tessera_error_t *out_error) {
  bool too_many = false, empty = false;
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return tessera_fail(out_error, "size %d is %lld", i, (long long)shape[i]);
    empty = empty || shape[i] == 0;
    too_many = too_many || (shape[i] && __builtin_mul_overflow(count, shape[i], &count));
  }
  if (too_many && !empty)
    return tessera_fail(out_error, "has more elements than can be addressed");
  *out_count = empty ? 0 : count;
  return true;
}

bool tessera_array_create(tessera_element_t element, int rank, const int64_t *shape, tessera_array_t *out_array,
                          tessera_error_t *out_error) {
  tessera_array_t array = {.element = element, .rank = rank};
  if (rank < 0 || rank > TESSERA_MAX_RANK)
    return tessera_fail(out_error, "has rank %d, at most %d are supported", rank, TESSERA_MAX_RANK);
  if (!count_elements(rank, shape, &array.count, out_error))
    return false;
  int64_t bytes;
  if (__builtin_mul_overflow(array.count, (int64_t)elements[element].bytes, &bytes) || bytes > INT64_MAX / 2)
    return tessera_fail(out_error, "has more bytes than can be addressed");
  size_t rounded = bytes ? ((size_t)bytes + 63) / 64 * 64 : 64;
  if (posix_memalign(&array.data, 64, rounded) != 0)
    return tessera_fail(out_error, "no memory for %lld bytes", (long long)bytes);
  memset(array.data, 0, rounded);
  if (rank > 0)
    memcpy(array.shape, shape, (size_t)rank * sizeof *shape);
  *out_array = array;
  return true;
}

void tessera_array_destroy(tessera_array_t *array) {
  free(array->data);
  array->data = NULL;
}

void tessera_copy_strided(void *to, const void *from, int rank, const int64_t *shape, const int64_t *strides,
                          int bytes) {
  if (rank == 0) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  int64_t inner = bytes; // of one step along the first dimension, in |to|
  for (int i = 1; i < rank; ++i)
    inner *= shape[i];
  if (inner == 0)
    return;
  for (int64_t i = 0; i < shape[0]; ++i)
    tessera_copy_strided((char *)to + i * inner, (const char *)from + i * strides[0] * bytes, rank - 1, shape + 1,
                         strides + 1, bytes);
}

static char *describe(const char *element, int rank, const int64_t *shape, char *out_text, size_t size) {
  size_t length = 0;
  out_text[0] = 0;
  for (int i = 0; i < rank && length < size; ++i)
    length += (size_t)(shape[i] < 0 ? snprintf(out_text + length, size - length, "?x")
                                    : snprintf(out_text + length, size - length, "%lldx", (long long)shape[i]));
  if (length < size)
    snprintf(out_text + length, size - length, "%s", element);
  return out_text;
}

char *tessera_array_describe(const tessera_array_t *array, char *out_text, size_t size) {
  return describe(elements[array->element].name, array->rank, array->shape, out_text, size);
}

// "3x3xui8 (3x5xi4, each row in whole bytes)".
static char *describe_wanted(tessera_element_t element, int rank, const int64_t *shape,
                             const tessera_packing_t *packing, char *out_text, size_t size) {
  describe(elements[element].name, rank, shape, out_text, size);
  if (!packing || !packing->type)
    return out_text;
  int64_t logical[TESSERA_MAX_RANK];
  char text[200];
  memcpy(logical, shape, (size_t)rank * sizeof *logical);
  logical[rank - 1] = packing->columns;
  size_t length = strlen(out_text);
  snprintf(out_text + length, size - length, " (%s, each row in whole bytes)",
           describe(packing->type->name, rank, logical, text, sizeof text));
  return out_text;
}

static bool is_carrier_of(tessera_element_t carrier, tessera_element_t element) {
  bool is_f8 = element == TESSERA_F8E4M3FN || element == TESSERA_F8E5M2 || element == TESSERA_F8E8M0FNU;
  return carrier == element || (carrier == TESSERA_U16 && element == TESSERA_BF16) || (carrier == TESSERA_U8 && is_f8);
}

bool tessera_array_expect(tessera_array_t *array, const char *name, tessera_element_t element, int rank,
                          const int64_t *shape, const tessera_packing_t *packing, tessera_error_t *out_error) {
  bool same = is_carrier_of(array->element, element) && array->rank == rank;
  for (int i = 0; same && i < rank; ++i)
    same = shape[i] < 0 || shape[i] == array->shape[i];
  if (!same) {
    char is[256], wanted[512];
    return tessera_fail(out_error, "%s: is %s, expected %s", name, tessera_array_describe(array, is, sizeof is),
                        describe_wanted(element, rank, shape, packing, wanted, sizeof wanted));
  }
  array->element = element;
  if (packing)
    array->packing = *packing;
  return true;
}

char *tessera_array_describe_index(const tessera_array_t *array, int64_t at, char *out_text, size_t size) {
  bool is_packed = array->packing.type != NULL;
  int64_t below = tessera_array_elements(array);
  size_t length = (size_t)snprintf(out_text, size, "[");
  for (int i = 0; i < array->rank && length < size; ++i) {
    int64_t extent = is_packed && i == array->rank - 1 ? array->packing.columns : array->shape[i];
    below /= extent ? extent : 1;
    length += (size_t)snprintf(out_text + length, size - length, "%s%lld", i ? ", " : "", (long long)(at / below));
    at %= below;
  }
  if (length < size)
    snprintf(out_text + length, size - length, "]");
  return out_text;
}
