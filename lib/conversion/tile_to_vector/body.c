// One op of a kernel at a time: scalars are cloned, tiles become lazy records or loops, what is not known is refused.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/places.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>

//===--- scalars and ids -----------------------------------------------------------------===//

static bool lowerProgramId(Lowering *lowering, MlirOperation op) {
  recordScalar(lowering, mlirOperationGetResult(op, 0), lowering->programIds[integerAttribute(op, "axis")]);
  return true;
}

static bool lowerNumPrograms(Lowering *lowering, MlirOperation op) {
  recordScalar(lowering, mlirOperationGetResult(op, 0), lowering->gridSizes[integerAttribute(op, "axis")]);
  return true;
}

// ceil((size - span + step) / step), at least 1 when there is anything.
static bool lowerNumTiles(Lowering *lowering, MlirOperation op) {
  TileBuilder *builder = &lowering->builder;
  const Access *access = recordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  intptr_t d = integerAttribute(op, "dim");
  int64_t step = access->steps[d], span = (access->shape.sizes[d] - 1) * access->dims[d].stride + 1;
  MlirValue size = access->dims[d].size, by = tileBuildIndex(builder, step);
  MlirValue count = tileBuildCeilDiv(builder, tileBuildAdd(builder, size, tileBuildIndex(builder, step - span)), by);
  if (step != span)
    count = tileBuildMax(builder, count, tileBuildMin(builder, size, tileBuildIndex(builder, 1)));
  recordScalar(lowering, mlirOperationGetResult(op, 0), count);
  return true;
}

static bool lowerAssume(Lowering *lowering, MlirOperation op) {
  recordScalar(lowering, mlirOperationGetResult(op, 0), scalarOf(lowering, mlirOperationGetOperand(op, 0)));
  return true;
}

static bool cloneScalar(Lowering *lowering, MlirOperation op) {
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(clone, i, scalarOf(lowering, mlirOperationGetOperand(op, i)));
  tileBuilderInsert(&lowering->builder, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    recordScalar(lowering, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i));
  return true;
}

//===--- tiles that wait --------------------------------------------------------------------===//

void recordCopy(Lowering *lowering, Record *record) {
  Access *access = materialize(lowering, record, (MlirType){NULL});
  record->kind = Record_Memory;
  record->access = access;
}

static void keepInMemory(Lowering *lowering, MlirValue result) { recordCopy(lowering, recordOf(lowering, result)); }

// A view of rank 0 is one element: its value is a scalar, read and written at once.
static bool loadElement(Lowering *lowering, MlirOperation op, const Access *access) {
  Body body = bodyBegin(lowering, false);
  Coord none[MaxRank] = {{{NULL}, 0}};
  recordScalar(lowering, mlirOperationGetResult(op, 0), accessLoad(&body, access, none, -1, 0));
  bodyEnd(&body);
  return true;
}

static bool storeElement(Lowering *lowering, MlirOperation op, const Access *access) {
  Body body = bodyBegin(lowering, false);
  Coord none[MaxRank] = {{{NULL}, 0}};
  accessStore(&body, access, none, -1, 0, scalarOf(lowering, mlirOperationGetOperand(op, 0)));
  bodyEnd(&body);
  return true;
}

static bool lowerLoad(Lowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  const Access *source = recordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  Access *access = accessAt(lowering, source, op, 1);
  if (!isTile(mlirValueGetType(result)))
    return loadElement(lowering, op, access);
  Record *record = recordNew(lowering, result, Record_Lazy);
  record->op = op;
  record->access = access;
  if (isOverwrittenBeforeUse(op))
    keepInMemory(lowering, result);
  return true;
}

static bool lowerInBounds(Lowering *lowering, MlirOperation op) {
  if (!isTile(tileResultType(op, 0)))
    return tileError(op, "not lowered to the CPU yet: the bounds of a single element");
  Record *record = recordNew(lowering, mlirOperationGetResult(op, 0), Record_Lazy);
  record->op = op;
  record->access = accessAt(lowering, recordOf(lowering, mlirOperationGetOperand(op, 0))->access, op, 1);
  return true;
}

bool lowerLazy(Lowering *lowering, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    recordNew(lowering, mlirOperationGetResult(op, i), Record_Lazy)->op = op;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (isWorthStoring(lowering, op))
      keepInMemory(lowering, mlirOperationGetResult(op, i));
  return true;
}

