// Compares what a program gave with what the interpreter says it may give (docs/numerics.md §4, interpreter.h).
#include "lib/interpreter/interpreter.h"
#include "lib/support/f16.h"

#include <math.h>
#include <string.h>

// Integers beyond 2^53 keep their low digits in `integer`.
typedef struct Number {
  bool isFloat;
  double value;
  int64_t integer;
} Number;

#define READ(type, pointer, i) ((const type *)(pointer))[i]

static Number numberAt(const tessera_array_t *array, int64_t i) {
  int64_t integer = 0;
  switch (array->element) {
  case TESSERA_F64:
    return (Number){true, READ(double, array->data, i), 0};
  case TESSERA_F32:
    return (Number){true, (double)READ(float, array->data, i), 0};
  case TESSERA_F16:
    return (Number){true, (double)tessera_f16_to_f32(READ(uint16_t, array->data, i)), 0};
  case TESSERA_BF16:
    return (Number){true, (double)tessera_bf16_to_f32(READ(uint16_t, array->data, i)), 0};
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
  return (Number){false, (double)integer, integer};
}

// 0 when alike, inf when one is nan or inf and the other is not.
static double difference(Number seen, Number expected) {
  if (!seen.isFloat)
    return seen.integer == expected.integer ? 0 : fmax(1, fabs(seen.value - expected.value));
  if (isnan(seen.value) || isnan(expected.value))
    return isnan(seen.value) && isnan(expected.value) ? 0 : INFINITY;
  return seen.value == expected.value ? 0 : fabs(seen.value - expected.value);
}

static bool sameShape(const tessera_array_t *a, const tessera_array_t *b, tessera_error_t *error) {
  bool same = a->element == b->element && a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++)
    same = a->shape[i] == b->shape[i];
  char seen[256], wanted[256];
  return same || tessera_fail(error, "is %s, expected %s", tessera_array_describe(a, seen, sizeof seen),
                              tessera_array_describe(b, wanted, sizeof wanted));
}

bool tileJudge(const tessera_array_t *seen, const TileAnswer *expected, double rtol, double atol,
               TileJudgement *judgement, tessera_error_t *error) {
  *judgement = (TileJudgement){.isRight = true};
  if (!sameShape(seen, &expected->array, error))
    return false;
  double worst = -1;
  for (int64_t i = 0; i < seen->count; i++) {
    Number a = numberAt(seen, i), b = numberAt(&expected->array, i);
    double apart = difference(a, b), allowed = expected->bounds ? expected->bounds[i] : 0;
    if (rtol >= 0 || atol >= 0)
      allowed = fmax(rtol, 0) * fabs(b.value) + fmax(atol, 0);
    double relative = apart == 0 ? 0 : apart / fabs(b.value);
    judgement->maxAbsolute = fmax(judgement->maxAbsolute, apart);
    judgement->maxRelative = fmax(judgement->maxRelative, relative);
    bool isWrong = !(apart <= allowed); // nan is wrong
    judgement->wrong += isWrong;
    double badness = isWrong ? 2 + apart / (allowed + 1e-300) : apart > 0 ? apart / allowed : 0;
    if (!(badness <= worst)) {
      worst = badness;
      judgement->at = i;
      judgement->errorThere = apart;
      judgement->allowed = allowed;
    }
  }
  judgement->isRight = judgement->wrong == 0;
  return true;
}
