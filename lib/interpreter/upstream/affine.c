// Affine expressions by definition, and the ops of affine: indices, loops, conditions and accesses.
#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/upstream.h"
#include "mlir-c/IntegerSet.h"
#include "upstream/affine.h"

static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool interpretAffineValue(MlirAffineExpr expression, const int64_t *dimensions, const int64_t *symbols,
                          int64_t *value) {
  int64_t a, b;
  if (mlirAffineExprIsADim(expression))
    *value = dimensions[mlirAffineDimExprGetPosition(expression)];
  else if (mlirAffineExprIsASymbol(expression))
    *value = symbols[mlirAffineSymbolExprGetPosition(expression)];
  else if (mlirAffineExprIsAConstant(expression))
    *value = mlirAffineConstantExprGetValue(expression);
  else {
    if (!interpretAffineValue(mlirAffineBinaryOpExprGetLHS(expression), dimensions, symbols, &a) ||
        !interpretAffineValue(mlirAffineBinaryOpExprGetRHS(expression), dimensions, symbols, &b))
      return false;
    bool isDivision = !mlirAffineExprIsAAdd(expression) && !mlirAffineExprIsAMul(expression);
    if (isDivision && b <= 0)
      return false;
    *value = mlirAffineExprIsAAdd(expression)        ? (int64_t)((uint64_t)a + (uint64_t)b)
             : mlirAffineExprIsAMul(expression)      ? (int64_t)((uint64_t)a * (uint64_t)b)
             : mlirAffineExprIsAMod(expression)      ? a - b * floorDivide(a, b)
             : mlirAffineExprIsAFloorDiv(expression) ? floorDivide(a, b)
                                                     : -floorDivide(-a, b);
  }
  return true;
}

// The results of the op's map on its operands.
static bool resultOf(Machine *machine, const Instruction *instruction, MlirAffineMap map, intptr_t number,
                     const int64_t *operands, int64_t *value) {
  return interpretAffineValue(mlirAffineMapGetResult(map, number), operands, operands + mlirAffineMapGetNumDims(map),
                              value) ||
         interpretFail(machine, instruction->op, "divides by what is not positive");
}

enum { MaxAffineOperands = 64 };

// affine.apply has one result; affine.min and affine.max the least and the greatest of theirs.
bool interpretAffine(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(tileOpAttribute(instruction->op, "map"));
  int64_t operands[MaxAffineOperands], best = 0, value;
  bool isMin = affineAffineMinOpIsA(instruction->op);
  if (instruction->numOperands > MaxAffineOperands)
    return interpretFail(machine, instruction->op, "has %d operands; the interpreter knows up to %d",
                         instruction->numOperands, MaxAffineOperands);
  if (!interpretIndexOperands(machine, frame, instruction, 0, instruction->numOperands, operands))
    return false;
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    if (!resultOf(machine, instruction, map, i, operands, &value))
      return false;
    best = i == 0 || (isMin ? value < best : value > best) ? value : best;
  }
  setResult(frame, instruction, 0, valueOfInteger(best));
  return true;
}

//===--- control flow -------------------------------------------------------------------===//

static bool readOperands(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t begin,
                         intptr_t count, int64_t *operands) {
  if (count > MaxAffineOperands)
    return interpretFail(machine, instruction->op, "has %d operands; the interpreter knows up to %d", (int)count,
                         MaxAffineOperands);
  return interpretIndexOperands(machine, frame, instruction, begin, count, operands);
}

// The greatest (lower) or least (upper) of a bound's results.
static bool boundOf(Machine *machine, const Frame *frame, const Instruction *instruction, bool isUpper,
                    int64_t *bound) {
  intptr_t lower = affineAffineForOpGetNumLowerBoundOperands(instruction->op);
  intptr_t count = isUpper ? affineAffineForOpGetNumUpperBoundOperands(instruction->op) : lower;
  MlirAffineMap map = mlirAffineMapAttrGetValue(isUpper ? affineAffineForOpGetUpperBoundMap(instruction->op)
                                                        : affineAffineForOpGetLowerBoundMap(instruction->op));
  int64_t operands[MaxAffineOperands], value;
  if (!readOperands(machine, frame, instruction, isUpper ? lower : 0, count, operands))
    return false;
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    if (!resultOf(machine, instruction, map, i, operands, &value))
      return false;
    *bound = i == 0 || (isUpper ? value < *bound : value > *bound) ? value : *bound;
  }
  return true;
}

bool interpretAffineFor(Machine *machine, Frame *frame, const Instruction *instruction) {
  intptr_t firstInit = affineAffineForOpGetNumLowerBoundOperands(instruction->op) +
                       affineAffineForOpGetNumUpperBoundOperands(instruction->op);
  int64_t bounds[] = {0, 0, affineAffineForOpGetStepValue(instruction->op)};
  return boundOf(machine, frame, instruction, false, &bounds[0]) &&
         boundOf(machine, frame, instruction, true, &bounds[1]) &&
         interpretLoop(machine, frame, instruction, bounds, (int)firstInit);
}

// All constraints of the set must hold.
bool interpretAffineIf(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirIntegerSet set = mlirIntegerSetAttrGetValue(affineAffineIfOpGetCondition(instruction->op));
  int64_t operands[MaxAffineOperands], value;
  bool holds = true;
  if (!readOperands(machine, frame, instruction, 0, instruction->numOperands, operands))
    return false;
  for (intptr_t i = 0; i < mlirIntegerSetGetNumConstraints(set); ++i) {
    if (!interpretAffineValue(mlirIntegerSetGetConstraint(set, i), operands, operands + mlirIntegerSetGetNumDims(set),
                              &value))
      return interpretFail(machine, instruction->op, "divides by what is not positive");
    holds &= mlirIntegerSetIsConstraintEq(set, i) ? value == 0 : value >= 0;
  }
  const InterpretRegion *region = &instruction->regions[holds ? 0 : 1];
  return region->numBlocks == 0 || interpretForResults(machine, frame, instruction, region);
}

//===--- accesses -----------------------------------------------------------------------===//

// The element that the map's results name, of the memref that is operand `memref`.
static bool placeOf(Machine *machine, const Frame *frame, const Instruction *instruction, int memref, int64_t *place) {
  const Array *array = arrayOperand(frame, instruction, memref);
  MlirAffineMap map = mlirAffineMapAttrGetValue(tileOpAttribute(instruction->op, "map"));
  int64_t operands[MaxAffineOperands], index[InterpreterMaxRank];
  if (!readOperands(machine, frame, instruction, memref + 1, instruction->numOperands - memref - 1, operands))
    return false;
  for (int d = 0; d < array->rank; ++d) {
    if (!resultOf(machine, instruction, map, d, operands, &index[d]))
      return false;
    if (index[d] < 0 || index[d] >= array->sizes[d])
      return interpretFail(machine, instruction->op,
                           "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index[d], d,
                           (long long)array->sizes[d]);
  }
  *place = interpretPlaceOf(array, index);
  return true;
}

bool interpretAffineLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t place;
  Element x;
  if (!placeOf(machine, frame, instruction, 0, &place) ||
      !interpretMemoryRead(machine, instruction, arrayOperand(frame, instruction, 0)->storage, place, &x))
    return false;
  setResult(frame, instruction, 0, valueOfElement(x));
  return true;
}

bool interpretAffineStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t place;
  return placeOf(machine, frame, instruction, 1, &place) &&
         interpretMemoryWrite(machine, instruction, arrayOperand(frame, instruction, 1)->storage, place,
                              operandOf(frame, instruction, 0).scalar);
}
