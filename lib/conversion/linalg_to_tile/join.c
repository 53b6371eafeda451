// Elementwise ops and launches of one tile.group become one launch: an activation after a sparse product, or after a
// kernel that somebody wrote, and the constant that its output is filled with before. The kernel says where
// (lib/analysis/fusion.h). Expects: the structured elementwise op, or fill, in a group. Leaves: a copy of the kernel
// with it, and a launch of that; kernels that nobody launches any more go at the end (tileDropUnlaunched). Cost: linear
// in the kernel.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)); }

//===--- launches ---------------------------------------------------------------===//

// A copy of the kernel: spmm_with_0, spmm_with_1 of that.
static MlirOperation copyKernel(const TileJoinedLaunch *launch) {
  char name[96], *end;
  MlirStringRef old = mlirStringAttrGetValue(tileOpAttribute(launch->kernel, "sym_name"));
  snprintf(name, sizeof name, "%.*s", (int)(old.length < 80 ? old.length : 80), old.data);
  if ((end = strstr(name, "_with_")))
    *end = '\0';
  strcat(name, "_with");
  MlirOperation copy = mlirOperationClone(launch->kernel);
  MlirContext context = mlirOperationGetContext(copy);
  mlirOperationSetAttributeByName(copy, tileString("sym_name"), tileFreshSymbol(launch->op, name));
  mlirOperationSetAttributeByName(copy, tileString("sym_visibility"),
                                  mlirStringAttrGet(context, tileString("private")));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(launch->kernel), launch->kernel, copy);
  return copy;
}

// One more input, the last.
static MlirValue addParameter(TileJoinedLaunch *launch, MlirOperation kernel, MlirType type, intptr_t number) {
  MlirBlock block = bodyOf(kernel);
  MlirValue value = mlirBlockInsertArgument(block, launch->inputs + number, type, mlirOperationGetLocation(kernel));
  intptr_t count = mlirBlockGetNumArguments(block);
  MlirType types[64];
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  MlirType function = mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL);
  mlirOperationSetAttributeByName(kernel, tileString("function_type"), mlirTypeAttrGet(function));
  return value;
}

enum { MostOperands = 60 };

// Launches `kernel` in place of the old one, at `before`, with `count` more inputs; the result has that output's place.
static MlirValue relaunch(const TileJoinedLaunch *old, MlirOperation kernel, MlirOperation before, intptr_t count,
                          const MlirValue *more, MlirValue output) {
  TileBuilder b = tileBuilderBefore(before);
  MlirValue operands[MostOperands];
  intptr_t number = 0;
  for (intptr_t i = 0; i < old->grid + old->inputs; ++i)
    operands[number++] = mlirOperationGetOperand(old->op, i);
  for (intptr_t i = 0; i < count; ++i)
    operands[number++] = more[i];
  MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(kernel));
  MlirType type = mlirValueGetType(output);
  MlirOperation launch = tileLaunchOpCreate(&b, 1, &type, old->grid, operands, old->inputs + count,
                                            operands + old->grid, 1, &output, mlirFlatSymbolRefAttrGet(b.context, name),
                                            tileLaunchOpGetCluster(old->op), mlirAttributeGetNull());
  return tileOnlyResult(launch);
}

//===--- after it ---------------------------------------------------------------===//

static MlirValue storedValue(MlirOperation store) {
  return tileStoreOpIsA(store) ? tileStoreOpGetValue(store) : memrefStoreOpGetValue(store);
}

