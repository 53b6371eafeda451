// scf.parallel and scf.forall: their points run one after the other, in row-major order; any order is right.
// Reductions bound their result for any order (docs/numerics.md §4). Two points of a forall that insert one element of
// a shared output race, which is an error as for instances of a grid (§6).
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

#include <stdlib.h>

typedef struct Points {
  int rank;
  int64_t lower[InterpreterMaxRank], step[InterpreterMaxRank], sizes[InterpreterMaxRank];
} Points;

static bool makePoints(Machine *machine, const Instruction *instruction, const int64_t *upper, Points *points) {
  for (int i = 0; i < points->rank; ++i) {
    int64_t step = points->step[i], span = upper[i] - points->lower[i];
    if (step <= 0)
      return interpretFail(machine, instruction->op, "has step %lld; expected a positive one", (long long)step);
    points->sizes[i] = upper[i] > points->lower[i] ? (span + step - 1) / step : 0;
  }
  return true;
}

static void bindPoint(Frame *frame, const InterpretBlock *block, const Points *points, const int64_t *index) {
  for (int i = 0; i < points->rank; ++i)
    frameSet(frame, block->arguments[i], valueOfInteger(points->lower[i] + index[i] * points->step[i]));
}

//===--- scf.parallel -------------------------------------------------------------------===//

// What one result has been combined from: a sum or a product of floats, or what the region made of any others.
typedef struct Reduced {
  InterpretValue value;
  Format format;
  bool isSum, isProduct;
  Sum sum;
  int64_t terms;
  double magnitudes;
} Reduced;

// The one op that combines both arguments of a region; null: there are more.
static const Instruction *onlyOp(const Instruction *reduce, int number) {
  const InterpretBlock *block = reduce->regions[number].blocks;
  const Instruction *op = &block->instructions[0];
  bool isOnly = block->numInstructions == 2 && op->numOperands == 2 && op->operands[0] != op->operands[1] &&
                block->instructions[1].operands[0] == op->results[0];
  for (int i = 0; isOnly && i < 2; ++i)
    isOnly = op->operands[i] == block->arguments[0] || op->operands[i] == block->arguments[1];
  return isOnly ? op : NULL;
}

static bool mayRound(const Instruction *reduce, int number) {
  const Instruction *op = onlyOp(reduce, number);
  switch (op ? arithOpKind(op->op) : ArithOp_None) {
  case ArithOp_MaximumF:
  case ArithOp_MinimumF:
  case ArithOp_MaxNumF:
  case ArithOp_MinNumF:
    return false;
  default:
    return true;
  }
}

static bool addTerm(Machine *machine, const Instruction *reduce, Reduced *reduced, Element x) {
  (reduced->isSum ? sumAdd : interpretProductAdd)(&reduced->sum, x);
  return interpretElementExpect(machine, reduce, x, "combines");
}

// Takes over the initial value.
static bool reducedCreate(Machine *machine, const Instruction *instruction, const Instruction *reduce, int number,
                          InterpretValue initial, Reduced *reduced) {
  const Instruction *op = onlyOp(reduce, number);
  ArithOp kind = op && !initial.object ? arithOpKind(op->op) : ArithOp_None;
  *reduced = (Reduced){.value = initial, .isSum = kind == ArithOp_AddF, .isProduct = kind == ArithOp_MulF};
  interpretFormatOf(interpretElementTypeOf(tileResultType(instruction->op, number)), &reduced->format);
  reduced->magnitudes = reduced->format.isFloat ? fabs(initial.scalar.f) : 0;
  return (!reduced->isSum && !reduced->isProduct) || addTerm(machine, reduce, reduced, initial.scalar);
}

// Takes over what the terminator yielded.
static bool combinePoint(Machine *machine, Frame *frame, const Instruction *reduce, Reduced *reduced) {
  InterpretValue terms[InterpreterMaxRank];
  int count = frame->numYielded;
  for (int r = 0; r < count; ++r) {
    terms[r] = frame->yielded[r];
    frame->yielded[r] = (InterpretValue){.object = NULL};
  }
  for (int r = 0; r < count; ++r) {
    ++reduced[r].terms;
    if (reduced[r].isSum || reduced[r].isProduct) {
      if (!addTerm(machine, reduce, &reduced[r], terms[r].scalar))
        return false;
      continue;
    }
    reduced[r].magnitudes += reduced[r].format.isFloat ? fabs(terms[r].scalar.f) : 0;
    if (!interpretRegionRun(machine, frame, &reduce->regions[r], 2, (InterpretValue[]){reduced[r].value, terms[r]}))
      return false;
    reduced[r].value = frame->yielded[0];
    frame->yielded[0] = (InterpretValue){.object = NULL};
  }
  return true;
}

