// The meaning of quantized tensors, by dialects/tile/quantized.h: (code - zero) * scale, element by element.
#include "dialects/tile/quantized.h"

#include "dialects/tile/ops.h"
#include "lib/interpreter/tile/tile.h"
#include "lib/interpreter/tile/tile_quantized.h"

#include <math.h>
#include <stdlib.h>

Quantized *interpretQuantizedCreate(int count, const InterpretValue *parts) {
  Quantized *quantized = malloc(sizeof *quantized + (size_t)count * sizeof *parts);
  if (!quantized)
    return NULL;
  quantized->object = (Object){1, ObjectQuantized};
  quantized->count = count;
  for (int i = 0; i < count; ++i)
    quantized->parts[i] = valueRetain(parts[i]);
  return quantized;
}

void interpretQuantizedClear(Quantized *quantized) {
  for (int i = 0; i < quantized->count; ++i)
    valueRelease(quantized->parts[i]);
}

bool interpretTileAssembleQuantized(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue parts[TileQuantizedMaxParts];
  for (int i = 0; i < instruction->numOperands; ++i)
    parts[i] = operandOf(frame, instruction, i);
  Quantized *quantized = interpretQuantizedCreate(instruction->numOperands, parts);
  if (!quantized)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&quantized->object));
  return true;
}

bool interpretTileDisassembleQuantized(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue input = valueRetain(operandOf(frame, instruction, 0));
  for (int i = 0; i < quantizedOf(input)->count; ++i)
    setResult(frame, instruction, i, valueRetain(quantizedOf(input)->parts[i]));
  valueRelease(input);
  return true;
}

//===--- elements ---------------------------------------------------------------------===//

typedef struct Formula {
  TileQuantization q;
  const Array *parts[TileQuantizedMaxParts]; // by role
  Format code, zero, arithmetic, result;
} Formula;

static double numberOf(const Format *format, bool isUnsigned, Element x) {
  if (format->isFloat)
    return x.f;
  return isUnsigned ? (double)interpretFormatUnsigned(format, x.i) : (double)x.i;
}

// How far another right answer may lie: by that of each factor (`near`, `far` are the factors' sizes).
static double boundOf(double near, double nearBound, double far, double farBound) {
  return nearBound || farBound ? fabs(near) * farBound + fabs(far) * nearBound + nearBound * farBound : 0;
}

static Element times(const Format *format, Element x, Element y) {
  double value = formatRound(format, x.f * y.f), bound = boundOf(x.f, x.bound, y.f, y.bound);
  return elementOfFloat(value, bound ? bound + fabs(value) * format->epsilon : 0);
}

static Element minus(const Format *format, Element x, Element y) {
  double value = formatRound(format, x.f - y.f), bound = x.bound + y.bound;
  return elementOfFloat(value, bound ? bound + fabs(value) * format->epsilon : 0);
}

// The first part that has no number there, if one has none.
static Element evaluate(const Formula *f, int64_t at, int64_t group) {
  const Format *format = &f->arithmetic;
  Element code = arrayElements(f->parts[TileQuantized_Codes])[at],
          scale = arrayElements(f->parts[TileQuantized_Scales])[group];
  Element zero = elementOfFloat(0, 0), own = elementOfFloat(1, 0);
  if (f->parts[TileQuantized_Zeros])
    zero = arrayElements(f->parts[TileQuantized_Zeros])[group];
  if (f->parts[TileQuantized_TensorScale])
    own = arrayElements(f->parts[TileQuantized_TensorScale])[0];
  const Element all[] = {code, scale, zero, own};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (elementIsMissing(all[i]))
      return all[i];
  Element x = elementOfFloat(numberOf(&f->code, f->q.isUnsigned, code), code.bound);
  if (f->parts[TileQuantized_Table])
    x = arrayElements(f->parts[TileQuantized_Table])[interpretFormatUnsigned(&f->code, code.i)];
  if (elementIsMissing(x))
    return x;
  if (f->parts[TileQuantized_Zeros])
    zero = elementOfFloat(numberOf(&f->zero, f->q.isZeroUnsigned, zero), zero.bound);
  if (f->parts[TileQuantized_Zeros] && !f->q.isZeroAfterScale)
    x = minus(format, x, zero);
  x = times(format, x, scale);
  if (f->q.isZeroAfterScale)
    x = minus(format, x, zero);
  if (f->parts[TileQuantized_TensorScale])
    x = times(format, x, own);
  return elementOfFloat(formatRound(&f->result, x.f), x.bound ? x.bound + fabs(x.f) * f->result.epsilon : 0);
}

// The group that the order has at `index` of its axis.
static bool groupOf(Machine *machine, MlirOperation op, const Formula *f, int64_t index, int64_t groups,
                    int64_t *number) {
  Element element = arrayElements(f->parts[TileQuantized_Order])[index];
  *number = element.i;
  if (elementIsMissing(element))
    return interpretFail(machine, op, "the order of groups has no number at %lld", (long long)index);
  return (*number >= 0 && *number < groups) ||
         interpretFail(machine, op, "the order of groups has %lld at %lld; there are %lld groups", (long long)*number,
                       (long long)index, (long long)groups);
}

bool interpretTileDequantize(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyOperandType(instruction->op);
  const Quantized *input = quantizedOf(operandOf(frame, instruction, 0));
  TileQuantizedPart parts[TileQuantizedMaxParts];
  intptr_t count = tileQuantizedTypeGetParts(type, parts);
  Formula f = {.q = tileQuantizedTypeGet(type)};
  int64_t index[InterpreterMaxRank] = {0};
  for (intptr_t i = 0; i < count; ++i)
    f.parts[parts[i].role] = arrayOf(input->parts[i]);
  interpretFormatOf(f.q.codes, &f.code);
  if (!mlirTypeIsNull(f.q.zero))
    interpretFormatOf(f.q.zero, &f.zero);
  interpretFormatOf(mlirShapedTypeGetElementType(type), &f.result);
  f.arithmetic = f.result.width == 64 ? interpretFormatF64 : interpretFormatF32;
  Array *result = interpretNewResult(machine, instruction, 0);
  if (!result)
    return false;
  const Array *scales = f.parts[TileQuantized_Scales];
  for (int64_t at = 0; at < interpretArrayCount(result); ++at) {
    int64_t group = 0;
    for (int axis = 0; axis < result->rank; ++axis) {
      int64_t number = index[axis] / f.q.group[axis];
      if (axis == f.q.orderAxis && !groupOf(machine, instruction->op, &f, index[axis], scales->sizes[axis], &number))
        return false;
      group = group * scales->sizes[axis] + number;
    }
    arrayElements(result)[at] = evaluate(&f, at, group);
    interpretIndexNext(result->rank, result->sizes, index);
  }
  interpretSetArray(frame, instruction, 0, result);
  return true;
}
