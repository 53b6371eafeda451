// convert-tt-to-tile: kernels of Triton, as TTIR prints them, become tile kernels, each with a function of the host
// that launches it. Expects: a module of tt.funcs. Leaves: for each public tt.func K a tile.kernel K and a func.func
// launch_K that takes K's parameters (pointers as memref<?xT>) and three sizes of the grid; no op of tt. Hints stay as
// discardable attributes of loops. An op without a conversion is an error.
// Why: a kernel of Triton then runs on every target and under every judge. Cost: linear in the ops, calls inlined.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/ttg/ops.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"

#include <stdio.h>
#include <stdlib.h>

//===--- ops ------------------------------------------------------------------------------===//

static bool convertOp(Triton *t, MlirOperation op) {
  static const TileConvertOp conversions[] = {tritonMemory,  tritonShapes, tritonCompute, tritonReduction,
                                              tritonControl, tritonBlocks, NULL};
  bool isKnown;
  t->b.location = mlirOperationGetLocation(op);
  return tileConvertBy(conversions, t, op, &isKnown) && (isKnown || tileError(op, "has no conversion to tile"));
}

bool tritonConvertBlock(Triton *t, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationIsNull(op) && !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    if (!convertOp(t, op))
      return false;
  return true;
}

//===--- parameters -----------------------------------------------------------------------===//

static MlirType parameterType(MlirOperation function, MlirType old, intptr_t number) {
  MlirContext context = mlirTypeGetContext(old);
  if (ttTypeIsAPointer(old) && !ttTypeIsABlockPointer(old)) {
    MlirType pointee = ttPointerTypeGetPointee(old);
    int64_t open = mlirShapedTypeGetDynamicSize();
    if (ttTypeIsAPointer(pointee))
      pointee = mlirIntegerTypeGet(context, 64);
    return mlirMemRefTypeContiguousGet(pointee, 1, &open, mlirAttributeGetNull());
  }
  if (mlirTypeIsAInteger(old) || mlirTypeIsAFloat(old))
    return old;
  tileError(function, "parameter %ld is %s, expected a pointer, an integer or a float", (long)number,
            tileTypeText(old, (char[128]){0}, 128));
  return (MlirType){NULL};
}

// `tt.divisibility` of parameter `number`; 0: none.
static int64_t divisibilityOf(MlirOperation function, intptr_t number) {
  MlirAttribute all = funcFuncOpGetArgAttrs(function);
  if (mlirAttributeIsNull(all) || number >= mlirArrayAttrGetNumElements(all))
    return 0;
  MlirAttribute value =
      mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, number), tileString("tt.divisibility"));
  bool ok = !mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value);
  return ok && mlirIntegerAttrGetValueInt(value) > 1 ? mlirIntegerAttrGetValueInt(value) : 0;
}

static bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

static void takeParameter(Triton *t, MlirValue old, MlirValue value, int64_t divisibility) {
  bool isPointer = ttTypeIsAPointer(mlirValueGetType(old));
  MlirAttribute none = mlirAttributeGetNull();
  MlirAttribute divisor = divisibility ? tileBuildEnum(&t->b, 64, divisibility) : none;
  if (divisibility && (isPointer ? isPowerOfTwo(divisibility) : mlirTypeIsAInteger(mlirValueGetType(old))))
    value = tileOnlyResult(
        tileAssumeOpCreate(&t->b, value, isPointer ? divisor : none, none, none, isPointer ? none : divisor, none));
  tritonSet(t, old,
            (TritonValue){.kind = isPointer ? Triton_Pointer : Triton_Plain,
                          .value = isPointer ? tileBuildIndex(&t->b, 0) : value,
                          .base = isPointer ? value : (MlirValue){NULL},
                          .pointee = isPointer ? ttPointerTypeGetPointee(mlirValueGetType(old)) : (MlirType){NULL}});
}

//===--- what is written ----------------------------------------------------------------------===//

static bool isWritten(MlirValue memory);