static void giveReduced(Frame *frame, const Instruction *instruction, const Instruction *reduce, Reduced *reduced) {
  for (int r = 0; r < instruction->numResults; ++r) {
    const Format *format = &reduced[r].format;
    Element *x = &reduced[r].value.scalar;
    if (reduced[r].terms && (reduced[r].isSum || reduced[r].isProduct))
      *x = (reduced[r].isSum ? interpretSumFinish : interpretProductFinish)(&reduced[r].sum, format);
    else if (format->isFloat && !reduced[r].value.object && reduced[r].terms > 1 && isfinite(x->f) &&
             mayRound(reduce, r))
      x->bound += 2 * (double)reduced[r].terms * format->epsilon * (reduced[r].magnitudes + fabs(x->f));
    setResult(frame, instruction, r, reduced[r].value);
    reduced[r].value = (InterpretValue){.object = NULL};
  }
}

static bool runParallel(Machine *machine, Frame *frame, const Instruction *instruction, const Points *points,
                        Reduced *reduced) {
  const InterpretBlock *block = instruction->regions[0].blocks;
  const Instruction *reduce = &block->instructions[block->numInstructions - 1];
  int64_t index[InterpreterMaxRank] = {0};
  if (interpretCountOf(points->rank, points->sizes) > 0)
    do {
      bindPoint(frame, block, points, index);
      if (!interpretRegionRun(machine, frame, &instruction->regions[0], 0, NULL) ||
          !combinePoint(machine, frame, reduce, reduced))
        return false;
    } while (interpretIndexNext(points->rank, points->sizes, index));
  giveReduced(frame, instruction, reduce, reduced);
  return true;
}

bool interpretParallel(Machine *machine, Frame *frame, const Instruction *instruction) {
  Points points = {.rank = instruction->regions[0].blocks->numArguments};
  int64_t upper[InterpreterMaxRank];
  Reduced reduced[InterpreterMaxRank] = {{.terms = 0}};
  if (points.rank > InterpreterMaxRank || instruction->numResults > InterpreterMaxRank)
    return interpretFail(machine, instruction->op, "has %d loops and %d results; the interpreter knows up to %d",
                         points.rank, instruction->numResults, InterpreterMaxRank);
  if (!interpretIndexOperands(machine, frame, instruction, 0, points.rank, points.lower) ||
      !interpretIndexOperands(machine, frame, instruction, points.rank, points.rank, upper) ||
      !interpretIndexOperands(machine, frame, instruction, 2 * points.rank, points.rank, points.step) ||
      !makePoints(machine, instruction, upper, &points))
    return false;
  const InterpretBlock *block = instruction->regions[0].blocks;
  const Instruction *reduce = &block->instructions[block->numInstructions - 1];
  for (int r = 0; r < instruction->numResults; ++r)
    if (!reducedCreate(machine, instruction, reduce, r, valueRetain(operandOf(frame, instruction, 3 * points.rank + r)),
                       &reduced[r]))
      return false;
  return runParallel(machine, frame, instruction, &points, reduced);
}

//===--- scf.forall ---------------------------------------------------------------------===//

// A shared output: what its result becomes, and which point (its number + 1) wrote each element.
typedef struct SharedOutput {
  Array *array; // borrowed from the result's slot
  int32_t *writers;
} SharedOutput;

static bool insertElement(Machine *machine, const Instruction *insert, const SharedOutput *output, int64_t place,
                          Element x, int32_t point) {
  int32_t *writer = &output->writers[place];
  if (*writer && *writer != point)
    return interpretFail(machine, insert->op, "points %d and %d of the loop write one element", *writer - 1, point - 1);
  *writer = point;
  output->array->storage->elements[place] = x;
  return true;
}

static bool insertSlice(Machine *machine, Frame *frame, const Instruction *insert, const SharedOutput *output,
                        int32_t point) {
  const Array *from = arrayOperand(frame, insert, 0);
  Array *part =
      interpretSliceOf(machine, frame, insert, output->array, 2, tensorInsertSliceOpGetSourceType(insert->op));
  int64_t index[InterpreterMaxRank] = {0};
  bool ok = part != NULL;
  for (int i = 0; ok && i < from->rank; ++i)
    ok = from->sizes[i] == part->sizes[i] ||
         interpretFail(machine, insert->op, "puts size %lld into size %lld in dimension %d", (long long)from->sizes[i],
                       (long long)part->sizes[i], i);
  if (ok && interpretArrayCount(from) > 0)
    do
      ok = insertElement(machine, insert, output, interpretPlaceOf(part, index),
                         from->storage->elements[interpretPlaceOf(from, index)], point);
    while (ok && interpretIndexNext(from->rank, from->sizes, index));
  if (part)
    valueRelease(valueOfObject(&part->object));
  return ok && interpretStep(machine, insert->op, interpretArrayCount(from));
}

