// The kernel of a launch in a tile.group: a copy of the kernel that is launched, which computes the group's other
// nodes, the elementwise ops behind the launch, where it stores its last values, and starts from the constant of the
// fill ahead of it (lib/analysis/group/group_launch.h). Leaves: the copy and one launch of it; kernels that nobody
// launches any more go at the end (tileDropUnlaunched). Cost: linear in the kernel.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/group/group_launch.h"
#include "lib/conversion/linalg_to_tile/group_emission.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include <stdio.h>

// What is added to the launch's inputs.
typedef struct MoreInputs {
  MlirValue host[MaxOperands + MaxCaptures + 1];
  intptr_t count;
} MoreInputs;

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)); }

//===--- the copy ---------------------------------------------------------------===//

static MlirOperation copyKernel(const TileGroupLaunch *launch) {
  char name[96];
  MlirStringRef old = mlirStringAttrGetValue(tileKernelOpGetSymName(launch->kernel));
  snprintf(name, sizeof name, "%.*s_with", (int)(old.length < 80 ? old.length : 80), old.data);
  MlirOperation copy = mlirOperationClone(launch->kernel);
  tileKernelOpSetSymName(copy, tileFreshSymbol(launch->op, name));
  tileKernelOpSetSymVisibility(copy, mlirStringAttrGet(mlirOperationGetContext(copy), tileString("private")));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(launch->kernel), launch->kernel, copy);
  return copy;
}

// One more input, the last.
static MlirValue addInput(const TileGroupLaunch *launch, MlirOperation kernel, MlirType type, MlirValue host,
                          MoreInputs *more) {
  more->host[more->count] = host;
  return mlirBlockInsertArgument(bodyOf(kernel), launch->inputs + more->count++, type,
                                 mlirOperationGetLocation(kernel));
}

static void nameTypes(MlirOperation kernel) {
  enum { MostParameters = 96 };
  intptr_t count = mlirBlockGetNumArguments(bodyOf(kernel));
  MlirType types[MostParameters];
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(bodyOf(kernel), i));
  tileKernelOpSetFunctionType(
      kernel, mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL)));
}

static void addInputs(TileGroupEmission *k, const TileGroupLaunch *launch, MoreInputs *more) {
  const TileStructured *s = &k->unit.s;
  for (int i = 0; i < s->numInputs; ++i) {
    MlirValue host = s->operands[i].value;
    k->parameters[i] =
        addInput(launch, k->e.kernel, tileKernelInputType(host), tileKernelHostInput(&k->e.host, host), more);
  }
  for (int i = 0; i < s->numCaptures; ++i)
    k->parameters[s->numInputs + s->numOutputs + i] =
        addInput(launch, k->e.kernel, tileKernelParameterType(s->captures[i]), s->captures[i], more);
}

//===--- the nodes behind it ----------------------------------------------------===//

static MlirValue storedValue(MlirOperation store) {
  return tileStoreOpIsA(store) ? tileStoreOpGetValue(store) : memrefStoreOpGetValue(store);
}

// The dimensions have the tiles of the store, and stand where the store does.
static void takeTiles(TileGroupEmission *k, MlirOperation store) {
  bool isTile = tileStoreOpIsA(store);
  MlirValue memory = isTile ? tileStoreOpGetDestination(store) : memrefStoreOpGetMemref(store);
  intptr_t firstIndex = isTile ? tileStoreOpGetIndicesBegin(store) : memrefStoreOpGetIndicesBegin(store);
  MlirOperation view = tileDefiningOp(memory);
  bool isView = tileViewOpIsA(view);
  MlirAttribute fixed = isView ? tileViewOpGetFixed(view) : mlirAttributeGetNull();
  intptr_t numFixed = isView ? mlirOperationGetNumOperands(view) - 1 : 0, at = 0, kept = 0;
  int axes = 0;
  for (int d = 0; d < k->graph->numDims; ++d) {
    bool isFixed = at < numFixed && mlirDenseI64ArrayGetElement(fixed, at) == d;
    k->unit.s.dims[d].tile = isView && !isFixed ? tileViewTypeGetSize(mlirValueGetType(memory), kept) : 1;
    k->unit.s.dims[d].axis = isView && !isFixed ? axes++ : -1;
    k->index[d] = isFixed ? tileViewOpGetIndices(view, at++) : mlirOperationGetOperand(store, firstIndex + kept++);
  }
  for (int n = 1; n < k->graph->numNodes; ++n)
    tileGroupNodeTakeTiles(&k->graph->nodes[n], &k->unit.s);
}

// A column's tile has not the last axis of the store's.
static MlirValue reshaped(TileGroupEmission *k, MlirValue value, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(value), type) ? value : tileReshapeOpBuild(&k->e.body, type, value);
}

// Stores what the nodes behind the launch make of the value in its place.
static void buildBehind(TileGroupEmission *k, MlirOperation store) {
  MlirType type = mlirValueGetType(storedValue(store));
  MlirType element = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
  k->e.body = tileBuilderBefore(store);
  k->values = (TileGroupValues){0};
  k->given.count = 0;
  takeTiles(k, store);
  tileGroupEnter(k, 1);
  MlirValue value = reshaped(k, storedValue(store), tileKernelTileType(&k->e, element));
  for (int n = 0; n < k->graph->numNodes; ++n) {
    const TileStructured *s = &k->graph->nodes[n].s;
    if (n == 0)
      k->values.of[0][0] = value;
    else if (s->numInputs == 0) // a body that changes what its output holds
      tileBodyMapSet(&k->given, mlirBlockGetArgument(s->body, 0), value);
    value = tileGroupEvaluate(k, n, 0);
  }
  value = reshaped(k, value, type);
  if (tileStoreOpIsA(store))
    tileStoreOpSetValue(store, value);
  else
    memrefStoreOpSetValue(store, value);
}

