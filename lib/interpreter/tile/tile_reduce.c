// tile.reduce and tile.scan (docs/numerics.md §4): a named operation on one tile, or a region on several at once.
// Float sums and products are taken in f64 with a bound for any order. A region is run from the first element to the
// last; of its floats the bound grows with every element that is combined.
#include "lib/interpreter/tile/tile.h"
#include "upstream/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MaxTiles = 8 };

typedef struct Combiner {
  Machine *machine;
  Frame *frame;
  const Instruction *instruction;
  const Row *row;        // null: the region
  bool isSum, isProduct; // of floats
  int count;             // tiles
  Format formats[MaxTiles];
} Combiner;

// What has been combined so far.
typedef struct State {
  int64_t terms;
  Element x[MaxTiles];
  double largest[MaxTiles]; // magnitude met: what a region may have rounded
  Sum sum;
} State;

static bool combinerCreate(Machine *machine, Frame *frame, const Instruction *instruction, int count,
                           Combiner *combiner) {
  *combiner = (Combiner){machine, frame, instruction, .count = count};
  if (count > MaxTiles)
    return interpretFail(machine, instruction->op, "combines %d tiles; the interpreter knows up to %d", count,
                         MaxTiles);
  for (int i = 0; i < count; ++i)
    interpretFormatOf(interpretElementTypeOf(tileOperandType(instruction->op, i)), &combiner->formats[i]);
  combiner->row = interpretRowFind(tileUpstreamKindOfName(interpretWordOf(instruction, "operation")));
  combiner->isSum = combiner->row && combiner->row->kind == ArithOp_AddF;
  combiner->isProduct = combiner->row && combiner->row->kind == ArithOp_MulF;
  return true;
}

static bool combineByRegion(const Combiner *combiner, State *state, const Element *right) {
  const InterpretRegion *region = &combiner->instruction->regions[0];
  for (int i = 0; i < combiner->count; ++i) {
    frameSet(combiner->frame, region->blocks->arguments[i], valueOfElement(state->x[i]));
    frameSet(combiner->frame, region->blocks->arguments[combiner->count + i], valueOfElement(right[i]));
  }
  if (!interpretRegionRun(combiner->machine, combiner->frame, region, 0, NULL))
    return false;
  for (int i = 0; i < combiner->count; ++i) {
    state->x[i] = combiner->frame->yielded[i].scalar;
    state->largest[i] = fmax(state->largest[i], combiner->formats[i].isFloat ? fabs(state->x[i].f) : 0);
  }
  return true;
}

static bool combine(const Combiner *combiner, State *state, const Element *right) {
  bool isFirst = state->terms++ == 0;
  for (int i = 0; i < combiner->count; ++i) {
    if (!interpretElementExpect(combiner->machine, combiner->instruction, right[i], "combines"))
      return false;
    if (isFirst)
      state->x[i] = right[i];
    state->largest[i] = fmax(state->largest[i], combiner->formats[i].isFloat ? fabs(right[i].f) : 0);
  }
  if (combiner->isSum)
    sumAdd(&state->sum, right[0]);
  if (combiner->isProduct)
    interpretProductAdd(&state->sum, right[0]);
  if (isFirst || combiner->isSum || combiner->isProduct)
    return true;
  if (!combiner->row)
    return combineByRegion(combiner, state, right);
  return interpretCombineElements(combiner->machine, combiner->instruction, combiner->row, &combiner->formats[0],
                                  state->x[0], right[0], &state->x[0]);
}

// A region's float is known only by what went through it.
static Element stateElement(const Combiner *combiner, const State *state, int i) {
  if (combiner->isSum || combiner->isProduct)
    return (combiner->isSum ? interpretSumFinish : interpretProductFinish)(&state->sum, &combiner->formats[0]);
  Element x = state->x[i];
  if (combiner->formats[i].isFloat && !combiner->row && state->terms > 1 && isfinite(x.f) && x.f != 0)
    x.bound += 2 * (double)state->terms * combiner->formats[i].epsilon * state->largest[i];
  return x;
}

//===--- reduce -----------------------------------------------------------------------===//

static bool isReduced(const Instruction *instruction, int axis) {
  for (intptr_t i = 0; i < interpretCountIn(instruction, "axes"); ++i)
    if (interpretNumberIn(instruction, "axes", i) == axis)
      return true;
  return false;
}

// How far a step along each axis of the input goes in the result: nowhere along a reduced one.
static void findStrides(const Instruction *instruction, const Array *result, int rank, int64_t *strides) {
  int axis = 0;
  for (int i = 0; i < rank; ++i)
    strides[i] = isReduced(instruction, i) ? 0 : result->strides[axis++];
}

