// One op of a kernel at a time: scalars are cloned, tiles become lazy records or loops, what is not known is refused.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>

//===--- scalars and ids -----------------------------------------------------------------===//

static bool lowerProgramId(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), lowering->programIds[vecIntegerAttribute(op, "axis")]);
  return true;
}

static bool lowerNumPrograms(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), lowering->gridSizes[vecIntegerAttribute(op, "axis")]);
  return true;
}

// ceil((size - span + step) / step), at least 1 when there is anything.
static bool lowerNumTiles(VecLowering *lowering, MlirOperation op) {
  TileBuilder *builder = &lowering->builder;
  const VecAccess *access = vecRecordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  intptr_t d = vecIntegerAttribute(op, "dim");
  int64_t step = access->steps[d], span = (access->shape.sizes[d] - 1) * access->dims[d].stride + 1;
  MlirValue size = access->dims[d].size, by = tileBuildIndex(builder, step);
  MlirValue count = tileBuildCeilDiv(builder, tileBuildAdd(builder, size, tileBuildIndex(builder, step - span)), by);
  if (step != span)
    count = tileBuildMax(builder, count, tileBuildMin(builder, size, tileBuildIndex(builder, 1)));
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), count);
  return true;
}

static bool lowerAssume(VecLowering *lowering, MlirOperation op) {
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), vecScalarOf(lowering, mlirOperationGetOperand(op, 0)));
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
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), vecAccessLoad(&body, access, none, -1, 0));
  vecBodyEnd(&body);
  return true;
}

static bool storeElement(VecLowering *lowering, MlirOperation op, const VecAccess *access) {
  VecBody body = vecBodyBegin(lowering, false);
  VecCoord none[MaxRank] = {{{NULL}, 0}};
  vecAccessStore(&body, access, none, -1, 0, vecScalarOf(lowering, mlirOperationGetOperand(op, 0)));
  vecBodyEnd(&body);
  return true;
}

static bool lowerLoad(VecLowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  const VecAccess *source = vecRecordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  VecAccess *access = vecAccessAt(lowering, source, op, 1);
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
  if (!vecIsTile(tileResultType(op, 0)))
    return tileError(op, "not lowered to the CPU yet: the bounds of a single element");
  VecRecord *record = vecRecordNew(lowering, mlirOperationGetResult(op, 0), VecRecord_Lazy);
  record->op = op;
  record->access = vecAccessAt(lowering, vecRecordOf(lowering, mlirOperationGetOperand(op, 0))->access, op, 1);
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
  TileAttributeEntry attributes[] = {{"sym_name", mlirStringAttrGet(context, tileString(name))},
                                     {"sym_visibility", mlirStringAttrGet(context, tileString("private"))},
                                     {"type", mlirTypeAttrGet(type)},
                                     {"initial_value", value},
                                     {"constant", mlirUnitAttrGet(context)},
                                     {0}};
  tileBuild(&builder, "memref.global", 0, NULL, 0, NULL, attributes, 0, NULL);
}

static bool lowerConstant(VecLowering *lowering, MlirOperation op) {
  MlirAttribute value = tileOpAttribute(op, "value");
  MlirValue result = mlirOperationGetResult(op, 0);
  if (mlirDenseElementsAttrIsSplat(value))
    return vecLowerLazy(lowering, op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  MlirStringRef kernel = mlirStringAttrGetValue(tileOpAttribute(lowering->kernel, "sym_name"));
  char name[256];
  snprintf(name, sizeof name, "%.*s_constant_%d", (int)kernel.length, kernel.data, lowering->numConstants++);
  MlirType type = mlirMemRefTypeContiguousGet(shape.element, shape.rank, shape.sizes, mlirAttributeGetNull());
  buildGlobal(lowering, value, type, name);
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(lowering->context, tileString(name));
  MlirValue memref = tileBuildValue(&lowering->entry, "memref.get_global", type, 0, NULL,
                                    (TileAttributeEntry[]){{"name", symbol}, {0}});
  vecRecordMemory(lowering, result, vecDenseAccess(lowering, &shape, memref, shape.element));
  return true;
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
  MlirValue result = mlirOperationGetResult(op, 0);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  VecAccess *whole = vecBufferNew(lowering, &shape);
  intptr_t axis = vecIntegerAttribute(op, "axis");
  VecCoord offsets[MaxRank] = {{{NULL}, 0}};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    VecRecord *part = vecRecordOf(lowering, mlirOperationGetOperand(op, i));
    VecAccess target = partOf(lowering, whole, &part->shape, offsets);
    vecWriteTile(lowering, part, &target);
    offsets[axis].offset += part->shape.sizes[axis];
  }
  vecRecordMemory(lowering, result, whole);
  return true;
}

