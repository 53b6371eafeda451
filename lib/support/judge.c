// judge.c - compares what a program gave with what it may give, element by element. See judge.h.
// Expects: arrays of one type. Leaves: the worst element and how many are wrong.
#include "lib/support/judge.h"

#include "lib/support/f16.h"

#include <math.h>
#include <stdlib.h>

// Integers beyond 2^53 keep their low digits in `integer`.
typedef struct number_t {
  bool is_float;
  double value;
  int64_t integer;
} number_t;

#define READ(type, pointer, i) ((const type *)(pointer))[i]

static number_t number_at(const tessera_array_t *array, int64_t i) {
  int64_t integer = 0;
  if (array->packing.type)
    return (number_t){array->packing.type->exponent > 0, tessera_packed_number(array, i), tessera_packed_get(array, i)};
  switch (array->element) {
  case TESSERA_F64:
    return (number_t){true, READ(double, array->data, i), 0};
  case TESSERA_F32:
    return (number_t){true, (double)READ(float, array->data, i), 0};
  case TESSERA_F16:
    return (number_t){true, (double)tessera_f16_to_f32(READ(uint16_t, array->data, i)), 0};
  case TESSERA_BF16:
    return (number_t){true, (double)tessera_bf16_to_f32(READ(uint16_t, array->data, i)), 0};
  case TESSERA_F8E4M3FN:
    return (number_t){true, (double)tessera_f8e4m3fn_to_f32(READ(uint8_t, array->data, i)), 0};
  case TESSERA_F8E5M2:
    return (number_t){true, (double)tessera_f8e5m2_to_f32(READ(uint8_t, array->data, i)), 0};
  case TESSERA_F8E8M0FNU:
    return (number_t){true, (double)tessera_f8e8m0fnu_to_f32(READ(uint8_t, array->data, i)), 0};
  case TESSERA_BOOL:
  case TESSERA_U8:
    integer = READ(uint8_t, array->data, i);
    break;
  case TESSERA_I8:
    integer = READ(int8_t, array->data, i);
    break;
  case TESSERA_I16:
    integer = READ(int16_t, array->data, i);
    break;
  case TESSERA_U16:
    integer = READ(uint16_t, array->data, i);
    break;
  case TESSERA_I32:
    integer = READ(int32_t, array->data, i);
    break;
  case TESSERA_U32:
    integer = READ(uint32_t, array->data, i);
    break;
  case TESSERA_I64:
  case TESSERA_U64:
    integer = READ(int64_t, array->data, i);
    break;
  case TESSERA_ELEMENT_COUNT:
    break;
  }
  return (number_t){false, (double)integer, integer};
}

double tessera_array_number(const tessera_array_t *array, int64_t i) { return number_at(array, i).value; }

// 0 when alike, inf when one is nan or inf and the other is not.
static double difference(number_t seen, number_t expected) {
  if (!seen.is_float)
    return seen.integer == expected.integer ? 0 : fmax(1, fabs(seen.value - expected.value));
  if (isnan(seen.value) || isnan(expected.value))
    return isnan(seen.value) && isnan(expected.value) ? 0 : INFINITY;
  return seen.value == expected.value ? 0 : fabs(seen.value - expected.value);
}

// Where no error is allowed, values are equal to the bit: -0 is not +0 (docs/numerics.md §4).
static bool differs_in_sign_of_zero(number_t seen, number_t expected) {
  return seen.is_float && seen.value == 0 && expected.value == 0 && !signbit(seen.value) != !signbit(expected.value);
}

static bool same_shape(const tessera_array_t *a, const tessera_array_t *b, tessera_error_t *out_error) {
  bool are_bytes = b->packing.type && tessera_element_bytes(a->element) == 1;
  bool same = (a->element == b->element || are_bytes) && a->rank == b->rank;
  for (int i = 0; same && i < a->rank; ++i)
    same = a->shape[i] == b->shape[i];
  char seen[256], wanted[256];
  return same || tessera_fail(out_error, "is %s, expected %s", tessera_array_describe(a, seen, sizeof seen),
                              tessera_array_describe(b, wanted, sizeof wanted));
}

bool tessera_judge(const tessera_array_t *given, const tessera_answer_t *expected, double rtol, double atol,
                   tessera_judgement_t *out_judgement, tessera_error_t *out_error) {
  *out_judgement = (tessera_judgement_t){.right = true};
  if (!same_shape(given, &expected->array, out_error))
    return false;
  double worst = -1;
  tessera_array_t packed = *given; // of the same bytes
  const tessera_array_t *seen = &packed;
  packed.packing = expected->array.packing;
  int64_t count = tessera_array_elements(seen);
  for (int64_t i = 0; i < count; ++i) {
    number_t a = number_at(seen, i), b = number_at(&expected->array, i);
    double apart = difference(a, b), allowed = expected->bounds ? expected->bounds[i] : 0;
    if (rtol >= 0 || atol >= 0)
      allowed = isfinite(b.value) ? fmax(rtol, 0) * fabs(b.value) + fmax(atol, 0) : 0;
    double relative = apart == 0 ? 0 : apart / fabs(b.value);
    out_judgement->max_absolute = fmax(out_judgement->max_absolute, apart);
    out_judgement->max_relative = fmax(out_judgement->max_relative, relative);
    bool is_wrong_zero = allowed == 0 && differs_in_sign_of_zero(a, b);
    bool is_wrong = is_wrong_zero || (apart != 0 && !(apart <= allowed)); // a nan difference or bound is wrong
    out_judgement->wrong += is_wrong;
    out_judgement->wrong_zeros += is_wrong_zero;
    double badness = is_wrong ? 2 + apart / (allowed + 1e-300) : apart > 0 ? apart / allowed : 0;
    if (!(badness <= worst)) {
      worst = badness;
      out_judgement->at = i;
      out_judgement->error_there = apart;
      out_judgement->allowed = allowed;
    }
  }
  out_judgement->right = out_judgement->wrong == 0;
  return true;
}

void tessera_answer_destroy(tessera_answer_t *answer) {
  tessera_array_destroy(&answer->array);
  free(answer->bounds);
  *answer = (tessera_answer_t){.bounds = NULL};
}
