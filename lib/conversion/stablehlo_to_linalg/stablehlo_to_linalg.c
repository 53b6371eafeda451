// convert-stablehlo-to-linalg: programs of StableHLO and CHLO, as JAX prints them, become linalg, tensor, arith, math
// and scf. Expects: public functions of one block; private functions are inlined where they are called, and removed.
// Leaves: no op of StableHLO or CHLO, signless integers, no complex numbers. An op without a conversion is an error.
// Why: one conversion to what every pipeline and judge takes. Semantics: the StableHLO specification, with XLA's values
// where that one leaves them to the implementation. Cost: linear in the ops, calls inlined.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"
#include "upstream/func.h"

#include <stdlib.h>

enum { MostOps = 1 << 20 };

//===--- ops ------------------------------------------------------------------------------===//

static bool isOurs(MlirOperation op) {
  return stablehloOpKind(op) != StablehloOp_None || chloOpKind(op) != ChloOp_None;
}

// An op of another dialect, as it is, on new values.
static bool copyOp(Hlo *h, MlirOperation op) {
  if (mlirOperationGetNumRegions(op))
    return tileError(op, "has regions and is not an op of StableHLO: expected StableHLO, CHLO and ops without regions");
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue old = mlirOperationGetOperand(op, i);
    HloValue value = mlirTypeIsARankedTensor(mlirValueGetType(old)) ? hloGetTensor(h, old) : hloGet(h, old);
    if (value.count != 1 || !mlirTypeEqual(mlirValueGetType(value.parts[0]), mlirValueGetType(old))) {
      mlirOperationDestroy(copy);
      return tileError(op, "takes a value of type %s that StableHLO computes: expected signless and real elements",
                       tileTypeText(mlirValueGetType(old), (char[192]){0}, 192));
    }
    mlirOperationSetOperand(copy, i, value.parts[0]);
  }
  tileBuilderInsert(&h->b, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue result = mlirOperationGetResult(copy, i);
    bool isScalar = mlirTypeIsARankedTensor(mlirValueGetType(result)) && hloShape(result).rank == 0;
    hloSetOne(h, mlirOperationGetResult(op, i), isScalar ? hloFromTensor(h, result) : result);
  }
  return true;
}

static bool refuse(MlirOperation op) {
  if (stablehloCustomCallOpIsA(op)) {
    MlirStringRef name = mlirStringAttrGetValue(stablehloCustomCallOpGetCallTargetName(op));
    return tileError(op, "calls '%.*s', which only another implementation provides", (int)name.length, name.data);
  }
  return tileError(op, "has no conversion to linalg");
}

bool hloConvertOp(Hlo *h, MlirOperation op) {
  typedef bool (*Convert)(Hlo *h, MlirOperation op, bool *isKnown);
  static const Convert conversions[] = {hloMove,    hloProduct, hloReduction, hloGatherScatter,
                                        hloSorting, hloControl, hloOpenSizes, hloMatrix};
  if (--h->budget < 0)
    return tileError(op, "the program has more than %d ops with its calls inlined", MostOps);
  h->b.location = mlirOperationGetLocation(op);
  if (hloIsElementwise(op) || stablehloMapOpIsA(op))
    return hloElementwise(h, op);
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i) {
    bool isKnown;
    bool ok = conversions[i](h, op, &isKnown);
    if (isKnown || !ok)
      return ok;
  }
  return isOurs(op) ? refuse(op) : copyOp(h, op);
}

bool hloConvertBlock(Hlo *h, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    if (!hloConvertOp(h, op))
      return false;
  return true;
}

bool hloConvertRegion(Hlo *h, MlirRegion region, intptr_t count, const HloValue *arguments, HloValue *results) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  MlirOperation end = mlirBlockGetTerminator(block);
  for (intptr_t i = 0; i < count; ++i)
    hloSet(h, mlirBlockGetArgument(block, i), arguments[i]);
  if (!hloConvertBlock(h, block))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); ++i)
    if (!(results[i] = hloGet(h, mlirOperationGetOperand(end, i))).count)
      return false;
  return true;
}

bool hloConvertBody(Hlo *h, MlirRegion region, intptr_t count, const HloValue *arguments, HloValue *results) {
  return hloConvertRegion(h, region, count, arguments, results);
}

//===--- functions ----------------------------------------------------------------------------===//

