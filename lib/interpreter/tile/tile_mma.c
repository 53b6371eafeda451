// Products of tiles (docs/numerics.md §4): products are exact, the sum is taken in f64 and rounded once, with a bound
// for any order; integers wrap. `precision tf32` rounds operands first; the split precisions give f32's bound.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/interpreter/tile/tile.h"

#include <math.h>
#include <stdlib.h>

bool interpretExpectNumbers(Machine *machine, const Instruction *instruction, const Array *array) {
  int64_t count = interpretArrayCount(array), index[InterpreterMaxRank] = {0};
  if (count == 0)
    return true;
  do
    if (!interpretElementExpect(machine, instruction, array->storage->elements[interpretPlaceOf(array, index)],
                                "multiplies"))
      return false;
  while (interpretIndexNext(array->rank, array->sizes, index));
  return true;
}

enum { Tf32Fraction = 10 };

typedef struct Product {
  const Array *lhs, *rhs, *accumulator, *const *scales;
  int64_t block, depth;
  Format operand, sum;
  bool isTf32, isUnsigned[2]; // the left and the right integers
  double looseness;           // of the precision: how many times f32's bound
} Product;

// Element [.., m, k] of a matrix, or of batch `b` of them.
static Element at(const Array *array, int64_t b, int64_t row, int64_t column) {
  int64_t place = array->offset + row * array->strides[array->rank - 2] + column * array->strides[array->rank - 1];
  return array->storage->elements[array->rank == 3 ? place + b * array->strides[0] : place];
}

static Element factor(const Product *product, Element x, Element scale) {
  if (product->isTf32) {
    // A target may keep the rest, or drop it: the neighbour toward zero is a unit away where this one is above.
    double rounded = formatRound(&interpretFormatTf32, x.f), kept = fabs(rounded - x.f);
    double dropped = fabs(rounded) > fabs(x.f) ? ldexp(1, ilogb(x.f) - Tf32Fraction) : 0;
    x = elementOfFloat(rounded, x.bound + (isfinite(kept) ? fmax(kept, dropped) : 0));
  }
  return product->scales ? elementOfFloat(x.f * scale.f, x.bound) : x;
}

// The scale of the `left` factor's row, or of the right one's column. One of two numbers is their product.
static Element scaleAt(const Product *product, bool left, int64_t b, int64_t place, int64_t block) {
  if (!product->scales)
    return elementOfFloat(1, 0);
  const Array *scales = product->scales[!left];
  int64_t blocks = scales->sizes[scales->rank - (left ? 1 : 2)], parts = blocks * product->block / product->depth;
  double scale = 1;
  for (int64_t i = block * parts; i < (block + 1) * parts; ++i)
    scale *= left ? at(scales, b, place, i).f : at(scales, b, i, place).f;
  return elementOfFloat(scale, 0);
}

static Element floatElement(const Product *product, int64_t b, int64_t m, int64_t n) {
  Sum sum = {0};
  sumAdd(&sum, at(product->accumulator, b, m, n));
  for (int64_t k = 0; k < product->depth; ++k) {
    int64_t block = product->scales ? k / product->block : 0;
    Element x = factor(product, at(product->lhs, b, m, k), scaleAt(product, true, b, m, block));
    Element y = factor(product, at(product->rhs, b, k, n), scaleAt(product, false, b, n, block));
    sumAddProduct(&sum, x, y);
  }
  Element result = interpretSumFinish(&sum, &product->sum);
  result.bound += (product->looseness - 1) * product->sum.epsilon * sum.magnitudes;
  return result;
}

static Element integerElement(const Product *product, int64_t b, int64_t m, int64_t n) {
  Element result = at(product->accumulator, b, m, n);
  uint64_t sum = (uint64_t)result.i;
  for (int64_t k = 0; k < product->depth; ++k) {
    Element x = at(product->lhs, b, m, k), y = at(product->rhs, b, k, n);
    uint64_t left = product->isUnsigned[0] ? (uint8_t)x.i : (uint64_t)x.i;
    sum += left * (product->isUnsigned[1] ? (uint8_t)y.i : (uint64_t)y.i);
    result.bound = x.bound > 0 || y.bound > 0 ? INFINITY : result.bound;
  }
  result.i = interpretFormatWrap(&product->sum, sum);
  return result;
}

