// linalg by definition: for every point of the iteration space, the region on the elements that the indexing maps name.
// Named ops carry their region and maps too, so one function runs them all; softmax is in softmax.c.
// Sums (an output added to over a reduction) are taken in f64 with their bound: any order is right (numerics.md §4).
#include "mlir-c/Dialect/Linalg.h"
#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/nest.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===--- indexing maps ----------------------------------------------------------------===//

static Linear linearOf(MlirAffineExpr expression) {
  Linear result = {.isLinear = true};
  if (mlirAffineExprIsADim(expression))
    result.factors[mlirAffineDimExprGetPosition(expression)] = 1;
  else if (mlirAffineExprIsAConstant(expression))
    result.constant = mlirAffineConstantExprGetValue(expression);
  else if (mlirAffineExprIsAAdd(expression) || mlirAffineExprIsAMul(expression)) {
    Linear a = linearOf(mlirAffineBinaryOpExprGetLHS(expression)),
           b = linearOf(mlirAffineBinaryOpExprGetRHS(expression));
    bool isAdd = mlirAffineExprIsAAdd(expression);
    for (int i = 0; i < MaxLoops; ++i) {
      result.isLinear &= isAdd || b.factors[i] == 0; // a product's constant stands on the right
      result.factors[i] = isAdd ? a.factors[i] + b.factors[i] : a.factors[i] * b.constant;
    }
    result.constant = isAdd ? a.constant + b.constant : a.constant * b.constant;
    result.isLinear &= a.isLinear && b.isLinear;
  } else
    result.isLinear = false;
  return result;
}

static void accessCreate(InterpretAccess *access, MlirAffineMap map, Array *array) {
  *access = (InterpretAccess){.map = map, .array = array, .isLinear = true, .place = {.isLinear = true}};
  for (int r = 0; array && r < array->rank; ++r) {
    access->results[r] = linearOf(mlirAffineMapGetResult(map, r));
    access->isLinear &= access->results[r].isLinear;
    access->place.constant += access->results[r].constant * array->strides[r];
    for (int i = 0; i < MaxLoops; ++i)
      access->place.factors[i] += access->results[r].factors[i] * array->strides[r];
  }
  if (array)
    access->place.constant += array->offset;
}

//===--- the nest -----------------------------------------------------------------------===//

static int numberOfOutputs(MlirOperation op) {
  if (linalgReduceOpIsA(op))
    return (int)mlirOperationGetNumOperands(op) / 2;
  intptr_t begin, count;
  tileUpstreamOperandSegment(op, 3, 2, 1, &begin, &count);
  return (int)count; // 1 for map, transpose and broadcast, which have no segments
}

// A loop is as long as the dimension that some operand indexes by it alone.
static bool findSizes(Machine *machine, const Instruction *instruction, Nest *nest) {
  for (int i = 0; i < nest->loops; ++i)
    nest->sizes[i] = -1;
  for (int o = 0; o < nest->numOperands; ++o)
    for (int r = 0; nest->accesses[o].array && r < nest->accesses[o].array->rank; ++r) {
      MlirAffineExpr expression = mlirAffineMapGetResult(nest->accesses[o].map, r);
      if (!mlirAffineExprIsADim(expression))
        continue;
      int64_t *size = &nest->sizes[mlirAffineDimExprGetPosition(expression)], seen = nest->accesses[o].array->sizes[r];
      if (*size >= 0 && *size != seen)
        return interpretFail(machine, instruction->op,
                             "has operands that disagree: dimension %d of operand %d has size "
                             "%lld, expected %lld",
                             r, o, (long long)seen, (long long)*size);
      *size = seen;
    }
  for (int i = 0; i < nest->loops; ++i)
    if (nest->sizes[i] < 0)
      return interpretFail(machine, instruction->op, "has a loop %d that no operand is indexed by alone", i);
  return true;
}

static bool expectReach(Machine *machine, const Instruction *instruction, const Nest *nest, int operand) {
  const InterpretAccess *access = &nest->accesses[operand];
  for (int r = 0; access->array && access->isLinear && r < access->array->rank; ++r) {
    int64_t least = access->results[r].constant, most = least;
    for (int i = 0; i < nest->loops; ++i) {
      int64_t reach = access->results[r].factors[i] * (nest->sizes[i] - 1);
      least += reach < 0 ? reach : 0;
      most += reach > 0 ? reach : 0;
    }
    if (least < 0 || most >= access->array->sizes[r])
      return interpretFail(
          machine, instruction->op,
          "is out of bounds: operand %d is read from %lld to %lld in dimension %d, which has size %lld", operand,
          (long long)least, (long long)most, r, (long long)access->array->sizes[r]);
  }
  return true;
}

