// linalg.softmax by definition: exp(x - m) / Σ exp(x - m) along a dimension, m the row's maximum, in f64.
// Bound: the subtraction, the exponential and the division round, the sum has n terms (docs/numerics.md §4, §7).
#include "lib/interpreter/upstream/upstream.h"

#include <math.h>

void interpretSoftmaxRead(SoftmaxRow *row, Element x) {
  row->maximum = isnan(x.f) || isnan(row->maximum) ? NAN : row->terms ? fmax(row->maximum, x.f) : x.f;
  row->error = fmax(row->error, x.bound);
  ++row->terms;
}

void interpretSoftmaxSum(SoftmaxRow *row, Element x) { row->sum += exp(x.f - row->maximum); }

static bool readRow(Machine *machine, const Instruction *instruction, const Array *from, int64_t place, int axis,
                    SoftmaxRow *row) {
  *row = (SoftmaxRow){0};
  for (int64_t i = 0; i < from->sizes[axis]; ++i) {
    Element x = from->storage->elements[place + i * from->strides[axis]];
    if (!interpretElementExpect(machine, instruction, x, "uses"))
      return false;
    interpretSoftmaxRead(row, x);
  }
  for (int64_t i = 0; i < from->sizes[axis]; ++i)
    interpretSoftmaxSum(row, from->storage->elements[place + i * from->strides[axis]]);
  return true;
}

Element interpretSoftmaxQuotient(const Format *format, double x, const SoftmaxRow *row) {
  double exact = exp(x - row->maximum) / row->sum, value = formatRound(format, exact);
  if (isnan(value) || isinf(value))
    return elementOfFloat(value, 0);
  double far = isinf(x - row->maximum) ? 0 : fabs(x - row->maximum);
  double relative = (double)(row->terms + 8) * format->epsilon + 2 * far * format->epsilon + 4 * row->error;
  // A weight of f32 below 2^-126 may count as 0.
  double least = format->width == 32 ? 0x1.001p-126 : 4 * format->tiny;
  return elementOfFloat(value, relative * fabs(exact) + least);
}

static bool writeRow(Machine *machine, const Instruction *instruction, const Array *from, const Array *to,
                     const int64_t *index, int axis) {
  SoftmaxRow row;
  int64_t source = interpretPlaceOf(from, index), destination = interpretPlaceOf(to, index);
  if (!readRow(machine, instruction, from, source, axis, &row))
    return false;
  for (int64_t i = 0; i < from->sizes[axis]; ++i) {
    double x = from->storage->elements[source + i * from->strides[axis]].f;
    if (!interpretMemoryWrite(machine, instruction, to->storage, destination + i * to->strides[axis],
                              interpretSoftmaxQuotient(&instruction->in, x, &row)))
      return false;
  }
  return interpretStep(machine, instruction->op, from->sizes[axis]);
}

bool interpretSoftmax(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  Array *to = arrayOperand(frame, instruction, 1);
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "dimension"));
  if (instruction->numResults) {
    to = interpretArrayCopy(to);
    if (!to)
      return interpretOutOfMemory(machine, instruction->op);
    setResult(frame, instruction, 0, valueOfObject(&to->object));
  }
  int64_t rows[InterpreterMaxRank], index[InterpreterMaxRank] = {0};
  for (int i = 0; i < from->rank; ++i)
    rows[i] = i == axis ? 1 : from->sizes[i];
  if (interpretArrayCount(from) == 0)
    return true;
  do
    if (!writeRow(machine, instruction, from, to, index, axis))
      return false;
  while (interpretIndexNext(from->rank, rows, index));
  return true;
}