// A global of the module for a constant whose elements differ, before the kernel.
static void buildGlobal(Lowering *lowering, MlirAttribute value, MlirType type, const char *name) {
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

static bool lowerConstant(Lowering *lowering, MlirOperation op) {
  MlirAttribute value = tileOpAttribute(op, "value");
  MlirValue result = mlirOperationGetResult(op, 0);
  if (mlirDenseElementsAttrIsSplat(value))
    return lowerLazy(lowering, op);
  Shape shape = shapeOf(mlirValueGetType(result));
  MlirStringRef kernel = mlirStringAttrGetValue(tileOpAttribute(lowering->kernel, "sym_name"));
  char name[256];
  snprintf(name, sizeof name, "%.*s_constant_%d", (int)kernel.length, kernel.data, lowering->numConstants++);
  MlirType type = mlirMemRefTypeContiguousGet(shape.element, shape.rank, shape.sizes, mlirAttributeGetNull());
  buildGlobal(lowering, value, type, name);
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(lowering->context, tileString(name));
  MlirValue memref = tileBuildValue(&lowering->entry, "memref.get_global", type, 0, NULL,
                                    (TileAttributeEntry[]){{"name", symbol}, {0}});
  recordMemory(lowering, result, denseAccess(lowering, &shape, memref, shape.element));
  return true;
}

//===--- tiles put together in memory --------------------------------------------------------===//

// Where `part` lies in `whole`, from `offsets` on.
static Access partOf(Lowering *lowering, const Access *whole, const Shape *part, const Coord *offsets) {
  Access access = *whole;
  for (intptr_t d = 0; d < part->rank; ++d) {
    access.shape.sizes[d] = part->sizes[d];
    access.dims[d].origin = coordSum(&lowering->builder, access.dims[d].origin, offsets[d]);
  }
  return access;
}

static bool lowerCat(Lowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  Shape shape = shapeOf(mlirValueGetType(result));
  Access *whole = bufferNew(lowering, &shape);
  intptr_t axis = integerAttribute(op, "axis");
  Coord offsets[MaxRank] = {{{NULL}, 0}};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    Record *part = recordOf(lowering, mlirOperationGetOperand(op, i));
    Access target = partOf(lowering, whole, &part->shape, offsets);
    writeTile(lowering, part, &target);
    offsets[axis].offset += part->shape.sizes[axis];
  }
  recordMemory(lowering, result, whole);
  return true;
}

static bool lowerInsert(Lowering *lowering, MlirOperation op) {
  Record *part = recordOf(lowering, mlirOperationGetOperand(op, 0));
  Access *whole = materialize(lowering, recordOf(lowering, mlirOperationGetOperand(op, 1)), (MlirType){NULL});
  MlirAttribute statics = tileOpAttribute(op, "static_offsets");
  Coord offsets[MaxRank];
  intptr_t operand = 2;
  for (intptr_t d = 0; d < part->shape.rank; ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, d);
    offsets[d] = offset == mlirShapedTypeGetDynamicSize()
                     ? coordOf(scalarOf(lowering, mlirOperationGetOperand(op, operand++)))
                     : coordConstant(offset);
  }
  Access target = partOf(lowering, whole, &part->shape, offsets);
  writeTile(lowering, part, &target);
  recordMemory(lowering, mlirOperationGetResult(op, 0), whole);
  return true;
}

//===--- memory --------------------------------------------------------------------------------===//

static bool lowerStore(Lowering *lowering, MlirOperation op) {
  Record *value = recordOf(lowering, mlirOperationGetOperand(op, 0));
  const Access *destination = recordOf(lowering, mlirOperationGetOperand(op, 1))->access;
  Access *target = accessAt(lowering, destination, op, 2);
  MlirAttribute combine = tileOpAttribute(op, "combine");
  bool isScalar = !isTile(tileOperandType(op, 0));
  if (!combine.ptr && isScalar)
    return storeElement(lowering, op, target);
  if (!combine.ptr) {
    writeTile(lowering, value, target);
    return true;
  }
  Reached reached = {.op = op, .access = target, .element = target->shape.element};
  if (!expectAtomic(&reached))
    return false;
  addToTile(lowering, value, target, mlirStringAttrGetValue(combine));
  return true;
}

// View to buffer (packing) or back: `indices` are the view's.
bool lowerCopy(Lowering *lowering, MlirOperation op) {
  Access *ends[2];
  if (tileTypeGetRank(tileOperandType(op, 0)) == 0)
    return tileError(op, "not lowered to the CPU yet: a copy of a scalar");
  for (intptr_t i = 0; i < 2; ++i) {
    ends[i] = recordOf(lowering, mlirOperationGetOperand(op, i))->access;
    if (tileTypeIsAView(tileOperandType(op, i)))
      ends[i] = accessAt(lowering, ends[i], op, 2);
  }
  writeTile(lowering, recordOfAccess(lowering, ends[0]), ends[1]);
  return true;
}

