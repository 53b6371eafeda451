// Elements: out of attributes, op by op over whole tiles, and sums with their bounds (docs/numerics.md §4).
// Expects: formats decoded in the instruction. Leaves: fresh arrays.
#include "lib/interpreter/machine/machine.h"
#include "upstream/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===--- types and attributes -----------------------------------------------------===//

bool interpretTypeIsShaped(MlirType type) { return mlirTypeIsAShaped(type); }

MlirType interpretElementTypeOf(MlirType type) {
  return interpretTypeIsShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

bool interpretElementOfAttribute(MlirAttribute attribute, Element *x) {
  if (mlirAttributeIsABool(attribute))
    *x = elementOfInteger(mlirBoolAttrGetValue(attribute) ? -1 : 0);
  else if (mlirAttributeIsAFloat(attribute))
    *x = elementOfFloat(mlirFloatAttrGetValueDouble(attribute), 0);
  else if (mlirAttributeIsAInteger(attribute)) {
    Format format;
    MlirType type = mlirAttributeGetType(attribute);
    if (!interpretFormatOf(type, &format))
      return false;
    uint64_t bits = mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type) ? mlirIntegerAttrGetValueUInt(attribute)
                    : mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type)
                        ? (uint64_t)mlirIntegerAttrGetValueSInt(attribute)
                        : (uint64_t)mlirIntegerAttrGetValueInt(attribute);
    *x = elementOfInteger(interpretFormatWrap(&format, bits));
  } else
    return false;
  return true;
}

static Element elementOfBytes(const Format *format, const char *data) {
  uint64_t bits = 0;
  memcpy(&bits, data, (format->width + 7) / 8);
  return format->isFloat ? elementOfFloat(interpretFormatFromBits(format, bits), 0)
                         : elementOfInteger(interpretFormatWrap(format, bits));
}

// A resource's bytes are whole elements; null for one that is missing.
static bool fillFromBytes(MlirAttribute attribute, const Format *format, Array *array) {
  size_t size, bytes = (format->width + 7) / 8;
  const char *data = (const char *)tileElementsBytes(attribute, &size);
  int64_t count = interpretArrayCount(array);
  if (count > 0 && (!data || size != (size_t)count * bytes))
    return false;
  for (int64_t i = 0; i < count; ++i)
    arrayElements(array)[i] = elementOfBytes(format, data + (size_t)i * bytes);
  return true;
}

static bool fillFromElements(MlirAttribute attribute, const Format *format, Array *array) {
  int64_t count = interpretArrayCount(array);
  bool isSplat = mlirDenseElementsAttrIsSplat(attribute);
  const char *data = mlirDenseElementsAttrGetRawData(attribute);
  for (int64_t i = 0; i < count; ++i) {
    Element *x = &arrayElements(array)[i];
    if (format->width == 1) {
      bool value =
          isSplat ? mlirDenseElementsAttrGetBoolSplatValue(attribute) : mlirDenseElementsAttrGetBoolValue(attribute, i);
      *x = elementOfInteger(value ? -1 : 0);
    } else
      *x = elementOfBytes(format, data + (isSplat ? 0 : i) * (int64_t)((format->width + 7) / 8));
  }
  return true;
}

// Zeros, and values at the places that the attribute lists.
static bool fillFromPlaces(MlirAttribute attribute, const Format *format, Array *array) {
  MlirAttribute indices = mlirSparseElementsAttrGetIndices(attribute);
  int64_t index[InterpreterMaxRank];
  InterpretValue values;
  if (!interpretValueOfAttribute(mlirSparseElementsAttrGetValues(attribute), &values))
    return false;
  bool isSplat = mlirDenseElementsAttrIsSplat(indices);
  for (int64_t i = 0; i < interpretArrayCount(array); ++i)
    arrayElements(array)[i] = elementOfInteger(0); // of floats the same: all bits are zero
  for (int64_t i = 0; i < interpretArrayCount(arrayOf(values)); ++i) {
    for (int axis = 0; axis < array->rank; ++axis)
      index[axis] = isSplat ? mlirDenseElementsAttrGetInt64SplatValue(indices)
                            : mlirDenseElementsAttrGetInt64Value(indices, i * array->rank + axis);
    array->storage->elements[interpretPlaceOf(array, index)] = arrayElements(arrayOf(values))[i];
  }
  valueRelease(values);
  return true;
}

