// Tile ops that arrange elements: iota, broadcast, reshape, transpose, slice, insert, cat, bitcast, convert_type.
// On buffers reshape, transpose and slice make another name for the same memory.
#include "dialects/tile/ops.h"
#include "lib/interpreter/tile/tile.h"
#include "lib/interpreter/upstream/scalars.h"
#include "lib/interpreter/upstream/upstream.h"

#include <math.h>
#include <string.h>

bool interpretTileIota(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *result = interpretNewResult(machine, instruction, 0);
  int64_t axis = interpretIntegerOf(instruction, "dim"), index[InterpreterMaxRank] = {0};
  Element from = instruction->numOperands ? operandOf(frame, instruction, 0).scalar : elementOfInteger(0);
  if (!result)
    return false;
  for (Element *to = arrayElements(result);; ++to) {
    *to = from;
    if (!elementIsMissing(from))
      to->i = interpretFormatWrap(&instruction->out, (uint64_t)from.i + (uint64_t)index[axis]);
    if (!interpretIndexNext(result->rank, result->sizes, index))
      break;
  }
  interpretSetArray(frame, instruction, 0, result);
  return true;
}

// Copies elements so that result axis a follows source axis map[a] (-1: none).
static bool rearrange(Machine *machine, Frame *frame, const Instruction *instruction, const Array *from,
                      const int *map) {
  Array *result = interpretNewResult(machine, instruction, 0);
  int64_t index[InterpreterMaxRank] = {0};
  if (!result)
    return false;
  int64_t strides[InterpreterMaxRank], rows[InterpreterMaxRank], last = result->rank - 1;
  for (int axis = 0; axis < result->rank; ++axis) {
    strides[axis] = map[axis] < 0 ? 0 : from->strides[map[axis]];
    rows[axis] = axis == last ? 1 : result->sizes[axis];
  }
  Element *to = arrayElements(result);
  do {
    int64_t place = from->offset;
    for (int axis = 0; axis < last; ++axis)
      place += index[axis] * strides[axis];
    for (int64_t k = 0; k < (last < 0 ? 1 : result->sizes[last]); ++k)
      *to++ = from->storage->elements[last < 0 ? place : place + k * strides[last]];
  } while (interpretIndexNext(result->rank, rows, index));
  interpretSetArray(frame, instruction, 0, result);
  return true;
}

bool interpretTileBroadcast(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *from = tileOperand(machine, frame, instruction, 0);
  int map[InterpreterMaxRank], next = 0;
  if (!from)
    return false;
  for (int axis = 0; axis < (int)mlirShapedTypeGetRank(tileBroadcastOpGetResultType(instruction->op)); ++axis) {
    map[axis] = from->rank ? next++ : -1;
    for (intptr_t i = 0; i < interpretCountIn(instruction, "axes"); ++i)
      if (interpretNumberIn(instruction, "axes", i) == axis) {
        map[axis] = -1;
        --next;
      }
  }
  bool ok = rearrange(machine, frame, instruction, from, map);
  valueRelease(valueOfObject(&from->object));
  return ok;
}

bool interpretTileTranspose(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int map[InterpreterMaxRank];
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  for (int axis = 0; axis < from->rank; ++axis) {
    map[axis] = (int)interpretNumberIn(instruction, "permutation", axis);
    sizes[axis] = from->sizes[map[axis]];
    strides[axis] = from->strides[map[axis]];
  }
  if (!tileTypeIsABuffer(tileTransposeOpGetInputType(instruction->op)))
    return rearrange(machine, frame, instruction, from, map);
  Array *alias = interpretArrayAlias(from, from->offset, from->rank, sizes, strides);
  setResult(frame, instruction, 0, valueOfObject(&alias->object));
  return true;
}

// Sizes of the result, which may be a tile, a scalar or a buffer.
static int sizesOf(MlirType type, int64_t *sizes) {
  int rank = (int)tileTypeGetRank(type);
  for (int i = 0; i < rank; ++i)
    sizes[i] = tileTypeGetSize(type, i);
  return rank;
}