static bool lowerInsert(VecLowering *lowering, MlirOperation op) {
  VecRecord *part = vecRecordOf(lowering, mlirOperationGetOperand(op, 0));
  VecAccess *whole = vecMaterialize(lowering, vecRecordOf(lowering, mlirOperationGetOperand(op, 1)), (MlirType){NULL});
  MlirAttribute statics = tileOpAttribute(op, "static_offsets");
  VecCoord offsets[MaxRank];
  intptr_t operand = 2;
  for (intptr_t d = 0; d < part->shape.rank; ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, d);
    offsets[d] = offset == mlirShapedTypeGetDynamicSize()
                     ? vecCoordOf(vecScalarOf(lowering, mlirOperationGetOperand(op, operand++)))
                     : vecCoordConstant(offset);
  }
  VecAccess target = partOf(lowering, whole, &part->shape, offsets);
  vecWriteTile(lowering, part, &target);
  vecRecordMemory(lowering, mlirOperationGetResult(op, 0), whole);
  return true;
}

//===--- memory --------------------------------------------------------------------------------===//

static bool lowerStore(VecLowering *lowering, MlirOperation op) {
  VecRecord *value = vecRecordOf(lowering, mlirOperationGetOperand(op, 0));
  const VecAccess *destination = vecRecordOf(lowering, mlirOperationGetOperand(op, 1))->access;
  VecAccess *target = vecAccessAt(lowering, destination, op, 2);
  MlirAttribute combine = tileOpAttribute(op, "combine");
  bool isScalar = !vecIsTile(tileOperandType(op, 0));
  if (!combine.ptr && isScalar)
    return storeElement(lowering, op, target);
  if (!combine.ptr) {
    vecWriteTile(lowering, value, target);
    return true;
  }
  VecReached reached = {.op = op, .access = target, .element = target->shape.element};
  if (!vecExpectAtomic(&reached))
    return false;
  vecAddToTile(lowering, value, target, mlirStringAttrGetValue(combine));
  return true;
}

// View to buffer (packing) or back: `indices` are the view's.
bool vecLowerCopy(VecLowering *lowering, MlirOperation op) {
  VecAccess *ends[2];
  if (tileTypeGetRank(tileOperandType(op, 0)) == 0)
    return tileError(op, "not lowered to the CPU yet: a copy of a scalar");
  for (intptr_t i = 0; i < 2; ++i) {
    ends[i] = vecRecordOf(lowering, mlirOperationGetOperand(op, i))->access;
    if (tileTypeIsAView(tileOperandType(op, i)))
      ends[i] = vecAccessAt(lowering, ends[i], op, 2);
  }
  vecWriteTile(lowering, vecRecordOfAccess(lowering, ends[0]), ends[1]);
  return true;
}

static bool lowerPrefetch(VecLowering *lowering, MlirOperation op) {
  if (tileTypeGetRank(tileOperandType(op, 0)) == 0)
    return true; // a hint for one element
  const VecAccess *view = vecRecordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  vecAccessPrefetch(lowering, vecAccessAt(lowering, view, op, 1), tileOpAttribute(op, "write").ptr);
  return true;
}

//===--- the table ---------------------------------------------------------------------------------===//