bool interpretValueOfAttribute(MlirAttribute attribute, InterpretValue *value) {
  if (interpretElementOfAttribute(attribute, &value->scalar)) {
    value->object = NULL;
    return true;
  }
  Format format;
  int64_t sizes[InterpreterMaxRank];
  bool isResource = mlirAttributeIsADenseResourceElements(attribute);
  bool isSparse = mlirAttributeIsASparseElements(attribute);
  if ((!mlirAttributeIsADenseElements(attribute) && !isResource && !isSparse) ||
      !interpretFormatOf(interpretElementTypeOf(mlirAttributeGetType(attribute)), &format))
    return false;
  int rank = (int)mlirShapedTypeGetRank(mlirAttributeGetType(attribute));
  for (int i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(mlirAttributeGetType(attribute), i);
  Array *array = interpretCountOf(rank, sizes) > INT64_C(1) << 30 ? NULL : interpretArrayCreate(rank, sizes);
  if (!array)
    return false;
  *value = valueOfObject(&array->object);
  if ((isResource ? fillFromBytes : isSparse ? fillFromPlaces : fillFromElements)(attribute, &format, array))
    return true;
  valueRelease(*value);
  *value = (InterpretValue){.object = NULL};
  return false;
}

//===--- element by element ---------------------------------------------------------===//

bool interpretApplyScalar(Machine *machine, const Instruction *instruction, const Element *x, Element *results) {
  for (int i = 0; i < instruction->numOperands; ++i)
    if (elementIsMissing(x[i])) {
      if (x[i].bound != ELEMENT_POISON)
        return interpretElementExpect(machine, instruction, x[i], "uses");
      for (int r = 0; r < instruction->numResults; ++r)
        results[r] = elementMissing(ELEMENT_POISON);
      return true;
    }
  return instruction->scalar(machine, instruction, x, results);
}

bool interpretApplyScalars(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,
                           const int64_t *steps, Element *const *results) {
  if (instruction->stripe)
    return instruction->stripe(machine, instruction, count, x, steps, results);
  for (int64_t at = 0; at < count; ++at) {
    Element operands[MaxScalarOperands], y[MaxScalarResults];
    for (int i = 0; i < instruction->numOperands; ++i)
      operands[i] = x[i][at * steps[i]];
    if (!interpretApplyScalar(machine, instruction, operands, y))
      return false;
    for (int r = 0; r < instruction->numResults; ++r)
      results[r][at] = y[r];
  }
  return true;
}

bool interpretExpectSizes(Machine *machine, Frame *frame, const Instruction *instruction, const Array *shape) {
  for (int i = 0; i < instruction->numOperands; ++i) {
    const Array *array = operandOf(frame, instruction, i).object ? arrayOperand(frame, instruction, i) : NULL;
    for (int r = 0; array && r < shape->rank; ++r)
      if (array->sizes[r] != shape->sizes[r])
        return interpretFail(machine, instruction->op,
                             "has operands that disagree: dimension %d of operand %d has size %lld, expected %lld", r,
                             i, (long long)array->sizes[r], (long long)shape->sizes[r]);
  }
  return true;
}

static bool elementwiseOnArrays(Machine *machine, Frame *frame, const Instruction *instruction, const Array *shape) {
  Array *results[MaxScalarResults] = {NULL};
  Element *to[MaxScalarResults] = {NULL};
  const Element *from[MaxScalarOperands];
  int64_t steps[MaxScalarOperands], count = interpretArrayCount(shape);
  if (!interpretExpectSizes(machine, frame, instruction, shape))
    return false;
  for (int i = 0; i < instruction->numOperands; ++i) {
    steps[i] = operandOf(frame, instruction, i).object != NULL;
    from[i] =
        steps[i] ? arrayElements(arrayOperand(frame, instruction, i)) : &frame->slots[instruction->operands[i]].scalar;
  }
  bool ok = true;
  for (int r = 0; r < instruction->numResults && ok; ++r) {
    ok = (results[r] = interpretNewArray(machine, instruction, shape->rank, shape->sizes)) != NULL;
    to[r] = ok ? arrayElements(results[r]) : NULL;
  }
  ok = ok && interpretApplyScalars(machine, instruction, count, from, steps, to);
  for (int r = 0; r < instruction->numResults; ++r)
    if (results[r])
      setResult(frame, instruction, r, valueOfObject(&results[r]->object));
  return ok;
}

bool interpretElementwise(Machine *machine, Frame *frame, const Instruction *instruction) {
  Element x[MaxScalarOperands], y[MaxScalarResults];
  for (int i = 0; i < instruction->numOperands; ++i) {
    InterpretValue value = operandOf(frame, instruction, i);
    if (value.object)
      return elementwiseOnArrays(machine, frame, instruction, arrayOf(value));
    x[i] = value.scalar;
  }
  if (!interpretApplyScalar(machine, instruction, x, y))
    return false;
  for (int r = 0; r < instruction->numResults; ++r)
    setResult(frame, instruction, r, valueOfElement(y[r]));
  return true;
}

bool interpretCombineElements(Machine *machine, const Instruction *instruction, const Row *row, const Format *format,
                              Element a, Element b, Element *result) {
  Instruction combine = {.op = instruction->op, .numOperands = 2, .numResults = 1, .in = *format, .out = *format};
  combine.scalar = row->scalar;
  return interpretApplyScalar(machine, &combine, (Element[]){a, b}, result);
}

//===--- sums -----------------------------------------------------------------------===//

// c is one more than the terms: each product may be rounded too. A sum of one term is that term; sums that are exact
// in the format (all their magnitudes add up within its digits) still may be rounded on the way in another order.
Element interpretSumFinish(const Sum *sum, const Format *format) {
  double value = formatRound(format, sum->value);
  if (sum->terms < 2 && sum->errors == 0)
    return elementOfFloat(value, value == sum->value ? 0 : format->epsilon * fabs(sum->value));
  // Where finite terms may overflow in some order, a partial sum is infinite, and with another one nan.
  if (sum->terms > 1 && sum->finite > format->largest)
    return elementOfFloat(value, INFINITY);
  if (!isfinite(sum->value))
    return elementOfFloat(value, 0);
  double bound = ((double)sum->terms + 1) * format->epsilon * sum->magnitudes + 2 * format->epsilon * fabs(value) +
                 format->tiny + sum->errors;
  return elementOfFloat(value, isnan(bound) ? INFINITY : bound);
}

void interpretProductAdd(Sum *product, Element x) {
  double size = fabs(x.f);
  if (product->terms++ == 0)
    *product = (Sum){x.f, 1, x.bound, 1, 1};
  else {
    product->errors = x.bound == 0 && product->errors == 0
                          ? 0
                          : fabs(product->value) * x.bound + size * product->errors + product->errors * x.bound;
    product->value *= x.f;
  }
  product->magnitudes *= size > 1 && isfinite(size) ? size : 1;
  product->finite *= size > 0 && size < 1 ? size : 1;
}

// Where some order overflows, a factor below 1 may bring the number back or not, and 0 makes nan of it. Where some
// order underflows, what is lost of the smallest number is multiplied by the largest.
Element interpretProductFinish(const Sum *product, const Format *format) {
  double value = formatRound(format, product->value), smallestNormal = format->tiny / (2 * format->epsilon);
  if (product->terms < 2 && product->errors == 0)
    return elementOfFloat(value, value == product->value ? 0 : format->epsilon * fabs(product->value));
  bool mayOverflow = product->magnitudes > format->largest, mayVanish = product->finite < format->tiny;
  if ((mayOverflow && (product->finite < 1 || !isinf(value))) || (mayVanish && isinf(product->value)))
    return elementOfFloat(value, INFINITY);
  if (!isfinite(value)) // near the largest number some order's roundings may stay finite
    return elementOfFloat(value, fabs(product->value) / 2 <= format->largest ? INFINITY : 0);
  double terms = (double)product->terms;
  double lost = product->finite < smallestNormal ? terms * format->tiny * product->magnitudes : 0;
  double bound = (terms + 3) * format->epsilon * fabs(product->value) + format->tiny + product->errors + lost;
  return elementOfFloat(value, isnan(bound) ? INFINITY : bound);
}

bool interpretReduceElements(Machine *machine, const Instruction *instruction, TileUpstream kind, const Element *values,
                             int64_t count, Element *result) {
  const Format *format = &instruction->in;
  const Row *row = kind == TileUpstream_None ? NULL : interpretRowFind(kind);
  if (!row)
    return interpretUnknown(machine, instruction->op, "not interpreted yet: this reduction");
  bool isSum = kind == (TileUpstream)ArithOp_AddF, isProduct = kind == (TileUpstream)ArithOp_MulF;
  Sum sum = {.terms = 0};
  *result = values[0];
  for (int64_t i = 0; i < count; ++i) {
    if (!interpretElementExpect(machine, instruction, values[i], "combines"))
      return false;
    if (isSum || isProduct)
      (isSum ? sumAdd : interpretProductAdd)(&sum, values[i]);
    else if (i && !interpretCombineElements(machine, instruction, row, format, *result, values[i], result))
      return false;
  }
  if (isSum || isProduct)
    *result = (isSum ? interpretSumFinish : interpretProductFinish)(&sum, format);
  return true;
}