bool interpretTileReshape(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t sizes[InterpreterMaxRank];
  int rank = sizesOf(tileReshapeOpGetResultType(instruction->op), sizes);
  Array *from = tileOperand(machine, frame, instruction, 0);
  if (!from)
    return false;
  if (!interpretArrayIsContiguous(from)) {
    valueRelease(valueOfObject(&from->object));
    return interpretUnknown(machine, instruction->op, "not interpreted yet: reshape of a buffer with strides");
  }
  Array *alias = interpretArrayAlias(from, from->offset, rank, sizes, NULL);
  valueRelease(valueOfObject(&from->object));
  if (rank == 0 && !tileTypeIsABuffer(tileReshapeOpGetResultType(instruction->op))) {
    Element x = *arrayElements(alias);
    valueRelease(valueOfObject(&alias->object));
    setResult(frame, instruction, 0, valueOfElement(x));
  } else
    setResult(frame, instruction, 0, valueOfObject(&alias->object));
  return true;
}

// The part of `from` at the op's offsets, as large as `type`; null after an error.
static Array *partOf(Machine *machine, const Frame *frame, const Instruction *instruction, const Array *from,
                     MlirType type, int cursor) {
  int64_t offsets[InterpreterMaxRank], sizes[InterpreterMaxRank], place = from->offset;
  int rank = sizesOf(type, sizes);
  if (!interpretReadMixed(machine, frame, instruction, "static_offsets", &cursor, rank, offsets))
    return NULL;
  for (int axis = 0; axis < rank; ++axis) {
    if (offsets[axis] < 0 || offsets[axis] + sizes[axis] > from->sizes[axis]) {
      interpretFail(machine, instruction->op,
                    "is out of bounds: offset %lld, size %lld in axis %d, which has size %lld",
                    (long long)offsets[axis], (long long)sizes[axis], axis, (long long)from->sizes[axis]);
      return NULL;
    }
    place += offsets[axis] * from->strides[axis];
  }
  return interpretArrayAlias(from, place, rank, sizes, from->strides);
}

bool interpretTileSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  Array *part = partOf(machine, frame, instruction, from, tileSliceOpGetResultType(instruction->op), 1);
  if (part && !tileTypeIsABuffer(tileSliceOpGetInputType(instruction->op))) {
    Array *copy = interpretArrayCopy(part);
    valueRelease(valueOfObject(&part->object));
    part = copy;
  }
  if (part)
    setResult(frame, instruction, 0, valueOfObject(&part->object));
  return part != NULL;
}

static void fill(const Array *from, const Array *to) {
  int64_t index[InterpreterMaxRank] = {0};
  do
    to->storage->elements[interpretPlaceOf(to, index)] = from->storage->elements[interpretPlaceOf(from, index)];
  while (interpretIndexNext(from->rank, from->sizes, index));
}

bool interpretTileInsert(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *copy = interpretArrayCopy(arrayOperand(frame, instruction, 1));
  if (!copy)
    return interpretOutOfMemory(machine, instruction->op);
  interpretSetArray(frame, instruction, 0, copy);
  Array *part = partOf(machine, frame, instruction, copy, tileInsertOpGetInputType(instruction->op), 2);
  if (!part)
    return false;
  fill(arrayOperand(frame, instruction, 0), part);
  valueRelease(valueOfObject(&part->object));
  return interpretStep(machine, instruction->op, interpretArrayCount(copy));
}

bool interpretTileCat(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *result = interpretNewResult(machine, instruction, 0);
  int64_t axis = interpretIntegerOf(instruction, "axis"), at = 0;
  for (int i = 0; result && i < instruction->numOperands; ++i) {
    const Array *from = arrayOperand(frame, instruction, i);
    Array *part = interpretArrayAlias(result, at * result->strides[axis], from->rank, from->sizes, result->strides);
    fill(from, part);
    valueRelease(valueOfObject(&part->object));
    at += from->sizes[axis];
  }
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return result != NULL;
}

//===--- bits and types -----------------------------------------------------------------===//

static uint64_t bitsOf(const Format *format, Element x) {
  return format->isFloat ? interpretFormatToBits(format, x.f) : interpretFormatUnsigned(format, x.i);
}

// The tile's bits in a row, lowest first: element i of the result is bits i * width to (i + 1) * width.
static bool recast(Machine *machine, const Instruction *instruction, const Array *from, Array *to) {
  const Format *in = &instruction->in, *out = &instruction->out;
  for (int64_t i = 0; i < interpretArrayCount(to); ++i) {
    uint64_t bits = 0;
    double bound = 0;
    for (unsigned have = 0; have < out->width;) {
      int64_t at = i * out->width + have;
      unsigned offset = (unsigned)(at % in->width);
      Element x = arrayElements(from)[at / in->width];
      if (!interpretElementExpect(machine, instruction, x, "uses"))
        return false;
      bits |= bitsOf(in, x) >> offset << have;
      bound = x.bound == 0 ? bound : INFINITY;
      have += in->width - offset;
    }
    bits = interpretFormatUnsigned(out, (int64_t)bits);
    arrayElements(to)[i] = out->isFloat ? elementOfFloat(interpretFormatFromBits(out, bits), bound)
                                        : (Element){.i = interpretFormatWrap(out, bits), .bound = bound};
  }
  return true;
}