// Outputs that are tensors are copied: the op makes new ones.
static bool nestCreate(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(instruction->op);
  *nest = (Nest){.numOperands = instruction->numOperands, .block = instruction->regions[0].blocks};
  nest->numInputs = nest->numOperands - numberOfOutputs(instruction->op);
  if (mlirAttributeIsNull(maps) || nest->numOperands > MaxOperands)
    return interpretUnknown(machine, instruction->op, "not interpreted yet: no indexing maps, or too many operands");
  nest->loops = (int)mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  if (nest->loops > MaxLoops)
    return interpretFail(machine, instruction->op, "has %d loops; the interpreter knows up to %d", nest->loops,
                         MaxLoops);
  for (int o = 0; o < nest->numOperands; ++o) {
    Array *array = operandOf(frame, instruction, o).object ? arrayOperand(frame, instruction, o) : NULL;
    if (o >= nest->numInputs && instruction->numResults) {
      array = interpretArrayCopy(array);
      if (!array)
        return interpretOutOfMemory(machine, instruction->op);
      setResult(frame, instruction, o - nest->numInputs, valueOfObject(&array->object));
    }
    accessCreate(&nest->accesses[o], mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, o)), array);
  }
  return findSizes(machine, instruction, nest);
}

//===--- reductions -----------------------------------------------------------------------===//

static int usesOf(const InterpretBlock *block, int slot) {
  int uses = 0;
  for (int i = 0; i < block->numInstructions; ++i) {
    const Instruction *instruction = &block->instructions[i];
    for (int o = 0; o < instruction->numOperands; ++o)
      uses += instruction->operands[o] == slot;
    uses += 2 * (instruction->numRegions > 0); // what lies in them is not looked through
  }
  return uses;
}

// A reduction over one element is one too: its product may be added without a rounding of its own (numerics.md §4).
static bool repeats(const Nest *nest, const InterpretAccess *access) {
  for (int i = 0; i < nest->loops; ++i)
    if (access->place.factors[i] == 0)
      return true;
  return false;
}

static Reduction reductionOf(const Nest *nest, int output) {
  Reduction none = {.instruction = -1};
  const InterpretBlock *block = nest->block;
  const Instruction *yield = &block->instructions[block->numInstructions - 1];
  const InterpretAccess *access = &nest->accesses[nest->numInputs + output];
  if (block->numArguments != nest->numOperands || !access->isLinear || !repeats(nest, access))
    return none;
  int accumulator = block->arguments[nest->numInputs + output], yielded = yield->operands[output];
  for (int i = 0; i < block->numInstructions; ++i) {
    const Instruction *instruction = &block->instructions[i];
    bool isProduct = arithMulFOpIsA(instruction->op);
    if (!instruction->numResults || instruction->results[0] != yielded ||
        (!isProduct && !arithAddFOpIsA(instruction->op)))
      continue;
    int a = instruction->operands[0], b = instruction->operands[1];
    if ((a == accumulator) != (b == accumulator) && usesOf(block, accumulator) == 1 && usesOf(block, yielded) == 1)
      return (Reduction){.instruction = i, .term = a == accumulator ? b : a, .isProduct = isProduct};
  }
  return none;
}

static bool findReductions(Machine *machine, const Instruction *instruction, Nest *nest) {
  for (int o = 0; o < nest->numOperands - nest->numInputs; ++o) {
    nest->reductions[o] = reductionOf(nest, o);
    if (nest->reductions[o].instruction < 0)
      continue;
    nest->reductions[o].sums = calloc((size_t)nest->accesses[nest->numInputs + o].array->storage->count, sizeof(Sum));
    if (!nest->reductions[o].sums)
      return interpretOutOfMemory(machine, instruction->op);
  }
  return true;
}

bool interpretNestAddTerm(Machine *machine, const Instruction *combine, const Reduction *reduction, Element initial,
                          int64_t place, Element term) {
  Sum *sum = &reduction->sums[place];
  void (*add)(Sum *, Element) = reduction->isProduct ? interpretProductAdd : sumAdd;
  if (!interpretElementExpect(machine, combine, term, "uses") ||
      (sum->terms == 0 && !interpretElementExpect(machine, combine, initial, "uses")))
    return false;
  if (sum->terms == 0)
    add(sum, initial);
  add(sum, term);
  return true;
}

