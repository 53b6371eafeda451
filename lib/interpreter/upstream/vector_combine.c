// The ops of vector that combine elements: reductions, products of vectors, scans. Sums may be added up in any order,
// and a product may be fused with the sum that it goes into.
#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/upstream.h"
#include "lib/interpreter/upstream/vectors.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/vector.h"

#include <stdlib.h>
#include <string.h>

// Elements that are combined into one number, in the order in which they come.
typedef struct Terms {
  Machine *machine;
  const Instruction *instruction;
  int64_t count, room;
  Element *items;
} Terms;

static bool addTerm(Terms *terms, Element x) {
  if (terms->count == terms->room) {
    int64_t room = terms->room ? 2 * terms->room : 64;
    Element *items = realloc(terms->items, (size_t)room * sizeof *items);
    if (!items)
      return interpretOutOfMemory(terms->machine, terms->instruction->op);
    terms->items = items;
    terms->room = room;
  }
  terms->items[terms->count++] = x;
  return interpretStep(terms->machine, terms->instruction->op, 1);
}

// lhs · rhs, which may be rounded or not where it is added to something.
static bool addProduct(Terms *terms, Element lhs, Element rhs, bool mayFuse) {
  const Instruction *instruction = terms->instruction;
  bool isFloat = instruction->in.isFloat;
  const Row *product = interpretRowFind(isFloat ? (TileUpstream)ArithOp_MulF : (TileUpstream)ArithOp_MulI);
  Element x[] = {lhs, rhs}, result;
  Instruction multiplies = *instruction;
  multiplies.out = instruction->in;
  if (!interpretElementExpect(terms->machine, instruction, lhs, "combines") ||
      !interpretElementExpect(terms->machine, instruction, rhs, "combines") ||
      !product->scalar(terms->machine, &multiplies, x, &result))
    return false;
  if (isFloat && mayFuse && isfinite(result.f))
    result.bound += fabs(result.f) * instruction->in.epsilon + instruction->in.tiny;
  return addTerm(terms, result);
}

static bool finish(Terms *terms, Element *result) {
  bool ok = interpretReduceElements(
      terms->machine, terms->instruction,
      tileVectorCombiner(tileOpAttribute(terms->instruction->op, "kind"), terms->instruction->in.isFloat), terms->items,
      terms->count, result);
  terms->count = 0;
  return ok;
}

// A scalar or a vector of any rank as a list.
static Element elementAt(InterpretValue value, int64_t place) {
  return value.object ? arrayElements(arrayOf(value))[place] : value.scalar;
}

static bool giveScalar(Frame *frame, const Instruction *instruction, Element x) {
  setResult(frame, instruction, 0, valueOfElement(x));
  return true;
}

//===--- reductions ---------------------------------------------------------------------===//

// The initial value takes part like an element.
bool interpretVectorReduction(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *vector = arrayOperand(frame, instruction, 0);
  Terms terms = {.machine = machine, .instruction = instruction};
  Element result;
  bool ok = interpretVectorExpectFixed(machine, instruction, tileFirstOperandType(instruction->op));
  for (int64_t i = 0; ok && i < interpretArrayCount(vector); ++i)
    ok = addTerm(&terms, arrayElements(vector)[i]);
  if (ok && instruction->numOperands > 1)
    ok = addTerm(&terms, operandOf(frame, instruction, 1).scalar);
  ok = ok && finish(&terms, &result);
  free(terms.items);
  return ok && giveScalar(frame, instruction, result);
}