// The terminator's region: insertions into the arguments that stand for the shared outputs.
static bool insertAll(Machine *machine, Frame *frame, const InterpretBlock *block, int rank,
                      const SharedOutput *outputs, int32_t point) {
  const Instruction *terminator = &block->instructions[block->numInstructions - 1];
  const InterpretBlock *insertions = terminator->numRegions ? terminator->regions[0].blocks : NULL;
  for (int i = 0; insertions && i < insertions->numInstructions; ++i) {
    const Instruction *insert = &insertions->instructions[i];
    if (!tensorParallelInsertSliceOpIsA(insert->op))
      return interpretUnknown(machine, insert->op, "not interpreted yet in 'scf.forall.in_parallel'");
    int output = rank;
    while (output < block->numArguments && block->arguments[output] != insert->operands[1])
      ++output;
    if (output == block->numArguments)
      return interpretUnknown(machine, insert->op,
                              "not interpreted yet: inserts into what is not a shared output of its loop");
    if (!insertSlice(machine, frame, insert, &outputs[output - rank], point))
      return false;
  }
  return true;
}

static bool runForall(Machine *machine, Frame *frame, const Instruction *instruction, const Points *points,
                      const SharedOutput *outputs) {
  const InterpretBlock *block = instruction->regions[0].blocks;
  int64_t index[InterpreterMaxRank] = {0};
  int32_t point = 0;
  if (interpretCountOf(points->rank, points->sizes) > 0)
    do {
      bindPoint(frame, block, points, index);
      if (!interpretRegionRun(machine, frame, &instruction->regions[0], 0, NULL) ||
          !insertAll(machine, frame, block, points->rank, outputs, ++point))
        return false;
    } while (interpretIndexNext(points->rank, points->sizes, index));
  return true;
}

// Every point sees the outputs as they were before the loop; the results are copies that the insertions change.
static bool shareOutputs(Machine *machine, Frame *frame, const Instruction *instruction, int rank, int firstOutput,
                         SharedOutput *outputs) {
  for (int r = 0; r < instruction->numResults; ++r) {
    InterpretValue output = operandOf(frame, instruction, firstOutput + r);
    frameSet(frame, instruction->regions[0].blocks->arguments[rank + r], valueRetain(output));
    Array *copy = interpretArrayCopy(arrayOf(output));
    if (!copy)
      return interpretOutOfMemory(machine, instruction->op);
    setResult(frame, instruction, r, valueOfObject(&copy->object));
    outputs[r].array = copy;
    outputs[r].writers = calloc((size_t)interpretArrayCount(copy) + 1, sizeof *outputs[r].writers);
    if (!outputs[r].writers)
      return interpretOutOfMemory(machine, instruction->op);
  }
  return true;
}

bool interpretForall(Machine *machine, Frame *frame, const Instruction *instruction) {
  Points points = {.rank = instruction->regions[0].blocks->numArguments - instruction->numResults};
  int64_t upper[InterpreterMaxRank];
  int cursor = 0;
  if (points.rank > InterpreterMaxRank)
    return interpretFail(machine, instruction->op, "has %d loops; the interpreter knows up to %d", points.rank,
                         InterpreterMaxRank);
  if (!interpretReadMixed(machine, frame, instruction, "staticLowerBound", &cursor, points.rank, points.lower) ||
      !interpretReadMixed(machine, frame, instruction, "staticUpperBound", &cursor, points.rank, upper) ||
      !interpretReadMixed(machine, frame, instruction, "staticStep", &cursor, points.rank, points.step) ||
      !makePoints(machine, instruction, upper, &points))
    return false;
  SharedOutput *outputs = calloc((size_t)instruction->numResults + 1, sizeof *outputs);
  bool ok = outputs ? shareOutputs(machine, frame, instruction, points.rank, cursor, outputs) &&
                          runForall(machine, frame, instruction, &points, outputs)
                    : interpretOutOfMemory(machine, instruction->op);
  for (int r = 0; outputs && r < instruction->numResults; ++r)
    free(outputs[r].writers);
  free(outputs);
  return ok;
}

bool interpretNothing(Machine *machine, Frame *frame, const Instruction *instruction) { return true; }