static int64_t placeInResult(int rank, const int64_t *strides, const int64_t *index) {
  int64_t place = 0;
  for (int i = 0; i < rank; ++i)
    place += index[i] * strides[i];
  return place;
}

static void gatherElements(const Combiner *combiner, const int64_t *index, Element *right) {
  for (int i = 0; i < combiner->count; ++i) {
    const Array *array = arrayOperand(combiner->frame, combiner->instruction, i);
    right[i] = array->storage->elements[interpretPlaceOf(array, index)];
  }
}

static bool reduceInto(const Combiner *combiner, State *states, Array *const *results) {
  const Array *input = arrayOperand(combiner->frame, combiner->instruction, 0);
  int64_t index[InterpreterMaxRank] = {0}, strides[InterpreterMaxRank];
  Element right[MaxTiles];
  findStrides(combiner->instruction, results[0], input->rank, strides);
  do {
    gatherElements(combiner, index, right);
    if (!combine(combiner, &states[placeInResult(input->rank, strides, index)], right))
      return false;
  } while (interpretIndexNext(input->rank, input->sizes, index));
  for (int64_t place = 0; place < interpretArrayCount(results[0]); ++place)
    for (int i = 0; i < combiner->count; ++i)
      arrayElements(results[i])[place] = stateElement(combiner, &states[place], i);
  return interpretStep(combiner->machine, combiner->instruction->op, interpretArrayCount(input));
}

bool interpretTileReduce(Machine *machine, Frame *frame, const Instruction *instruction) {
  Combiner combiner;
  Array *results[MaxTiles] = {NULL};
  if (!combinerCreate(machine, frame, instruction, instruction->numOperands, &combiner))
    return false;
  bool ok = true;
  for (int i = 0; i < combiner.count && ok; ++i)
    ok = (results[i] = interpretNewResult(machine, instruction, i)) != NULL;
  State *states = ok ? calloc((size_t)interpretArrayCount(results[0]) + 1, sizeof *states) : NULL;
  ok = ok && (states ? reduceInto(&combiner, states, results) : interpretOutOfMemory(machine, instruction->op));
  for (int i = 0; i < combiner.count; ++i)
    if (results[i])
      interpretSetArray(frame, instruction, i, results[i]);
  free(states);
  return ok;
}

//===--- scan ---------------------------------------------------------------------------===//

// The least and the greatest of a format; of integers as their bits say, signed or not.
static Element extreme(const Format *format, bool isGreatest, bool isUnsigned) {
  if (!format->isFloat) {
    uint64_t top = UINT64_C(1) << (format->width - 1);
    uint64_t greatest = isUnsigned ? top | (top - 1) : top - 1, least = isUnsigned ? 0 : top;
    return elementOfInteger(interpretFormatWrap(format, isGreatest ? greatest : least));
  }
  bool isUnsignedFloat = format->fraction == 0; // f8E8M0FNU
  double most = format->specials == SpecialsIeee ? (double)INFINITY : format->largest;
  return elementOfFloat(isGreatest ? most : isUnsignedFloat ? format->tiny : -most, 0);
}

// What combines without effect (docs/numerics.md §3).
static bool knownNeutral(TileUpstream operation, const Format *format, Element *x) {
  enum { Zero, One, AllOnes, Least, Greatest, UnsignedLeast, UnsignedGreatest, NanOrLeast, NanOrGreatest };
  static const struct {
    ArithOp operation;
    int neutral;
  } rows[] = {{ArithOp_AddF, Zero},
              {ArithOp_AddI, Zero},
              {ArithOp_OrI, Zero},
              {ArithOp_XOrI, Zero},
              {ArithOp_MulF, One},
              {ArithOp_MulI, One},
              {ArithOp_AndI, AllOnes},
              {ArithOp_MaximumF, Least},
              {ArithOp_MaxNumF, NanOrLeast},
              {ArithOp_MinimumF, Greatest},
              {ArithOp_MinNumF, NanOrGreatest},
              {ArithOp_MaxSI, Least},
              {ArithOp_MinSI, Greatest},
              {ArithOp_MaxUI, UnsignedLeast},
              {ArithOp_MinUI, UnsignedGreatest}};
  size_t row = 0, count = sizeof rows / sizeof *rows;
  while (row < count && operation != (TileUpstream)rows[row].operation)
    ++row;
  if (row == count)
    return false;
  int neutral = rows[row].neutral;
  if (neutral == Zero)
    *x = format->isFloat ? elementOfFloat(-0.0, 0) : elementOfInteger(0);
  else if (neutral == One)
    *x = format->isFloat ? elementOfFloat(1, 0) : elementOfInteger(interpretFormatWrap(format, 1));
  else if (neutral == AllOnes)
    *x = elementOfInteger(-1);
  else if (neutral >= NanOrLeast && format->specials != SpecialsNone)
    *x = elementOfFloat((double)NAN, 0);
  else
    *x = extreme(format, neutral == Greatest || neutral == UnsignedGreatest || neutral == NanOrGreatest,
                 neutral == UnsignedLeast || neutral == UnsignedGreatest);
  return true;
}