static bool lowerPrefetch(Lowering *lowering, MlirOperation op) {
  if (tileTypeGetRank(tileOperandType(op, 0)) == 0)
    return true; // a hint for one element
  const Access *view = recordOf(lowering, mlirOperationGetOperand(op, 0))->access;
  accessPrefetch(lowering, accessAt(lowering, view, op, 1), tileOpAttribute(op, "write").ptr);
  return true;
}

//===--- the table ---------------------------------------------------------------------------------===//

typedef struct Row {
  const char *name;
  bool (*lower)(Lowering *lowering, MlirOperation op);
} Row;

static const Row rows[] = {
    {"tile.program_id", lowerProgramId},
    {"tile.num_programs", lowerNumPrograms},
    {"tile.num_tiles", lowerNumTiles},
    {"tile.assume", lowerAssume},
    {"tile.view", accessOfView},
    {"tile.memref_at", lowerMemrefAt},
    {"tile.alloc", accessOfBuffer},
    {"tile.slot", accessOfReinterpretation},
    {"tile.load", lowerLoad},
    {"tile.store", lowerStore},
    {"tile.copy", lowerCopy},
    {"tile.prefetch", lowerPrefetch},
    {"tile.in_bounds", lowerInBounds},
    {"tile.gather", lowerGather},
    {"tile.scatter", lowerScatter},
    {"tile.atomic_rmw", lowerAtomic},
    {"tile.atomic_cas", lowerAtomic},
    {"tile.atomic_load", lowerAtomic},
    {"tile.atomic_store", lowerAtomic},
    {"tile.mma", lowerMma},
    {"tile.mma_scaled", lowerMmaScaled},
    {"tile.reduce", lowerReduce},
    {"tile.scan", lowerScan},
    {"tile.random", lowerRandom},
    {"tile.histogram", lowerHistogram},
    {"tile.sort", lowerSort},
    {"tile.topk", lowerSort},
    {"tile.assert", lowerAssert},
    {"tile.print", lowerPrint},
    {"tile.convert_type", lowerConvertType},
    {"tile.bitcast", lowerBitcast},
    {"tile.cat", lowerCat},
    {"tile.insert", lowerInsert},
    {"tile.sync", lowerNothing}, // one partition runs a program: program order is enough
    {"tile.copy_async", lowerCopyAsync},
    {"tile.join", lowerJoin},
    {"tile.wait", lowerNothing},
    {"tile.fence", lowerFence},
    {"tile.convert_layout", lowerNothing}, // nobody uses its result any more
    {"tile.call", lowerCall},
    {"scf.for", lowerFor},
    {"scf.if", lowerIf},
    {"scf.while", lowerWhile},
};

// The one element.
static bool lowerReshapeToScalar(Lowering *lowering, MlirOperation op) {
  Coord first[MaxRank];
  for (intptr_t i = 0; i < MaxRank; ++i)
    first[i] = coordConstant(0);
  Body body = bodyBegin(lowering, false);
  MlirValue element = elementAt(&body, mlirOperationGetOperand(op, 0), first);
  bodyEnd(&body);
  recordScalar(lowering, mlirOperationGetResult(op, 0), element);
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
    if (isTile(tileResultType(op, i)))
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
    if ((isTile(type) || mlirTypeIsAMemRef(type)) && mlirShapedTypeGetRank(type) > MaxRank)
      return tileError(op, "not lowered to the CPU yet: rank %d (at most %d)", (int)mlirShapedTypeGetRank(type),
                       MaxRank);
  }
  return true;
}

static bool lowerOp(Lowering *lowering, MlirOperation op) {
  lowering->builder.location = mlirOperationGetLocation(op);
  if (!hasRanks(op))
    return false;
  const Row *row = findRow(op);
  if (row)
    return row->lower(lowering, op);
  bool yieldsTile = mlirOperationGetNumResults(op) > 0 && isTile(tileResultType(op, 0));
  if (tileOpIs(op, "tile.reshape") && !yieldsTile && isTile(tileOperandType(op, 0)))
    return lowerReshapeToScalar(lowering, op);
  if (mlirOperationGetNumOperands(op) > 0 && tileTypeIsABuffer(tileOperandType(op, 0)))
    return accessOfReinterpretation(lowering, op);
  if (yieldsTile && tileOpIs(op, "arith.constant"))
    return lowerConstant(lowering, op);
  if (yieldsTile && isEvaluable(op))
    return lowerLazy(lowering, op);
  if (mayBeCloned(op))
    return cloneScalar(lowering, op);
  MlirStringRef name = tileOpName(op);
  return tileError(op, "not lowered to the CPU yet: '%.*s'", (int)name.length, name.data);
}

bool lowerBlock(Lowering *lowering, MlirBlock block) {
  MlirOperation terminator = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!lowerOp(lowering, op))
      return false;
  return true;
}