bool interpretVectorMultiReduction(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  InterpretValue start = operandOf(frame, instruction, 1);
  int64_t axes[InterpreterMaxRank], kept[InterpreterMaxRank], at[InterpreterMaxRank] = {0};
  int64_t inner[InterpreterMaxRank], innerSizes[InterpreterMaxRank];
  int numAxes = interpretVectorNumbers(instruction, "reduction_dims", InterpreterMaxRank, axes), numKept = 0;
  bool isReduced[InterpreterMaxRank] = {false};
  for (int i = 0; i < numAxes; ++i) {
    isReduced[axes[i]] = true;
    innerSizes[i] = from->sizes[axes[i]];
  }
  for (int d = 0; d < from->rank; ++d)
    if (!isReduced[d])
      kept[numKept++] = d;
  Array *to = start.object ? interpretNewVector(machine, instruction) : NULL;
  bool ok = to || !start.object;
  Terms terms = {.machine = machine, .instruction = instruction};
  Element result;
  int64_t count = to ? interpretArrayCount(to) : 1, outer[InterpreterMaxRank] = {0};
  for (int64_t i = 0; ok && i < count; ++i) {
    ok = addTerm(&terms, elementAt(start, i));
    memset(inner, 0, sizeof inner);
    do {
      for (int d = 0; d < numKept; ++d)
        at[kept[d]] = outer[d];
      for (int d = 0; d < numAxes; ++d)
        at[axes[d]] = inner[d];
      ok = ok && addTerm(&terms, from->storage->elements[interpretPlaceOf(from, at)]);
    } while (ok && interpretIndexNext(numAxes, innerSizes, inner));
    ok = ok && finish(&terms, &result);
    if (ok && to) {
      arrayElements(to)[i] = result;
      interpretIndexNext(to->rank, to->sizes, outer);
    }
  }
  free(terms.items);
  if (!to)
    return ok && giveScalar(frame, instruction, result);
  return interpretGiveVector(frame, instruction, to) && ok;
}

//===--- products -----------------------------------------------------------------------===//

bool interpretVectorOuterProduct(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *lhs = arrayOperand(frame, instruction, 0);
  InterpretValue rhs = operandOf(frame, instruction, 1);
  bool adds = instruction->numOperands > 2, ok = true;
  int64_t columns = rhs.object ? interpretArrayCount(arrayOf(rhs)) : 1;
  Terms terms = {.machine = machine, .instruction = instruction};
  Array *to = interpretNewVector(machine, instruction);
  for (int64_t i = 0; to && ok && i < interpretArrayCount(to); ++i) {
    ok = (!adds || addTerm(&terms, elementAt(operandOf(frame, instruction, 2), i))) &&
         addProduct(&terms, arrayElements(lhs)[i / columns], elementAt(rhs, i % columns), adds) &&
         finish(&terms, &arrayElements(to)[i]);
  }
  free(terms.items);
  return interpretGiveVector(frame, instruction, to) && ok;
}

// A contraction's loops: their sizes, and the place that each operand has in them.
typedef struct Loops {
  MlirAffineMap maps[3];
  const Array *arrays[3]; // null: a scalar
  int count;
  int64_t sizes[InterpreterMaxRank], point[InterpreterMaxRank];
} Loops;

static int64_t placeIn(const Loops *loops, int operand) {
  int64_t at[InterpreterMaxRank];
  if (!loops->arrays[operand])
    return 0;
  for (int d = 0; d < loops->arrays[operand]->rank; ++d)
    interpretAffineValue(mlirAffineMapGetResult(loops->maps[operand], d), loops->point, NULL, &at[d]);
  return interpretPlaceOf(loops->arrays[operand], at);
}

static bool loopsOf(Machine *machine, const Frame *frame, const Instruction *instruction, Loops *loops) {
  MlirAttribute maps = tileOpAttribute(instruction->op, "indexing_maps");
  *loops = (Loops){.count = 0};
  for (int o = 0; o < 3; ++o) {
    InterpretValue value = operandOf(frame, instruction, o);
    loops->maps[o] = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, o));
    loops->arrays[o] = value.object ? arrayOf(value) : NULL;
    loops->count = (int)mlirAffineMapGetNumDims(loops->maps[o]);
    for (int d = 0; value.object && d < arrayOf(value)->rank; ++d) {
      MlirAffineExpr result = mlirAffineMapGetResult(loops->maps[o], d);
      if (mlirAffineExprIsADim(result))
        loops->sizes[mlirAffineDimExprGetPosition(result)] = arrayOf(value)->sizes[d];
    }
  }
  bool isMixed = !mlirTypeEqual(interpretElementTypeOf(vectorContractionOpGetLhsType(instruction->op)),
                                interpretElementTypeOf(vectorContractionOpGetAccType(instruction->op)));
  return !isMixed || interpretUnknown(machine, instruction->op, "not interpreted yet: products of another type");
}

