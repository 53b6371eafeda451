// Reads a linalg.generic into the plain form of structured.h.
#include "lib/conversion/linalg_to_tile/structured.h"

#include <string.h>

//===--- iteration space ----------------------------------------------------===//

static bool readIterators(MlirOperation op, TileStructured *structured) {
  MlirAttribute types = tileOpAttribute(op, "iterator_types");
  intptr_t count = mlirArrayAttrGetNumElements(types);
  if (count > MaxDims)
    return false;
  structured->numDims = (int)count;
  for (intptr_t i = 0; i < count; i++) {
    char text[64];
    tileAttributeText(mlirArrayAttrGetElement(types, i), text, sizeof text); // no getter for the enum in mlir-c
    structured->dims[i] = (TileDim){.isReduction = strstr(text, "reduction") != NULL,
                                    .extent = mlirShapedTypeGetDynamicSize(),
                                    .tile = 1,
                                    .panels = 1,
                                    .axis = -1,
                                    .operand = -1};
    if (strstr(text, "window"))
      return false;
  }
  return true;
}

// A dimension's extent is known from any operand it indexes; a static one wins.
static void noteExtent(TileStructured *structured, int dim, int operand, int result) {
  TileDim *d = &structured->dims[dim];
  int64_t extent = mlirShapedTypeGetDimSize(mlirValueGetType(structured->operands[operand].value), result);
  if (d->operand >= 0 && mlirShapedTypeIsDynamicSize(extent))
    return;
  if (d->operand < 0 || mlirShapedTypeIsDynamicSize(d->extent)) {
    d->extent = extent;
    d->operand = operand;
    d->result = result;
  }
}

static bool readMap(MlirAffineMap map, TileOperand *operand) {
  operand->rank = (int)mlirAffineMapGetNumResults(map);
  if (operand->rank > MaxDims || mlirAffineMapGetNumSymbols(map) > 0)
    return false;
  uint32_t seen = 0;
  for (int i = 0; i < operand->rank; i++) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, i);
    operand->results[i] = -1;
    if (mlirAffineExprIsAConstant(result)) {
      operand->constants[i] = mlirAffineConstantExprGetValue(result);
      continue;
    }
    if (!mlirAffineExprIsADim(result))
      return false;
    int dim = (int)mlirAffineDimExprGetPosition(result);
    if (seen & 1u << dim)
      return false; // a diagonal
    seen |= 1u << dim;
    operand->results[i] = dim;
  }
  return true;
}

static bool isElementType(MlirType type) {
  return mlirTypeIsAFloat(type) || mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type);
}

static bool readOperand(TileStructured *structured, int index) {
  TileOperand *operand = &structured->operands[index];
  operand->value = mlirOperationGetOperand(structured->op, index);
  MlirType type = mlirValueGetType(operand->value);
  operand->isTensor = mlirTypeIsARankedTensor(type);
  if (!operand->isTensor && !isElementType(type))
    return false;
  if (operand->isTensor && (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) ||
                            !isElementType(mlirShapedTypeGetElementType(type))))
    return false;
  MlirAttribute maps = tileOpAttribute(structured->op, "indexing_maps");
  if (!readMap(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, index)), operand))
    return false;
  for (int i = 0; operand->isTensor && i < operand->rank; i++)
    if (operand->results[i] >= 0)
      noteExtent(structured, operand->results[i], index, i);
  return true;
}

//===--- body ---------------------------------------------------------------===//

static bool hasPrefix(MlirStringRef name, const char *prefix) {
  return name.length > strlen(prefix) && memcmp(name.data, prefix, strlen(prefix)) == 0;
}

// An op that means the same on scalars and, element by element, on tiles.
static bool isElementwise(MlirOperation op) {
  MlirStringRef name = tileOpName(op);
  if (tileOpIs(op, "linalg.index"))
    return true;
  if (!hasPrefix(name, "arith.") && !hasPrefix(name, "math."))
    return false;
  return mlirOperationGetNumResults(op) == 1 && mlirOperationGetNumRegions(op) == 0 &&
         isElementType(tileResultType(op, 0));
}

static bool isDefinedIn(MlirValue value, MlirBlock block) {
  MlirBlock owner = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(mlirOpResultGetOwner(value));
  return mlirBlockEqual(owner, block);
}

static bool noteCapture(TileStructured *structured, MlirValue value) {
  if (isDefinedIn(value, structured->body) || tileOpIs(tileDefiningOp(value), "arith.constant"))
    return true; // a constant is made again in the kernel
  for (int i = 0; i < structured->numCaptures; i++)
    if (mlirValueEqual(structured->captures[i], value))
      return true;
  if (!isElementType(mlirValueGetType(value)) || structured->numCaptures == MaxCaptures)
    return false;
  structured->captures[structured->numCaptures++] = value;
  return true;
}

static bool readBody(TileStructured *structured) {
  intptr_t values = 0;
  structured->body = tileOnlyBlock(mlirOperationGetRegion(structured->op, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(structured->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    values += 1 + mlirOperationGetNumOperands(op);
    if ((!tileOpIs(op, "linalg.yield") && !isElementwise(op)) || values > MaxBodyValues)
      return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      if (!noteCapture(structured, mlirOperationGetOperand(op, i)))
        return false;
  }
  return true;
}

//===--- the whole ----------------------------------------------------------===//

// Every element of the output has one program that writes it: a map over all parallel dimensions and no others.
static bool writesOnce(const TileStructured *structured, const TileOperand *output) {
  int parallel = 0;
  for (int d = 0; d < structured->numDims; d++)
    parallel += !structured->dims[d].isReduction;
  for (int i = 0; i < output->rank; i++)
    if (output->results[i] < 0 || structured->dims[output->results[i]].isReduction)
      return false;
  return output->rank == parallel;
}

bool tileStructuredRead(MlirOperation op, TileStructured *structured) {
  *structured = (TileStructured){.op = op};
  intptr_t operands = mlirOperationGetNumOperands(op);
  if (!tileOpIs(op, "linalg.generic") || operands > MaxOperands || mlirOperationGetNumResults(op) == 0)
    return false;
  structured->numOutputs = (int)mlirOperationGetNumResults(op);
  structured->numInputs = (int)(operands - structured->numOutputs);
  if (!readIterators(op, structured))
    return false;
  for (int i = 0; i < operands; i++)
    if (!readOperand(structured, i))
      return false;
  for (int i = 0; i < structured->numDims; i++)
    if (structured->dims[i].operand < 0)
      return false; // no operand tells this dimension's extent
  for (int i = structured->numInputs; i < operands; i++)
    if (!writesOnce(structured, &structured->operands[i]))
      return false;
  return readBody(structured);
}

bool tileStructuredHasReduction(const TileStructured *structured) {
  for (int i = 0; i < structured->numDims; i++)
    if (structured->dims[i].isReduction)
      return true;
  return false;
}

bool tileStructuredUsesIndex(const TileStructured *structured) {
  for (MlirOperation op = mlirBlockGetFirstOperation(structured->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tileOpIs(op, "linalg.index"))
      return true;
  return false;
}
