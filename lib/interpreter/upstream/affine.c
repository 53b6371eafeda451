// Affine expressions by definition, and the ops that compute indices with them.
#include "lib/interpreter/upstream/affine.h"
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