// The elementwise op's dimensions as the store's tile has them; its value, of a column's tile without the last axis.
static MlirValue placeTile(TileKernelEmission *e, TileStructured *s, MlirOperation store) {
  bool isTile = tileStoreOpIsA(store);
  MlirValue value = storedValue(store),
            memory = isTile ? tileStoreOpGetDestination(store) : memrefStoreOpGetMemref(store);
  intptr_t firstIndex = isTile ? tileStoreOpGetIndicesBegin(store) : memrefStoreOpGetIndicesBegin(store);
  MlirType type = mlirValueGetType(value);
  MlirOperation view = tileDefiningOp(memory);
  bool isView = tileViewOpIsA(view);
  MlirAttribute fixed = isView ? tileOpAttribute(view, "fixed") : mlirAttributeGetNull();
  intptr_t numFixed = isView ? mlirOperationGetNumOperands(view) - 1 : 0, at = 0, kept = 0;
  int axes = 0;
  for (int d = 0; d < s->numDims; ++d) {
    bool isFixed = at < numFixed && mlirDenseI64ArrayGetElement(fixed, at) == d;
    int64_t size = isView && !isFixed ? tileViewTypeGetSize(mlirValueGetType(memory), kept) : 1;
    e->index[d] = isFixed ? tileViewOpGetIndices(view, at++) : mlirOperationGetOperand(store, firstIndex + kept++);
    s->dims[d].tile = size;
    s->dims[d].panels = 1;
    s->dims[d].axis = isView && !isFixed ? axes++ : -1;
  }
  MlirType element = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
  MlirType wanted = tileKernelTileType(e, element);
  return mlirTypeEqual(wanted, type) ? value : tileReshapeOpBuild(&e->body, wanted, value);
}

// Stores what the op's body makes of the value in its place.
static void applyAt(const TileStructured *elementwise, int argument, MlirOperation kernel, MlirOperation store,
                    const MlirValue *parameters) {
  TileStructured s = tileStructuredCopy(elementwise, 0);
  TileKernelEmission e = {.structured = &s, .body = tileBuilderBefore(store), .kernel = kernel};
  TileBodyMap map = {0};
  memcpy(e.parameters, parameters, sizeof e.parameters);
  MlirType type = mlirValueGetType(storedValue(store));
  MlirValue value = placeTile(&e, &s, store);
  tileBodyMapSet(&map, mlirBlockGetArgument(s.body, argument), value);
  tileKernelMapInputs(&e, &map, 0, argument < s.numInputs ? argument : s.numInputs);
  tileKernelMapInputs(&e, &map, argument + 1, s.numInputs);
  MlirValue result = tileKernelCloneValue(&e, &map, tileOnlyOperand(mlirBlockGetTerminator(s.body)));
  if (!mlirTypeEqual(mlirValueGetType(result), type))
    result = tileReshapeOpBuild(&e.body, type, result);
  if (tileStoreOpIsA(store))
    tileStoreOpSetValue(store, result);
  else
    memrefStoreOpSetValue(store, result);
}

// Repeats a reshape for another value.
static MlirValue reshapeLike(MlirOperation reshape, MlirValue value, MlirOperation before) {
  MlirOperation copy = mlirOperationClone(reshape);
  if (tensorExpandShapeOpIsA(copy))
    tensorExpandShapeOpSetSrc(copy, value);
  else
    tensorCollapseShapeOpSetSrc(copy, value);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, copy);
  return tileOnlyResult(copy);
}

static void joinLaunch(const TileStructured *s, int argument, TileJoinedLaunch *launch) {
  MlirOperation collapse = launch->reshape;
  MlirValue parameters[MaxOperands + MaxCaptures] = {{NULL}}, more[MaxOperands + MaxCaptures];
  MlirOperation kernel = copyKernel(launch);
  intptr_t count = 0;
  for (int i = 0; i < s->numInputs + s->numCaptures; ++i) {
    bool isCapture = i >= s->numInputs;
    MlirValue host = isCapture ? s->captures[i - s->numInputs] : s->operands[i].value;
    if (i == argument)
      continue;
    MlirType type = isCapture ? tileKernelParameterType(host) : tileKernelInputType(host);
    TileBuilder b = tileBuilderBefore(s->op);
    parameters[isCapture ? i + s->numOutputs : i] = addParameter(launch, kernel, type, count);
    more[count++] = isCapture ? host : tileKernelHostInput(&b, host);
  }
  MlirBlock body = bodyOf(kernel);
  intptr_t output = mlirBlockGetNumArguments(body) - 1;
  parameters[s->numInputs] = parameters[argument] = mlirBlockGetArgument(body, output);
  TileOutputUses uses = tileOutputUses(kernel, output);
  for (intptr_t i = 0; i < uses.stores.count; ++i)
    applyAt(s, argument, kernel, uses.stores.items[i], parameters);
  tileOutputUsesFree(&uses);
  MlirValue init = mlirOperationGetOperand(launch->op, launch->grid + launch->inputs);
  MlirValue result = relaunch(launch, kernel, s->op, count, more, init);
  if (!mlirOperationIsNull(collapse))
    result = reshapeLike(collapse, result, s->op);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(s->op), result);
  mlirOperationDestroy(s->op);
  if (!mlirOperationIsNull(collapse))
    mlirOperationDestroy(collapse);
  mlirOperationDestroy(launch->op);
}

