// The ops of vector that give elements another place, and masks.
#include "lib/interpreter/upstream/upstream.h"
#include "lib/interpreter/upstream/vectors.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

int interpretVectorNumbers(const Instruction *instruction, const char *name, int count, int64_t *numbers) {
  MlirAttribute attribute = tileOpAttribute(instruction->op, name);
  bool isArray = mlirAttributeIsAArray(attribute);
  int known = (int)(isArray ? mlirArrayAttrGetNumElements(attribute) : mlirDenseArrayGetNumElements(attribute));
  for (int i = 0; i < known && i < count; ++i)
    numbers[i] = isArray ? mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(attribute, i))
                         : mlirDenseI64ArrayGetElement(attribute, i);
  return known < count ? known : count;
}

Array *interpretNewVector(Machine *machine, const Instruction *instruction) {
  return interpretVectorExpectFixed(machine, instruction, tileFirstResultType(instruction->op))
             ? interpretNewResult(machine, instruction, 0)
             : NULL;
}

//===--- places -------------------------------------------------------------------------===//

bool interpretVectorTranspose(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t order[InterpreterMaxRank], at[InterpreterMaxRank] = {0}, source[InterpreterMaxRank];
  Array *to = interpretNewVector(machine, instruction);
  interpretVectorNumbers(instruction, "permutation", from->rank, order);
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i) {
    for (int d = 0; d < to->rank; ++d)
      source[order[d]] = at[d];
    arrayElements(to)[i] = from->storage->elements[interpretPlaceOf(from, source)];
    interpretIndexNext(to->rank, to->sizes, at);
  }
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorShapeCast(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  Array *to = interpretNewVector(machine, instruction);
  if (to)
    memcpy(arrayElements(to), arrayElements(from), (size_t)interpretArrayCount(to) * sizeof(Element));
  return interpretGiveVector(frame, instruction, to);
}

// The place in the wide vector of an element of the narrow one: its last dimensions are those of the narrow vector, the
// offsets count from the first dimension.
static int64_t widePlace(const Array *wide, const Array *narrow, const int64_t *at, const int64_t *offsets,
                         int numOffsets, const int64_t *strides) {
  int64_t place[InterpreterMaxRank];
  int lead = wide->rank - narrow->rank;
  for (int d = 0; d < wide->rank; ++d) {
    int64_t step = d < lead ? 0 : at[d - lead] * (d - lead < numOffsets ? strides[d - lead] : 1);
    place[d] = (d < numOffsets ? offsets[d] : 0) + step;
  }
  return interpretPlaceOf(wide, place);
}

bool interpretVectorExtractStridedSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t offsets[InterpreterMaxRank], strides[InterpreterMaxRank], at[InterpreterMaxRank] = {0};
  int count = interpretVectorNumbers(instruction, "offsets", InterpreterMaxRank, offsets);
  interpretVectorNumbers(instruction, "strides", InterpreterMaxRank, strides);
  Array *to = interpretNewVector(machine, instruction);
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i) {
    arrayElements(to)[i] = from->storage->elements[widePlace(from, to, at, offsets, count, strides)];
    interpretIndexNext(to->rank, to->sizes, at);
  }
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorInsertStridedSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t offsets[InterpreterMaxRank], strides[InterpreterMaxRank], at[InterpreterMaxRank] = {0};
  int count = interpretVectorNumbers(instruction, "offsets", InterpreterMaxRank, offsets);
  interpretVectorNumbers(instruction, "strides", InterpreterMaxRank, strides);
  if (!interpretVectorExpectFixed(machine, instruction, tileOnlyResultType(instruction->op)))
    return false;
  Array *to = interpretArrayCopy(arrayOperand(frame, instruction, 1));
  if (!to)
    return interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; i < interpretArrayCount(from); ++i) {
    to->storage->elements[widePlace(to, from, at, offsets, count, strides)] = arrayElements(from)[i];
    interpretIndexNext(from->rank, from->sizes, at);
  }
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorInterleave(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *to = interpretNewVector(machine, instruction);
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i)
    arrayElements(to)[i] = arrayElements(arrayOperand(frame, instruction, i % 2))[i / 2];
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorDeinterleave(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  for (int odd = 0; odd < 2; ++odd) {
    Array *to = interpretNewVector(machine, instruction);
    if (!to)
      return false;
    for (int64_t i = 0; i < interpretArrayCount(to); ++i)
      arrayElements(to)[i] = arrayElements(from)[2 * i + odd];
    setResult(frame, instruction, odd, valueOfObject(&to->object));
  }
  return true;
}

bool interpretVectorToElements(Machine *machine, Frame *frame, const Instruction *instruction) {
  for (int i = 0; i < instruction->numResults; ++i)
    setResult(frame, instruction, i, valueOfElement(arrayElements(arrayOperand(frame, instruction, 0))[i]));
  return true;
}

//===--- bits ---------------------------------------------------------------------------===//

static uint64_t bitsOf(const Format *format, Element x) {
  uint64_t bits = format->isFloat ? interpretFormatToBits(format, x.f) : (uint64_t)x.i;
  return format->width < 64 ? bits & ((UINT64_C(1) << format->width) - 1) : bits;
}

// The bits of a row, lowest first, cut anew. What has no number, or an uncertain one, makes all that it takes part in
// so.
bool interpretVectorBitcast(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  const Format *in = &instruction->in, *out = &instruction->out;
  Array *to = interpretNewVector(machine, instruction);
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i) {
    int64_t first = i * (int64_t)out->width; // rows are as long on both sides, in bits
    uint64_t bits = 0;
    double bound = 0;
    for (int64_t bit = 0; bit < (int64_t)out->width; ++bit) {
      Element x = arrayElements(from)[(first + bit) / in->width];
      if (elementIsMissing(x))
        bound = x.bound;
      else if (bound == 0 && x.bound > 0)
        bound = INFINITY;
      if (!elementIsMissing(x))
        bits |= (bitsOf(in, x) >> (first + bit) % in->width & 1) << bit;
    }
    Element *x = &arrayElements(to)[i];
    *x = out->isFloat ? elementOfFloat(interpretFormatFromBits(out, bits), 0)
                      : elementOfInteger(interpretFormatWrap(out, bits));
    x->bound = bound;
  }
  return interpretGiveVector(frame, instruction, to);
}

//===--- masks --------------------------------------------------------------------------===//

static bool giveMask(Machine *machine, Frame *frame, const Instruction *instruction, const int64_t *limits) {
  int64_t at[InterpreterMaxRank] = {0};
  Array *mask = interpretNewVector(machine, instruction);
  for (int64_t i = 0; mask && i < interpretArrayCount(mask); ++i) {
    bool isIn = mask->rank > 0 || limits[0] > 0;
    for (int d = 0; d < mask->rank; ++d)
      isIn &= at[d] < limits[d];
    arrayElements(mask)[i] = elementOfInteger(isIn ? -1 : 0);
    interpretIndexNext(mask->rank, mask->sizes, at);
  }
  return interpretGiveVector(frame, instruction, mask);
}

bool interpretVectorConstantMask(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t limits[InterpreterMaxRank] = {0};
  interpretVectorNumbers(instruction, "mask_dim_sizes", InterpreterMaxRank, limits);
  return giveMask(machine, frame, instruction, limits);
}

bool interpretVectorCreateMask(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t limits[InterpreterMaxRank];
  return interpretIndexOperands(machine, frame, instruction, 0, instruction->numOperands, limits) &&
         giveMask(machine, frame, instruction, limits);
}