bool interpretTileBitcast(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *from = tileOperand(machine, frame, instruction, 0), *to = interpretNewResult(machine, instruction, 0);
  bool ok = from && to && recast(machine, instruction, from, to);
  if (from)
    valueRelease(valueOfObject(&from->object));
  if (to)
    interpretSetArray(frame, instruction, 0, to);
  return ok;
}

//===--- convert_type ---------------------------------------------------------------------===//

static Rounding roundingOf(const Instruction *instruction) {
  static const struct {
    const char *word;
    Rounding rounding;
  } words[] = {{"nearest_even", RoundNearestEven},
               {"nearest_away", RoundNearestAway},
               {"toward_zero", RoundTowardZero},
               {"down", RoundDown},
               {"up", RoundUp}};
  MlirStringRef word = interpretWordOf(instruction, "rounding");
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (tileStringEquals(word, words[i].word))
      return words[i].rounding;
  return instruction->out.isFloat ? RoundNearestEven : RoundTowardZero;
}

// Stochastic: up when the 32 bits, as a fraction, are below how far x is on its way to the next number.
static double roundStochastically(const Format *format, double x, uint32_t bits) {
  double below, above;
  if (!isfinite(x))
    return formatRound(format, x);
  interpretFormatNeighbours(format, x, &below, &above);
  double chosen = below == above || (double)bits >= (x - below) / (above - below) * 0x1p32 ? below : above;
  return fabs(chosen) > format->largest ? formatRound(format, copysign(INFINITY, x)) : chosen;
}

static double roundElement(const Instruction *instruction, double x, uint32_t bits) {
  const Format *out = &instruction->out;
  if (out->isFloat && interpretHasAttribute(instruction, "saturate") && fabs(x) >= out->largest)
    return copysign(out->largest, x);
  return tileStringEquals(interpretWordOf(instruction, "rounding"), "stochastic")
             ? roundStochastically(out, x, bits)
             : interpretFormatRoundTo(out, roundingOf(instruction), x);
}

static Element convertToInteger(const Instruction *instruction, double x, double bound) {
  const Format *out = &instruction->out;
  double least = -ldexp(1, (int)out->width - 1), beyond = -least;
  if (!(x >= least && x < beyond)) {
    if (!interpretHasAttribute(instruction, "saturate"))
      return elementMissing(ELEMENT_POISON);
    uint64_t largest = (UINT64_C(1) << (out->width - 1)) - 1;
    x = isnan(x) ? 0 : x;
    return elementOfInteger(x == 0 ? 0 : x < 0 ? interpretFormatWrap(out, largest + 1) : (int64_t)largest);
  }
  return (Element){.i = (int64_t)x, .bound = bound > 0 ? ceil(bound) + 1 : 0};
}

static Element convertElement(const Instruction *instruction, Element x, uint32_t bits) {
  const Format *in = &instruction->in, *out = &instruction->out;
  double rounded = roundElement(instruction, in->isFloat ? x.f : (double)x.i, bits);
  if (!out->isFloat)
    return convertToInteger(instruction, rounded, x.bound);
  double bound = x.bound == 0 ? 0 : x.bound + 4 * out->epsilon * fabs(rounded) + out->tiny;
  return elementOfFloat(rounded, bound);
}

bool interpretTileConvertType(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *from = tileOperand(machine, frame, instruction, 0), *to = interpretNewResult(machine, instruction, 0);
  Array *bits = instruction->numOperands > 1 ? tileOperand(machine, frame, instruction, 1) : NULL;
  bool ok = from && to;
  for (int64_t i = 0; ok && i < interpretArrayCount(from); ++i) {
    Element x = arrayElements(from)[i];
    ok = x.bound == ELEMENT_POISON || interpretElementExpect(machine, instruction, x, "uses");
    arrayElements(to)[i] =
        elementIsMissing(x) ? x : convertElement(instruction, x, bits ? (uint32_t)arrayElements(bits)[i].i : 0);
  }
  if (bits)
    valueRelease(valueOfObject(&bits->object));
  if (from)
    valueRelease(valueOfObject(&from->object));
  if (to)
    interpretSetArray(frame, instruction, 0, to);
  return ok;
}