//===--- before it --------------------------------------------------------------===//

static void startFrom(const TileJoinedLaunch *launch, MlirOperation kernel, MlirValue scalar) {
  TileOutputUses uses = tileOutputUses(kernel, mlirBlockGetNumArguments(bodyOf(kernel)) - 1);
  for (intptr_t i = 0; i < uses.loads.count; ++i) {
    MlirOperation load = uses.loads.items[i];
    TileBuilder b = tileBuilderBefore(load);
    MlirType type = tileOnlyResultType(load);
    bool isTile = mlirTypeIsARankedTensor(type);
    MlirValue value = isTile ? tileBroadcastOpBuild(&b, type, scalar) : scalar;
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(load), value);
    mlirOperationDestroy(load);
  }
  tileOutputUsesFree(&uses);
}

// The launch starts from the scalar; its kernel takes it.
static void joinFill(const TileStructured *fill, MlirValue scalar, TileJoinedLaunch launch) {
  MlirOperation expand = launch.reshape;
  MlirValue output = fill->operands[fill->numInputs].value;
  MlirOperation kernel = copyKernel(&launch), constant = tileDefiningOp(scalar);
  bool isConstant = arithConstantOpIsA(constant);
  MlirValue inside;
  if (isConstant) {
    TileBuilder b = tileBuilderAtStart(bodyOf(kernel), mlirOperationGetLocation(launch.op));
    inside = arithConstantOpBuild(&b, arithConstantOpGetValue(constant));
  } else {
    inside = addParameter(&launch, kernel, mlirValueGetType(scalar), 0);
  }
  startFrom(&launch, kernel, inside);
  if (!mlirOperationIsNull(expand))
    output = reshapeLike(expand, output, launch.op);
  MlirValue joined = relaunch(&launch, kernel, launch.op, !isConstant, &scalar, output);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(launch.op), joined);
  mlirOperationDestroy(launch.op);
  if (!mlirOperationIsNull(expand))
    mlirOperationDestroy(expand);
}

// True where nobody uses the filled tensor any more.
static bool joinFills(const TileStructured *fill) {
  MlirValue result = tileOnlyResult(fill->op), scalar;
  TileJoinedLaunch launch;
  if (!tileHasOneUse(result) ||
      !tileJoinFindFill(fill, mlirOpOperandGetOwner(mlirValueGetFirstUse(result)), &scalar, &launch))
    return false;
  joinFill(fill, scalar, launch);
  mlirOperationDestroy(fill->op);
  return true;
}

//===--- kernels without launches ------------------------------------------------===//

void tileDropUnlaunched(MlirOperation module) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA), users = tileCollectOps(module, tileLaunchOpIsA);
  for (intptr_t i = 0; i < kernels.count; ++i) {
    bool isNeeded = tileSymbolIsPublic(kernels.items[i]);
    for (intptr_t k = 0; !isNeeded && k < users.count; ++k)
      isNeeded = tileLaunches(users.items[k], kernels.items[i]);
    if (!isNeeded)
      mlirOperationDestroy(kernels.items[i]);
  }
  tileOpsFree(&kernels);
  tileOpsFree(&users);
}

//===--- all of a module --------------------------------------------------------===//

bool tileJoin(MlirOperation op, const TileTarget *target) {
  TileStructured structured;
  TileJoinedLaunch launch;
  int argument;
  assert(tileGroupOpIsA(mlirOperationGetParentOperation(op)) && "an op of a group");
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 ||
      mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))) || !tileStructuredRead(op, target, &structured))
    return false;
  if (!tileJoinFindLaunch(&structured, &argument, &launch))
    return joinFills(&structured);
  joinLaunch(&structured, argument, &launch);
  return true;
}