// Each element of the result, with the products of all points that map to it.
bool interpretVectorContract(Machine *machine, Frame *frame, const Instruction *instruction) {
  Loops loops;
  InterpretValue start = operandOf(frame, instruction, 2);
  if (!loopsOf(machine, frame, instruction, &loops))
    return false;
  Array *to = start.object ? interpretNewVector(machine, instruction) : NULL;
  if (!to && start.object)
    return false;
  int64_t count = to ? interpretArrayCount(to) : 1;
  Terms *all = calloc((size_t)count, sizeof *all);
  bool ok = all || interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; ok && i < count; ++i) {
    all[i] = (Terms){.machine = machine, .instruction = instruction};
    ok = addTerm(&all[i], elementAt(start, i));
  }
  do
    ok = ok && addProduct(&all[placeIn(&loops, 2)], elementAt(operandOf(frame, instruction, 0), placeIn(&loops, 0)),
                          elementAt(operandOf(frame, instruction, 1), placeIn(&loops, 1)), true);
  while (ok && interpretIndexNext(loops.count, loops.sizes, loops.point));
  Element scalar;
  for (int64_t i = 0; i < count && all; ++i) {
    ok = ok && finish(&all[i], to ? &arrayElements(to)[i] : &scalar);
    free(all[i].items);
  }
  free(all);
  if (!to)
    return ok && giveScalar(frame, instruction, scalar);
  return interpretGiveVector(frame, instruction, to) && ok;
}

//===--- scans --------------------------------------------------------------------------===//

// An inclusive scan starts from the first element, an exclusive one from the initial value; the second result is the
// last line of the first.
bool interpretVectorScan(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  InterpretValue start = operandOf(frame, instruction, 1);
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "reduction_dim"));
  bool isInclusive = mlirBoolAttrGetValue(tileOpAttribute(instruction->op, "inclusive")), ok = true;
  Array *to = interpretNewVector(machine, instruction);
  Array *last = to && start.object ? interpretNewResult(machine, instruction, 1) : NULL;
  if (!to || (start.object && !last)) {
    if (to)
      interpretGiveVector(frame, instruction, to);
    return false;
  }
  int64_t step = 1, length = from->sizes[axis], line = 0;
  for (int d = axis + 1; d < from->rank; ++d)
    step *= from->sizes[d];
  Terms terms = {.machine = machine, .instruction = instruction};
  Element result = {{0}};
  for (int64_t outer = 0; ok && outer < interpretArrayCount(from); outer += step * length)
    for (int64_t inner = 0; ok && inner < step; ++inner, ++line) {
      for (int64_t i = 0; ok && i < length; ++i) {
        int64_t place = outer + i * step + inner;
        // What came before, in the order of the scan.
        for (int64_t k = isInclusive ? 0 : -1; ok && k < i + isInclusive; ++k)
          ok = addTerm(&terms, k < 0 ? elementAt(start, line) : arrayElements(from)[outer + k * step + inner]);
        ok = ok && finish(&terms, &result);
        arrayElements(to)[place] = result;
      }
      if (last)
        arrayElements(last)[line] = result;
    }
  free(terms.items);
  interpretGiveVector(frame, instruction, to);
  setResult(frame, instruction, 1, last ? valueOfObject(&last->object) : valueOfElement(result));
  return ok;
}