// Whether `op`, which takes the memory as operand `memory`, writes it or makes another name of it that is written.
static bool writes(MlirOperation op, MlirValue memory) {
  if (tileScatterOpIsA(op) || tileStoreOpIsA(op) || tileAtomicRmwOpIsA(op) || tileAtomicCasOpIsA(op) ||
      tileAtomicStoreOpIsA(op) || memrefStoreOpIsA(op) || memrefExtractAlignedPointerAsIndexOpIsA(op))
    return true; // through its address, perhaps
  return (tileAssumeOpIsA(op) || tileViewOpIsA(op) || memrefReinterpretCastOpIsA(op)) && isWritten(tileOnlyResult(op));
}

static bool isWritten(MlirValue memory) {
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (writes(mlirOpOperandGetOwner(use), memory))
      return true;
  return false;
}

//===--- kernels --------------------------------------------------------------------------------===//

typedef struct Parameters {
  intptr_t count, numRead;
  MlirType *types;   // of the old function's parameters
  intptr_t *places;  // the kernel's parameters, by number of the old function's
  MlirType *ordered; // of the kernel's parameters
} Parameters;

// Parameters that are written come last.
static void orderParameters(MlirBlock block, Parameters *parameters) {
  bool *written = calloc((size_t)parameters->count + 1, sizeof *written);
  for (intptr_t i = 0; i < parameters->count; ++i)
    written[i] = mlirTypeIsAMemRef(parameters->types[i]) && isWritten(mlirBlockGetArgument(block, i));
  intptr_t next = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (intptr_t i = 0; i < parameters->count; ++i)
      if (written[i] == pass)
        parameters->places[next++] = i;
    if (pass == 0)
      parameters->numRead = next;
  }
  for (intptr_t i = 0; i < parameters->count; ++i) {
    MlirValue old = mlirBlockGetArgument(block, parameters->places[i]);
    parameters->ordered[i] = parameters->types[parameters->places[i]];
    MlirValue moved = mlirBlockAddArgument(block, parameters->ordered[i], mlirValueGetLocation(old));
    mlirValueReplaceAllUsesOfWith(old, moved);
  }
  for (intptr_t i = parameters->count; i-- > 0;)
    mlirBlockEraseArgument(block, (unsigned)i);
  free(written);
}

static bool convertBody(MlirOperation function, MlirBlock block, Parameters *parameters) {
  MlirBlock old = mlirRegionGetFirstBlock(funcFuncOpGetBody(function));
  Triton t = {.b = tileBuilderAtEnd(block, mlirOperationGetLocation(function)), .kernel = function};
  for (intptr_t i = 0; i < parameters->count; ++i)
    takeParameter(&t, mlirBlockGetArgument(old, i), mlirBlockGetArgument(block, i), divisibilityOf(function, i));
  bool ok = tritonConvertBlock(&t, old);
  t.b.location = mlirOperationGetLocation(mlirBlockGetTerminator(old));
  if (ok)
    tileReturnOpBuild(&t.b, 0, NULL);
  tritonFree(&t);
  return ok;
}

static void buildLaunch(TileBuilder *b, MlirStringRef kernel, const Parameters *parameters) {
  enum { GridRank = 3 };
  intptr_t count = parameters->count;
  MlirType *types = calloc((size_t)count + GridRank, sizeof *types), index = mlirIndexTypeGet(b->context);
  MlirValue *values = calloc((size_t)count + GridRank, sizeof *values), grid[GridRank];
  for (intptr_t i = 0; i < count + GridRank; ++i)
    types[i] = i < count ? parameters->types[i] : index;
  MlirRegion body;
  TileBuilder inner = tileBuilderInRegion(b, &body, count + GridRank, types);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirBlockGetArgument(inner.block, parameters->places[i]);
  for (intptr_t i = 0; i < GridRank; ++i)
    grid[i] = mlirBlockGetArgument(inner.block, count + i);
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(b->context, kernel);
  tileLaunchOpBuild(&inner, 0, NULL, GridRank, grid, parameters->numRead, values, count - parameters->numRead,
                    values + parameters->numRead, symbol);
  funcReturnOpBuild(&inner, 0, NULL);
  char *name = malloc(kernel.length + sizeof "launch_");
  sprintf(name, "launch_%.*s", (int)kernel.length, kernel.data);
  MlirType type = mlirFunctionTypeGet(b->context, count + GridRank, types, 0, NULL);
  funcFuncOpBuild(b, mlirStringAttrGet(b->context, tileString(name)), mlirTypeAttrGet(type), body);
  free(name);
  free(values);
  free(types);
}