typedef struct Row {
  const char *name;
  bool (*lower)(VecLowering *lowering, MlirOperation op);
} Row;

static const Row rows[] = {
    {"tile.program_id", lowerProgramId},
    {"tile.num_programs", lowerNumPrograms},
    {"tile.num_tiles", lowerNumTiles},
    {"tile.assume", lowerAssume},
    {"tile.view", vecAccessOfView},
    {"tile.memref_at", vecLowerMemrefAt},
    {"tile.alloc", vecAccessOfBuffer},
    {"tile.slot", vecAccessOfReinterpretation},
    {"tile.load", lowerLoad},
    {"tile.store", lowerStore},
    {"tile.copy", vecLowerCopy},
    {"tile.prefetch", lowerPrefetch},
    {"tile.in_bounds", lowerInBounds},
    {"tile.gather", vecLowerGather},
    {"tile.scatter", vecLowerScatter},
    {"tile.atomic_rmw", vecLowerAtomic},
    {"tile.atomic_cas", vecLowerAtomic},
    {"tile.atomic_load", vecLowerAtomic},
    {"tile.atomic_store", vecLowerAtomic},
    {"tile.mma", vecLowerMma},
    {"tile.mma_scaled", vecLowerMmaScaled},
    {"tile.reduce", vecLowerReduce},
    {"tile.scan", vecLowerScan},
    {"tile.random", vecLowerRandom},
    {"tile.histogram", vecLowerHistogram},
    {"tile.sort", vecLowerSort},
    {"tile.topk", vecLowerSort},
    {"tile.assert", vecLowerAssert},
    {"tile.print", vecLowerPrint},
    {"tile.convert_type", vecLowerConvertType},
    {"tile.bitcast", vecLowerBitcast},
    {"tile.cat", lowerCat},
    {"tile.insert", lowerInsert},
    {"tile.sync", vecLowerNothing}, // one partition runs a program: program order is enough
    {"tile.copy_async", vecLowerCopyAsync},
    {"tile.join", vecLowerJoin},
    {"tile.wait", vecLowerNothing},
    {"tile.fence", vecLowerFence},
    {"tile.convert_layout", vecLowerNothing}, // nobody uses its result any more
    {"tile.call", vecLowerCall},
    {"scf.for", vecLowerFor},
    {"scf.if", vecLowerIf},
    {"scf.while", vecLowerWhile},
};

// The one element.
static bool lowerReshapeToScalar(VecLowering *lowering, MlirOperation op) {
  VecCoord first[MaxRank];
  for (intptr_t i = 0; i < MaxRank; ++i)
    first[i] = vecCoordConstant(0);
  VecBody body = vecBodyBegin(lowering, false);
  MlirValue element = vecElementAt(&body, mlirOperationGetOperand(op, 0), first);
  vecBodyEnd(&body);
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), element);
  return true;
}

static const Row *findRow(MlirOperation op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (tileOpIs(op, rows[i].name))
      return &rows[i];
  return NULL;
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

static bool mayBeCloned(MlirOperation op) {
  return isOnScalars(op) && (tileOpNameStartsWith(op, "arith.") || tileOpNameStartsWith(op, "math.") ||
                             tileOpNameStartsWith(op, "memref.") || tileOpNameStartsWith(op, "ub."));
}

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
  const Row *row = findRow(op);
  if (row)
    return row->lower(lowering, op);
  bool yieldsTile = mlirOperationGetNumResults(op) > 0 && vecIsTile(tileResultType(op, 0));
  if (tileOpIs(op, "tile.reshape") && !yieldsTile && vecIsTile(tileOperandType(op, 0)))
    return lowerReshapeToScalar(lowering, op);
  if (mlirOperationGetNumOperands(op) > 0 && tileTypeIsABuffer(tileOperandType(op, 0)))
    return vecAccessOfReinterpretation(lowering, op);
  if (yieldsTile && tileOpIs(op, "arith.constant"))
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
