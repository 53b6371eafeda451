// Lowers one op of a kernel at a time: clones ops on scalars, makes lazy records or loops of ops on tiles, refuses the
// rest.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "lib/ir/op_query.h"
#include "mlir-c/BuiltinAttributes.h"

#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

#include <stdio.h>

//===--- scalars and ids -----------------------------------------------------------------===//

static bool lowerProgramId(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, tileProgramIdOpGetResult(op), lowering->programIds[tileProgramIdOpGetAxisValue(op)]);
  return true;
}

static bool lowerNumPrograms(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, tileNumProgramsOpGetResult(op), lowering->gridSizes[tileNumProgramsOpGetAxisValue(op)]);
  return true;
}

// ceil((size - span + step) / step), at least 1 when there is anything.
static bool lowerNumTiles(VecLowering *lowering, MlirOperation op) {
  TileBuilder *builder = &lowering->builder;
  const VecAccess *access = vecRecordOf(lowering, tileNumTilesOpGetView(op))->access;
  intptr_t d = tileNumTilesOpGetDimValue(op);
  int64_t step = access->steps[d], span = (access->shape.sizes[d] - 1) * access->dims[d].stride + 1;
  MlirValue size = access->dims[d].size, by = tileBuildIndex(builder, step);
  MlirValue count = tileBuildCeilDiv(builder, tileBuildAdd(builder, size, tileBuildIndex(builder, step - span)), by);
  if (step != span)
    count = tileBuildMax(builder, count, tileBuildMin(builder, size, tileBuildIndex(builder, 1)));
  vecRecordScalar(lowering, tileNumTilesOpGetResult(op), count);
  return true;
}

static bool lowerAssume(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, tileAssumeOpGetResult(op), vecScalarOf(lowering, tileAssumeOpGetValue(op)));
  return true;
}

static bool cloneScalar(VecLowering *lowering, MlirOperation op) {
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(clone, i, vecScalarOf(lowering, mlirOperationGetOperand(op, i)));
  tileBuilderInsert(&lowering->builder, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    vecRecordScalar(lowering, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i));
  return true;
}

//===--- tiles that wait --------------------------------------------------------------------===//

void vecRecordCopy(VecLowering *lowering, VecRecord *record) {
  VecAccess *access = vecMaterialize(lowering, record, (MlirType){NULL});
  record->kind = VecRecord_Memory;
  record->access = access;
}

static void keepInMemory(VecLowering *lowering, MlirValue result) {
  vecRecordCopy(lowering, vecRecordOf(lowering, result));
}

// A view of rank 0 is one element: its value is a scalar, read and written at once.
static bool loadElement(VecLowering *lowering, MlirOperation op, const VecAccess *access) {
  VecBody body = vecBodyBegin(lowering, false);
  VecCoord none[MaxRank] = {{{NULL}, 0}};
  vecRecordScalar(lowering, tileLoadOpGetResult(op), vecAccessLoad(&body, access, none, -1, 0));
  vecBodyEnd(&body);
  return true;
}

static bool storeElement(VecLowering *lowering, MlirOperation op, const VecAccess *access) {
  VecBody body = vecBodyBegin(lowering, false);
  VecCoord none[MaxRank] = {{{NULL}, 0}};
  vecAccessStore(&body, access, none, -1, 0, vecScalarOf(lowering, tileStoreOpGetValue(op)));
  vecBodyEnd(&body);
  return true;
}

static bool lowerLoad(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileLoadOpGetResult(op);
  const VecAccess *source = vecRecordOf(lowering, tileLoadOpGetSource(op))->access;
  VecAccess *access = vecAccessAt(lowering, source, op, tileLoadOpGetIndicesBegin(op));
  if (!vecIsTile(mlirValueGetType(result)))
    return loadElement(lowering, op, access);
  VecRecord *record = vecRecordNew(lowering, result, VecRecord_Lazy);
  record->op = op;
  record->access = access;
  if (vecIsOverwrittenBeforeUse(op))
    keepInMemory(lowering, result);
  return true;
}

static bool lowerInBounds(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileInBoundsOpGetResult(op);
  if (!vecIsTile(mlirValueGetType(result)))
    return tileError(op, "not lowered to the CPU yet: the bounds of a single element");
  const VecAccess *view = vecRecordOf(lowering, tileInBoundsOpGetView(op))->access;
  VecRecord *record = vecRecordNew(lowering, result, VecRecord_Lazy);
  record->op = op;
  record->access = vecAccessAt(lowering, view, op, tileInBoundsOpGetIndicesBegin(op));
  return true;
}