static bool convertKernel(MlirOperation function, Parameters *parameters) {
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
  if (mlirFunctionTypeGetNumResults(type))
    return tileError(function, "is public and gives results: a kernel gives none");
  for (intptr_t i = 0; i < parameters->count; ++i)
    if (mlirTypeIsNull(parameters->types[i] = parameterType(function, mlirFunctionTypeGetInput(type, i), i)))
      return false;
  TileBuilder b = tileBuilderBefore(function);
  MlirRegion body;
  TileBuilder inner = tileBuilderInRegion(&b, &body, parameters->count, parameters->types);
  if (!convertBody(function, inner.block, parameters)) {
    mlirRegionDestroy(body);
    return false;
  }
  orderParameters(inner.block, parameters);
  MlirType ordered = mlirFunctionTypeGet(b.context, parameters->count, parameters->ordered, 0, NULL);
  MlirAttribute name = funcFuncOpGetSymName(function);
  // Private: what all launches have in common may be told to it.
  tileKernelOpCreate(&b, mlirAttributeGetNull(), mlirAttributeGetNull(), mlirAttributeGetNull(), mlirAttributeGetNull(),
                     name, mlirStringAttrGet(b.context, tileString("private")), mlirTypeAttrGet(ordered),
                     mlirAttributeGetNull(), mlirAttributeGetNull(), body);
  buildLaunch(&b, mlirStringAttrGetValue(name), parameters);
  return true;
}

static bool convertFunction(MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
  Parameters parameters = {.count = mlirFunctionTypeGetNumInputs(type)};
  size_t count = (size_t)parameters.count + 1;
  parameters.types = calloc(count, sizeof *parameters.types);
  parameters.ordered = calloc(count, sizeof *parameters.ordered);
  parameters.places = calloc(count, sizeof *parameters.places);
  bool ok = convertKernel(function, &parameters);
  free(parameters.places);
  free(parameters.ordered);
  free(parameters.types);
  return ok;
}

//===--- the pass ---------------------------------------------------------------------------------===//

static bool isForeign(MlirOperation op) { return ttOpKind(op) != TtOp_None || ttgOpKind(op) != TtgOp_None; }

static bool isFunction(MlirOperation op) { return ttFuncOpIsA(op) || funcFuncOpIsA(op); }

// Functions of tt only: a kernel and functions of the host do not meet in one module of Triton's.
static bool check(MlirOperation module) {
  TileOps functions = tileCollectOps(module, isFunction);
  bool ok = true, hasKernel = false;
  for (intptr_t i = 0; ok && i < functions.count; ++i) {
    ok = ttFuncOpIsA(functions.items[i]) || tileError(functions.items[i], "stands beside a tt.func");
    hasKernel |= tileSymbolIsPublic(functions.items[i]);
  }
  tileOpsFree(&functions);
  return ok && (hasKernel || tileError(module, "has no public tt.func: nothing to launch"));
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps foreign = tileCollectOps(module, isForeign);
  bool isTriton = foreign.count != 0;
  tileOpsFree(&foreign);
  if (!isTriton)
    return true;
  if (!check(module) || !tritonStructure(module))
    return false;
  bool ok = true;
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  for (intptr_t i = 0; ok && i < functions.count; ++i)
    ok = !tileSymbolIsPublic(functions.items[i]) || convertFunction(functions.items[i]);
  for (intptr_t i = 0; ok && i < functions.count; ++i)
    mlirOperationDestroy(functions.items[i]);
  tileOpsFree(&functions);
  return ok;
}

const MlirExtPassDefinition tileTtToTilePass = {
    .argument = "convert-tt-to-tile",
    .summary = "Convert kernels of Triton (TTIR) to tile kernels and functions that launch them",
    .anchor = builtinModuleOpName,
    .dialects = (const char *const[]){"func", "scf", "arith", "math", "memref", "ub", "cf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