Array *interpretMultiplied(Machine *machine, const Instruction *instruction, const Array *lhs, const Array *rhs,
                           const Array *accumulator, const Array *const *scales, int64_t block) {
  MlirStringRef precision = interpretWordOf(instruction, "precision");
  Product product = {lhs, rhs, accumulator, scales, block, lhs->sizes[lhs->rank - 1], .operand = instruction->in};
  // A product that runs by itself takes factors of f32 as tf32.
  bool isAsync = tileMmaAsyncOpIsA(instruction->op) && instruction->in.isFloat && instruction->in.width == 32;
  product.isTf32 = tileStringEquals(precision, "tf32") || isAsync;
  const TileDot *dot = tileDotOf(instruction->op);
  for (int i = 0; i < 2; ++i)
    product.isUnsigned[i] = dot && dot->isUnsigned[i];
  product.looseness = tileStringEquals(precision, "bf16x3") ? 256 : 1;
  intptr_t sumOperand = instruction->numResults ? -1 : interpretGroupBegin(instruction, 2);
  interpretFormatOf(interpretElementTypeOf(sumOperand < 0
                                               ? tileOnlyResultType(instruction->op)
                                               : tileTypeGetElement(tileOperandType(instruction->op, sumOperand))),
                    &product.sum);
  int rank = accumulator->rank;
  Array *result = interpretNewArray(machine, instruction, rank, accumulator->sizes);
  if (!result || !interpretExpectNumbers(machine, instruction, lhs) ||
      !interpretExpectNumbers(machine, instruction, rhs) ||
      !interpretExpectNumbers(machine, instruction, accumulator) ||
      !interpretStep(machine, instruction->op, interpretArrayCount(accumulator) * product.depth)) {
    if (result)
      valueRelease(valueOfObject(&result->object));
    return NULL;
  }
  Element *to = arrayElements(result);
  for (int64_t b = 0; b < (rank == 3 ? result->sizes[0] : 1); ++b)
    for (int64_t m = 0; m < result->sizes[rank - 2]; ++m)
      for (int64_t n = 0; n < result->sizes[rank - 1]; ++n)
        *to++ = product.sum.isFloat ? floatElement(&product, b, m, n) : integerElement(&product, b, m, n);
  return result;
}

bool interpretTileMma(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *result =
      interpretMultiplied(machine, instruction, arrayOperand(frame, instruction, 0),
                          arrayOperand(frame, instruction, 1), arrayOperand(frame, instruction, 2), NULL, 0);
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return result != NULL;
}

// The left factor with its zeros: elements 2 i and 2 i + 1 of `kept` stand among columns 4 i to 4 i + 3.
static bool expandKept(Machine *machine, const Instruction *instruction, const Array *kept, const Array *places,
                       Array *dense) {
  Element *to = arrayElements(dense);
  int64_t columns = dense->sizes[1];
  for (int64_t i = 0; i < interpretArrayCount(dense); ++i)
    to[i] = elementOfFloat(0, 0);
  for (int64_t row = 0; row < kept->sizes[0]; ++row)
    for (int64_t i = 0; i < kept->sizes[1]; i += 2) {
      Element place = at(places, 0, row, i / 4), x = at(kept, 0, row, i), y = at(kept, 0, row, i + 1);
      int64_t shift = 2 * (i % 4), first = place.i >> shift & 3, second = place.i >> (shift + 2) & 3;
      if (!interpretElementExpect(machine, instruction, place, "multiplies at"))
        return false;
      if (first >= second)
        return interpretFail(machine, instruction->op,
                             "has elements %lld and %lld of row %lld at %lld and %lld of four, "
                             "expected ascending indices",
                             (long long)i, (long long)i + 1, (long long)row, (long long)first, (long long)second);
      to[row * columns + 2 * i + first] = x;
      to[row * columns + 2 * i + second] = y;
    }
  return true;
}

bool interpretTileMmaSparse(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *kept = arrayOperand(frame, instruction, 0), *rhs = arrayOperand(frame, instruction, 1);
  Array *dense = interpretNewArray(machine, instruction, 2, (int64_t[]){kept->sizes[0], rhs->sizes[0]}), *result = NULL;
  if (dense && expandKept(machine, instruction, kept, arrayOperand(frame, instruction, 3), dense))
    result = interpretMultiplied(machine, instruction, dense, rhs, arrayOperand(frame, instruction, 2), NULL, 0);
  if (dense)
    valueRelease(valueOfObject(&dense->object));
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return result != NULL;
}

bool interpretTileMmaScaled(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *scales[] = {arrayOperand(frame, instruction, 1), arrayOperand(frame, instruction, 3)};
  if (!interpretExpectNumbers(machine, instruction, scales[0]) ||
      !interpretExpectNumbers(machine, instruction, scales[1]))
    return false;
  Array *result = interpretMultiplied(machine, instruction, arrayOperand(frame, instruction, 0),
                                      arrayOperand(frame, instruction, 2), arrayOperand(frame, instruction, 4), scales,
                                      interpretIntegerOf(instruction, "block"));
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return result != NULL;
}