static bool convertArguments(Hlo *h, MlirOperation function, MlirBlock old, MlirBlock block) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i) {
    MlirValue argument = mlirBlockGetArgument(old, i);
    MlirType type = mlirValueGetType(argument);
    MlirExtShape shape = hloShape(argument);
    bool isTensor = mlirTypeIsARankedTensor(type);
    if (isTensor && hloIsComplex(shape.element))
      return tileError(function, "argument %ld is %s: take real and imaginary parts", (long)i,
                       tileTypeText(type, (char[192]){0}, 192));
    MlirValue value = mlirBlockAddArgument(block, hloType(type), h->b.location);
    hloSetOne(h, argument, isTensor && shape.rank == 0 ? hloFromTensor(h, value) : value);
  }
  return true;
}

static bool convertReturn(Hlo *h, MlirOperation end) {
  intptr_t count = mlirOperationGetNumOperands(end);
  MlirValue *values = calloc((size_t)count + 1, sizeof *values);
  bool ok = true;
  for (intptr_t i = 0; ok && i < count; ++i) {
    MlirValue old = mlirOperationGetOperand(end, i);
    bool isTensor = mlirTypeIsARankedTensor(mlirValueGetType(old));
    HloValue value = isTensor ? hloGetTensor(h, old) : hloGet(h, old);
    ok = value.count == 1;
    values[i] = value.parts[0];
    if (value.count == 2)
      tileError(end, "result %ld is complex: return real and imaginary parts", (long)i);
  }
  h->b.location = mlirOperationGetLocation(end);
  if (ok)
    funcReturnOpCreate(&h->b, count, values);
  free(values);
  return ok;
}

static MlirType functionType(MlirContext context, MlirBlock block, MlirOperation end) {
  intptr_t numInputs = mlirBlockGetNumArguments(block), numResults = mlirOperationGetNumOperands(end);
  MlirType *types = calloc((size_t)(numInputs + numResults) + 1, sizeof *types);
  for (intptr_t i = 0; i < numInputs; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  for (intptr_t i = 0; i < numResults; ++i)
    types[numInputs + i] = tileOperandType(end, i);
  MlirType type = mlirFunctionTypeGet(context, numInputs, types, numResults, types + numInputs);
  free(types);
  return type;
}

// A new block takes the place of the old one.
static bool convertFunction(MlirOperation function) {
  MlirRegion body = funcFuncOpGetBody(function);
  MlirBlock old = mlirRegionGetFirstBlock(body), block = mlirBlockCreate(0, NULL, NULL);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(old)))
    return tileError(function, "has several blocks, expected one");
  MlirOperation end = mlirBlockGetTerminator(old);
  if (!funcReturnOpIsA(end))
    return tileError(function, "does not end with func.return");
  mlirRegionAppendOwnedBlock(body, block);
  Hlo h = {.b = tileBuilderAtEnd(block, mlirOperationGetLocation(function)), .budget = MostOps};
  h.calls[h.depth++] = function;
  bool ok = convertArguments(&h, function, old, block) && hloConvertBlock(&h, old) && convertReturn(&h, end);
  for (int i = 0; i < 2; ++i)
    tileTableFree(&h.parts[i]);
  hloForgetSizes(&h);
  if (!ok) // the old block goes with the module
    return false;
  mlirBlockDetach(old);
  mlirBlockDestroy(old);
  funcFuncOpSetFunctionType(function, mlirTypeAttrGet(functionType(h.b.context, block, mlirBlockGetTerminator(block))));
  mlirOperationRemoveAttributeByName(function, tileString("arg_attrs"));
  mlirOperationRemoveAttributeByName(function, tileString("res_attrs"));
  return true;
}

//===--- the pass ---------------------------------------------------------------------------------===//

static MlirWalkResult find(MlirOperation op, void *found) {
  *(bool *)found |= isOurs(op);
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  bool found = false, ok = true;
  mlirOperationWalk(module, find, &found, MlirWalkPreOrder);
  if (!found)
    return true;
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  for (intptr_t i = 0; ok && i < functions.count; ++i)
    if (tileSymbolIsPublic(functions.items[i]) &&
        !mlirBlockIsNull(mlirRegionGetFirstBlock(funcFuncOpGetBody(functions.items[i]))))
      ok = convertFunction(functions.items[i]);
  for (intptr_t i = 0; ok && i < functions.count; ++i)
    if (!tileSymbolIsPublic(functions.items[i]))
      mlirOperationDestroy(functions.items[i]);
  tileOpsFree(&functions);
  return ok;
}

const MlirExtPassDefinition tileStablehloToLinalgPass = {
    .argument = "convert-stablehlo-to-linalg",
    .summary = "Convert programs of StableHLO and CHLO, as JAX prints them, to linalg",
    .anchor = builtinModuleOpName,
    .dialects = (const char *const[]){"linalg", "tensor", "arith", "math", "scf", "func", NULL},
    .run = run,
};