static bool finishReductions(Machine *machine, const Instruction *instruction, Nest *nest) {
  bool ok = true;
  for (int o = 0; o < nest->numOperands - nest->numInputs; ++o) {
    Reduction *reduction = &nest->reductions[o];
    Storage *storage = nest->accesses[nest->numInputs + o].array->storage;
    Element (*finish)(const Sum *, const Format *) = reduction->isProduct ? interpretProductFinish : interpretSumFinish;
    for (int64_t i = 0; reduction->sums && ok && i < storage->count; ++i)
      if (reduction->sums[i].terms)
        ok = interpretMemoryWrite(machine, instruction, storage, i,
                                  finish(&reduction->sums[i], &nest->block->instructions[reduction->instruction].out));
  }
  return ok;
}

//===--- points -----------------------------------------------------------------------------===//

static bool placeAt(Machine *machine, const Instruction *instruction, const Nest *nest, const InterpretAccess *access,
                    int64_t *place) {
  if (access->isLinear) {
    *place = linearAt(&access->place, nest->loops, nest->point);
    return true;
  }
  *place = access->array->offset;
  for (int r = 0; r < access->array->rank; ++r) {
    int64_t index = 0;
    if (!interpretAffineValue(mlirAffineMapGetResult(access->map, r), nest->point, NULL, &index))
      return interpretFail(machine, instruction->op, "has an indexing map that divides by what is not positive");
    if (index < 0 || index >= access->array->sizes[r])
      return interpretFail(machine, instruction->op,
                           "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index, r,
                           (long long)access->array->sizes[r]);
    *place += index * access->array->strides[r];
  }
  return true;
}

static bool runPoint(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest) {
  int64_t places[MaxOperands];
  const InterpretBlock *block = nest->block;
  for (int o = 0; o < nest->numOperands; ++o) {
    Element x = operandOf(frame, instruction, o).scalar;
    if (nest->accesses[o].array) {
      if (!placeAt(machine, instruction, nest, &nest->accesses[o], &places[o]))
        return false;
      x = nest->accesses[o].array->storage->elements[places[o]];
    }
    if (o < block->numArguments)
      frameSet(frame, block->arguments[o], valueOfElement(x));
  }
  const Instruction *yield = &block->instructions[block->numInstructions - 1];
  for (int i = 0; i + 1 < block->numInstructions; ++i) {
    bool isReduction = false;
    for (int o = 0; o < yield->numOperands; ++o)
      isReduction |= nest->reductions[o].instruction == i;
    if (!isReduction && !block->instructions[i].execute(machine, frame, &block->instructions[i]))
      return false;
  }
  for (int o = 0; o < yield->numOperands; ++o) {
    int operand = nest->numInputs + o;
    const Reduction *reduction = &nest->reductions[o];
    Storage *storage = nest->accesses[operand].array->storage;
    if (reduction->sums) {
      if (!interpretNestAddTerm(machine, &block->instructions[reduction->instruction], reduction,
                                storage->elements[places[operand]], places[operand],
                                frame->slots[reduction->term].scalar))
        return false;
    } else if (!interpretMemoryWrite(machine, yield, storage, places[operand], operandOf(frame, yield, o).scalar))
      return false;
  }
  return interpretStep(machine, instruction->op, block->numInstructions);
}

static bool runPoints(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest) {
  const int64_t *outer = frame->point;
  int inner = interpretStripeLoopOf(instruction, nest);
  frame->point = nest->point;
  bool ok = inner < 0 || interpretRunStripes(machine, frame, instruction, nest, inner);
  if (inner < 0)
    do
      ok = runPoint(machine, frame, instruction, nest);
    while (ok && interpretIndexNext(nest->loops, nest->sizes, nest->point));
  frame->point = outer;
  return ok && finishReductions(machine, instruction, nest);
}

bool interpretLinalg(Machine *machine, Frame *frame, const Instruction *instruction) {
  Nest *nest = malloc(sizeof *nest);
  if (!nest)
    return interpretOutOfMemory(machine, instruction->op);
  bool ok = nestCreate(machine, frame, instruction, nest);
  if (ok && interpretCountOf(nest->loops, nest->sizes) > 0) {
    for (int o = 0; o < nest->numOperands && ok; ++o)
      ok = expectReach(machine, instruction, nest, o);
    ok = ok && findReductions(machine, instruction, nest) && runPoints(machine, frame, instruction, nest);
    for (int o = 0; o < nest->numOperands - nest->numInputs; ++o)
      free(nest->reductions[o].sums);
  }
  free(nest);
  return ok;
}

bool interpretLinalgIndex(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t loop = mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "dim"));
  setResult(frame, instruction, 0, valueOfInteger(frame->point[loop]));
  return true;
}