// What an exclusive scan begins with when no `init` is given.
static bool neutralElement(const Combiner *combiner, int i, Element *x) {
  const Instruction *instruction = combiner->instruction;
  MlirAttribute given = tileOpAttribute(instruction->op, "neutral");
  if (!mlirAttributeIsNull(given))
    return interpretElementOfAttribute(mlirArrayAttrGetElement(given, i), x);
  return knownNeutral(combiner->row ? combiner->row->kind : TileUpstream_None, &combiner->formats[i], x) ||
         interpretFail(combiner->machine, instruction->op, "has no neutral element to begin with");
}

// One line along the axis, whose first element `index` names; `final` takes the states after the last element.
static bool scanLine(const Combiner *combiner, int64_t *index, int axis, Array *const *results, Array *const *final,
                     int64_t line) {
  const Instruction *instruction = combiner->instruction;
  const Array *input = arrayOperand(combiner->frame, instruction, 0);
  bool reverse = interpretHasAttribute(instruction, "reverse"),
       exclusive = interpretHasAttribute(instruction, "exclusive");
  int64_t size = input->sizes[axis];
  State state = {0};
  Element right[MaxTiles];
  for (int i = 0; final[0] && i < combiner->count; ++i)
    right[i] = arrayElements(final[i])[line];
  if (final[0] && !combine(combiner, &state, right))
    return false;
  for (int64_t step = 0; step < size; ++step) {
    index[axis] = reverse ? size - 1 - step : step;
    gatherElements(combiner, index, right);
    if (!exclusive && !combine(combiner, &state, right))
      return false;
    for (int i = 0; i < combiner->count; ++i) {
      Element *to = &results[i]->storage->elements[interpretPlaceOf(results[i], index)];
      if (state.terms)
        *to = stateElement(combiner, &state, i);
      else if (!neutralElement(combiner, i, to))
        return false;
    }
    if (exclusive && !combine(combiner, &state, right))
      return false;
  }
  for (int i = 0; final[0] && i < combiner->count; ++i)
    arrayElements(final[i])[line] = stateElement(combiner, &state, i);
  index[axis] = 0;
  return interpretStep(combiner->machine, instruction->op, size);
}

static bool scanLines(const Combiner *combiner, Array *const *results, Array *const *final) {
  const Array *input = arrayOperand(combiner->frame, combiner->instruction, 0);
  int axis = (int)interpretIntegerOf(combiner->instruction, "axis");
  int64_t lines[InterpreterMaxRank], index[InterpreterMaxRank] = {0}, line = 0;
  memcpy(lines, input->sizes, (size_t)input->rank * sizeof *lines);
  lines[axis] = 1;
  do
    if (!scanLine(combiner, index, axis, results, final, line++))
      return false;
  while (interpretIndexNext(input->rank, lines, index));
  return true;
}

static Array *initialStates(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t operand) {
  Array *initial = tileOperand(machine, frame, instruction, operand),
        *copy = initial ? interpretArrayCopy(initial) : NULL;
  if (initial)
    valueRelease(valueOfObject(&initial->object));
  return copy;
}

bool interpretTileScan(Machine *machine, Frame *frame, const Instruction *instruction) {
  Combiner combiner;
  Array *results[MaxTiles] = {NULL}, *final[MaxTiles] = {NULL};
  int count = (int)interpretGroupCount(instruction, 0);
  if (!combinerCreate(machine, frame, instruction, count, &combiner))
    return false;
  bool ok = true, hasInitial = interpretGroupCount(instruction, 1) > 0;
  for (int i = 0; i < count && ok; ++i) {
    ok = (results[i] = interpretNewResult(machine, instruction, i)) != NULL;
    if (ok && hasInitial)
      ok = (final[i] = initialStates(machine, frame, instruction, count + i)) != NULL;
  }
  ok = ok && scanLines(&combiner, results, final);
  for (int i = 0; i < count; ++i) {
    if (results[i])
      interpretSetArray(frame, instruction, i, results[i]);
    if (final[i])
      interpretSetArray(frame, instruction, count + i, final[i]);
  }
  return ok;
}