bool vecLowerLazy(VecLowering *lowering, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    vecRecordNew(lowering, mlirOperationGetResult(op, i), VecRecord_Lazy)->op = op;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (vecIsWorthStoring(lowering, op))
      keepInMemory(lowering, mlirOperationGetResult(op, i));
  return true;
}

// A global of the module for a constant whose elements differ, before the kernel.
static void buildGlobal(VecLowering *lowering, MlirAttribute value, MlirType type, const char *name) {
  TileBuilder builder = tileBuilderBefore(lowering->kernel);
  MlirContext context = lowering->context;
  memrefGlobalOpCreate(&builder, mlirStringAttrGet(context, tileString(name)),
                       mlirStringAttrGet(context, tileString("private")), mlirTypeAttrGet(type), value,
                       mlirUnitAttrGet(context), mlirAttributeGetNull());
}

static bool lowerConstant(VecLowering *lowering, MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirValue result = tileOnlyResult(op);
  if (mlirDenseElementsAttrIsSplat(value))
    return vecLowerLazy(lowering, op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  MlirStringRef kernel = tileKernelOpGetSymNameValue(lowering->kernel);
  char name[256];
  snprintf(name, sizeof name, "%.*s_constant_%d", (int)kernel.length, kernel.data, lowering->numConstants++);
  MlirType type = mlirMemRefTypeContiguousGet(shape.element, shape.rank, shape.sizes, mlirAttributeGetNull());
  buildGlobal(lowering, value, type, name);
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(lowering->context, tileString(name));
  MlirValue memref = memrefGetGlobalOpBuild(&lowering->entry, type, symbol);
  vecRecordMemory(lowering, result, vecDenseAccess(lowering, &shape, memref, shape.element));
  return true;
}

// Any value does: zero.
static bool lowerPoison(VecLowering *lowering, MlirOperation op) {
  MlirType type = tileOnlyResultType(op), element = vecIsTile(type) ? mlirShapedTypeGetElementType(type) : type;
  if (!mlirTypeIsAInteger(element) && !mlirTypeIsAIndex(element) && !mlirTypeIsAFloat(element))
    return tileError(op, "not lowered to the CPU yet: poison of %s", tileTypeText(type, (char[128]){0}, 128));
  TileBuilder builder = tileBuilderBefore(op);
  MlirAttribute zero =
      mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(builder.context, element, 0) : mlirIntegerAttrGet(element, 0);
  MlirValue value = tileBuildConstant(&builder, vecIsTile(type) ? mlirDenseElementsAttrSplatGet(type, zero) : zero);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  return vecIsTile(type) ? lowerConstant(lowering, tileDefiningOp(value))
                         : cloneScalar(lowering, tileDefiningOp(value));
}

//===--- tiles put together in memory --------------------------------------------------------===//

// Where `part` lies in `whole`, from `offsets` on.
static VecAccess partOf(VecLowering *lowering, const VecAccess *whole, const VecShape *part, const VecCoord *offsets) {
  VecAccess access = *whole;
  for (intptr_t d = 0; d < part->rank; ++d) {
    access.shape.sizes[d] = part->sizes[d];
    access.dims[d].origin = vecCoordSum(&lowering->builder, access.dims[d].origin, offsets[d]);
  }
  return access;
}

static bool lowerCat(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileCatOpGetResult(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  VecAccess *whole = vecBufferNew(lowering, &shape);
  intptr_t axis = tileCatOpGetAxisValue(op);
  VecCoord offsets[MaxRank] = {{{NULL}, 0}};
  for (intptr_t i = 0; i < tileCatOpGetNumInputs(op); ++i) {
    VecRecord *part = vecRecordOf(lowering, tileCatOpGetInputs(op, i));
    VecAccess target = partOf(lowering, whole, &part->shape, offsets);
    vecWriteTile(lowering, part, &target);
    offsets[axis].offset += part->shape.sizes[axis];
  }
  vecRecordMemory(lowering, result, whole);
  return true;
}

static bool lowerInsert(VecLowering *lowering, MlirOperation op) {
  VecRecord *part = vecRecordOf(lowering, tileInsertOpGetInput(op));
  VecRecord *destination = vecRecordOf(lowering, tileInsertOpGetDestination(op));
  VecAccess *whole = vecMaterialize(lowering, destination, (MlirType){NULL});
  MlirAttribute statics = tileInsertOpGetStaticOffsets(op);
  VecCoord offsets[MaxRank];
  intptr_t next = 0;
  for (intptr_t d = 0; d < part->shape.rank; ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, d);
    offsets[d] = offset == mlirShapedTypeGetDynamicSize()
                     ? vecCoordOf(vecScalarOf(lowering, tileInsertOpGetOffsets(op, next++)))
                     : vecCoordConstant(offset);
  }
  VecAccess target = partOf(lowering, whole, &part->shape, offsets);
  vecWriteTile(lowering, part, &target);
  vecRecordMemory(lowering, tileInsertOpGetResult(op), whole);
  return true;
}

//===--- memory --------------------------------------------------------------------------------===//

static bool lowerStore(VecLowering *lowering, MlirOperation op) {
  VecRecord *value = vecRecordOf(lowering, tileStoreOpGetValue(op));
  const VecAccess *destination = vecRecordOf(lowering, tileStoreOpGetDestination(op))->access;
  VecAccess *target = vecAccessAt(lowering, destination, op, tileStoreOpGetIndicesBegin(op));
  MlirAttribute combine = tileStoreOpGetCombine(op);
  bool isPlain = mlirAttributeIsNull(combine);
  if (isPlain && !vecIsTile(mlirValueGetType(tileStoreOpGetValue(op))))
    return storeElement(lowering, op, target);
  if (isPlain) {
    vecWriteTile(lowering, value, target);
    return true;
  }
  VecReached reached = {.op = op, .access = target, .element = target->shape.element};
  if (!vecExpectAtomic(&reached))
    return false;
  vecAddToTile(lowering, value, target, mlirStringAttrGetValue(combine));
  return true;
}

bool vecCopy(VecLowering *lowering, MlirOperation op, MlirValue source, MlirValue destination, intptr_t first) {
  const MlirValue ends[] = {source, destination};
  VecAccess *accesses[2];
  if (tileTypeGetRank(mlirValueGetType(source)) == 0)
    return tileError(op, "not lowered to the CPU yet: a copy of a scalar");
  for (int i = 0; i < 2; ++i) {
    accesses[i] = vecRecordOf(lowering, ends[i])->access;
    if (tileTypeIsAView(mlirValueGetType(ends[i])))
      accesses[i] = vecAccessAt(lowering, accesses[i], op, first);
  }
  vecWriteTile(lowering, vecRecordOfAccess(lowering, accesses[0]), accesses[1]);
  return true;
}

static bool lowerCopy(VecLowering *lowering, MlirOperation op) {
  return vecCopy(lowering, op, tileCopyOpGetSource(op), tileCopyOpGetDestination(op), tileCopyOpGetIndicesBegin(op));
}

static bool lowerPrefetch(VecLowering *lowering, MlirOperation op) {
  if (tileTypeGetRank(mlirValueGetType(tilePrefetchOpGetView(op))) == 0)
    return true; // a hint for one element
  const VecAccess *view = vecRecordOf(lowering, tilePrefetchOpGetView(op))->access;
  VecAccess *access = vecAccessAt(lowering, view, op, tilePrefetchOpGetIndicesBegin(op));
  vecAccessPrefetch(lowering, access, tilePrefetchOpHasWrite(op));
  return true;
}

//===--- the table ---------------------------------------------------------------------------------===//

typedef bool (*Lower)(VecLowering *lowering, MlirOperation op);

static const Lower lowerings[TileNumOps] = {
    [TileOp_ProgramId] = lowerProgramId,
    [TileOp_NumPrograms] = lowerNumPrograms,
    [TileOp_NumTiles] = lowerNumTiles,
    [TileOp_Assume] = lowerAssume,
    [TileOp_View] = vecAccessOfView,
    [TileOp_MemrefAt] = vecLowerMemrefAt,
    [TileOp_Alloc] = vecAccessOfBuffer,
    [TileOp_Slot] = vecAccessOfReinterpretation,
    [TileOp_Load] = lowerLoad,
    [TileOp_Store] = lowerStore,
    [TileOp_Copy] = lowerCopy,
    [TileOp_Prefetch] = lowerPrefetch,
    [TileOp_InBounds] = lowerInBounds,
    [TileOp_Gather] = vecLowerGather,
    [TileOp_Scatter] = vecLowerScatter,
    [TileOp_AtomicRmw] = vecLowerAtomicRmw,
    [TileOp_AtomicCas] = vecLowerAtomicCas,
    [TileOp_AtomicLoad] = vecLowerAtomicLoad,
    [TileOp_AtomicStore] = vecLowerAtomicStore,
    [TileOp_AtomicWait] = vecLowerAtomicWait,
    [TileOp_Mma] = vecLowerMma,
    [TileOp_MmaScaled] = vecLowerMmaScaled,
    [TileOp_Reduce] = vecLowerReduce,
    [TileOp_Scan] = vecLowerScan,
    [TileOp_Random] = vecLowerRandom,
    [TileOp_Histogram] = vecLowerHistogram,
    [TileOp_Sort] = vecLowerSort,
    [TileOp_Topk] = vecLowerTopk,
    [TileOp_Assert] = vecLowerAssert,
    [TileOp_Print] = vecLowerPrint,
    [TileOp_ConvertType] = vecLowerConvertType,
    [TileOp_Bitcast] = vecLowerBitcast,
    [TileOp_Cat] = lowerCat,
    [TileOp_Insert] = lowerInsert,
    [TileOp_Sync] = vecLowerNothing, // one partition runs a program: program order is enough
    [TileOp_CopyAsync] = vecLowerCopyAsync,
    [TileOp_Join] = vecLowerJoin,
    [TileOp_Wait] = vecLowerNothing,
    [TileOp_Fence] = vecLowerFence,
    [TileOp_ConvertLayout] = vecLowerNothing, // nobody uses its result any more
    [TileOp_Call] = vecLowerCall,
};

// The one element.
static bool lowerReshapeToScalar(VecLowering *lowering, MlirOperation op) {
  VecCoord first[MaxRank];
  for (intptr_t i = 0; i < MaxRank; ++i)
    first[i] = vecCoordConstant(0);
  VecBody body = vecBodyBegin(lowering, false);
  MlirValue element = vecElementAt(&body, tileReshapeOpGetInput(op), first);
  vecBodyEnd(&body);
  vecRecordScalar(lowering, tileReshapeOpGetResult(op), element);
  return true;
}

static Lower lowerOf(MlirOperation op) {
  TileOp kind = tileOpKind(op);
  if (kind != TileOp_None)
    return lowerings[kind];
  switch (tileUpstreamKind(op)) {
  case ScfOp_For:
    return vecLowerFor;
  case ScfOp_If:
    return vecLowerIf;
  case ScfOp_While:
    return vecLowerWhile;
  default:
    return NULL;
  }
}

static bool isOnScalars(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileTypeIsAScalar(tileOperandType(op, i)) && !mlirTypeIsAMemRef(tileOperandType(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (vecIsTile(tileResultType(op, i)))
      return false;
  return mlirOperationGetNumRegions(op) == 0;
}

// Ops of other dialects on scalars and memory stay as they are: upstream's passes lower arith, math, memref and ub, a
// plugin's own pass the plugin's ops.
static bool mayBeCloned(MlirOperation op) { return tileOpKind(op) == TileOp_None && isOnScalars(op); }

// Tiles and memrefs of at most MaxRank dimensions.
static bool hasRanks(MlirOperation op) {
  intptr_t numOperands = mlirOperationGetNumOperands(op), count = numOperands + mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = i < numOperands ? tileOperandType(op, i) : tileResultType(op, i - numOperands);
    if ((vecIsTile(type) || mlirTypeIsAMemRef(type)) && mlirShapedTypeGetRank(type) > MaxRank)
      return tileError(op, "not lowered to the CPU yet: rank %d (at most %d)", (int)mlirShapedTypeGetRank(type),
                       MaxRank);
  }
  return true;
}

static bool lowerOp(VecLowering *lowering, MlirOperation op) {
  lowering->builder.location = mlirOperationGetLocation(op);
  if (!hasRanks(op))
    return false;
  Lower lower = lowerOf(op);
  if (lower)
    return lower(lowering, op);
  bool yieldsTile = mlirOperationGetNumResults(op) > 0 && vecIsTile(tileFirstResultType(op));
  MlirValue viewed = tileOpViewedMemory(op);
  if (tileReshapeOpIsA(op) && !yieldsTile && vecIsTile(mlirValueGetType(tileReshapeOpGetInput(op))))
    return lowerReshapeToScalar(lowering, op);
  if (!mlirValueIsNull(viewed) && tileTypeIsABuffer(mlirValueGetType(viewed)))
    return vecAccessOfReinterpretation(lowering, op);
  if (ubPoisonOpIsA(op))
    return lowerPoison(lowering, op);
  if (yieldsTile && arithConstantOpIsA(op))
    return lowerConstant(lowering, op);
  if (yieldsTile && vecIsEvaluable(op))
    return vecLowerLazy(lowering, op);
  if (mayBeCloned(op))
    return cloneScalar(lowering, op);
  MlirStringRef name = tileOpName(op);
  return tileError(op, "not lowered to the CPU yet: '%.*s'", (int)name.length, name.data);
}

bool vecLowerBlock(VecLowering *lowering, MlirBlock block) {
  MlirOperation terminator = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!lowerOp(lowering, op))
      return false;
  return true;
}