//===--- the constant ahead of it -----------------------------------------------===//

// The constant's own number, or one more input.
static MlirValue buildStart(TileGroupEmission *k, const TileGroupLaunch *launch, MoreInputs *more) {
  MlirOperation constant = tileDefiningOp(launch->start);
  if (!arithConstantOpIsA(constant))
    return addInput(launch, k->e.kernel, mlirValueGetType(launch->start), launch->start, more);
  TileBuilder b = tileBuilderAtStart(bodyOf(k->e.kernel), mlirOperationGetLocation(launch->op));
  return arithConstantOpBuild(&b, arithConstantOpGetValue(constant));
}

static void startFrom(MlirOperation load, MlirValue scalar) {
  TileBuilder b = tileBuilderBefore(load);
  MlirType type = tileOnlyResultType(load);
  bool isTile = mlirTypeIsARankedTensor(type);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(load), isTile ? tileBroadcastOpBuild(&b, type, scalar) : scalar);
  mlirOperationDestroy(load);
}

//===--- the launch -------------------------------------------------------------===//

// Repeats a reshape for another value.
static MlirValue reshapeLike(TileBuilder *b, MlirOperation reshape, MlirValue value) {
  if (mlirOperationIsNull(reshape))
    return value;
  MlirOperation copy = mlirOperationClone(reshape);
  if (tensorExpandShapeOpIsA(copy))
    tensorExpandShapeOpSetSrc(copy, value);
  else
    tensorCollapseShapeOpSetSrc(copy, value);
  tileBuilderInsert(b, copy);
  return tileOnlyResult(copy);
}

static MlirValue buildLaunch(TileBuilder *b, const TileGroupLaunch *launch, MlirOperation kernel,
                             const MoreInputs *more) {
  enum { MostOperands = 96 };
  MlirValue operands[MostOperands];
  intptr_t number = 0;
  for (intptr_t i = 0; i < launch->grid + launch->inputs; ++i)
    operands[number++] = mlirOperationGetOperand(launch->op, i);
  for (intptr_t i = 0; i < more->count; ++i)
    operands[number++] = more->host[i];
  MlirValue output = tileLaunchOpGetOutputs(launch->op, 0);
  if (!mlirOperationIsNull(launch->fill)) // the tensor before the fill
    output = reshapeLike(b, launch->expand,
                         mlirOperationGetOperand(launch->fill, linalgGenericOpGetNumInputs(launch->fill)));
  MlirType type = mlirValueGetType(output);
  MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(kernel));
  MlirOperation op = tileLaunchOpCreate(b, 1, &type, launch->grid, operands, launch->inputs + more->count,
                                        operands + launch->grid, 1, &output, mlirFlatSymbolRefAttrGet(b->context, name),
                                        tileLaunchOpGetCluster(launch->op), mlirAttributeGetNull());
  return reshapeLike(b, launch->collapse, tileOnlyResult(op));
}

static void destroyUnused(MlirOperation op) {
  if (!mlirOperationIsNull(op) && mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
    mlirOperationDestroy(op);
}

// What the new launch stands for, users first.
static void destroyOld(const TileGroupLaunch *launch) {
  for (int n = launch->graph.numNodes - 1; n > 0; --n)
    mlirOperationDestroy(launch->graph.nodes[n].s.op);
  destroyUnused(launch->collapse);
  mlirOperationDestroy(launch->op);
  destroyUnused(launch->expand);
  destroyUnused(launch->fill);
}

uint64_t tileLowerLaunch(MlirOperation op, const TileTarget *target) {
  TileGroupLaunch *launch = tileArenaAllocate(target->arena, sizeof *launch);
  TileGroupEmission *k = tileArenaAllocate(target->arena, sizeof *k);
  MoreInputs more = {.count = 0};
  if (!tileGroupLaunchRead(op, target, launch))
    return 0;
  MlirOperation last = launch->graph.nodes[launch->graph.numNodes - 1].s.op;
  k->graph = &launch->graph;
  k->e = (TileKernelEmission){.host = tileBuilderBefore(last), .kernel = copyKernel(launch), .group = k};
  tileGroupLaunchUnite(launch, &k->unit);
  addInputs(k, launch, &more);
  MlirValue start = mlirValueIsNull(launch->start) ? launch->start : buildStart(k, launch, &more);
  nameTypes(k->e.kernel);
  intptr_t output = launch->inputs + more.count;
  k->parameters[k->unit.s.numInputs] = mlirBlockGetArgument(bodyOf(k->e.kernel), output);
  TileOutputUses uses = tileOutputUses(k->e.kernel, output);
  for (intptr_t i = 0; launch->graph.numNodes > 1 && i < uses.stores.count; ++i)
    buildBehind(k, uses.stores.items[i]);
  for (intptr_t i = 0; !mlirValueIsNull(start) && i < uses.loads.count; ++i)
    startFrom(uses.loads.items[i], start);
  tileOutputUsesFree(&uses);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(last), buildLaunch(&k->e.host, launch, k->e.kernel, &more));
  uint64_t joined = (uint64_t)(launch->graph.numNodes - 1 + !mlirOperationIsNull(launch->fill));
  destroyOld(launch);
  return joined;
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
