// convert-tile-to-tt: tile kernels become kernels of Triton (TTIR). Expects: tile kernels as a person or
// convert-linalg-to-tile writes them, without layouts. Leaves: a public tt.func for each kernel, and nothing of the
// host. An op, type or size that TTIR does not have is an error.
// Why: Triton then compiles our kernels for its own targets. Cost: linear in the ops.
//
// Parameters keep their order. A memref is a pointer, followed by an i64 for each size and then each stride that its
// type leaves open. A view's tile is read and written through pointers, with a mask.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "lib/ir/pass.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

//===--- values -----------------------------------------------------------------------===//

static void freeKernel(TtirKernel *k) {
  tileArenaFree(&k->arena);
  tileTableFree(&k->values);
  tileTableFree(&k->memories);
}

void ttirSet(TtirKernel *k, MlirValue old, MlirValue value) { tileTableSet(&k->values, old.ptr, (void *)value.ptr); }

MlirValue ttirGet(TtirKernel *k, MlirValue old) {
  MlirValue value = {tileTableFind(&k->values, old.ptr)};
  if (mlirValueIsNull(value))
    tileErrorAt(k->b.location, "takes a value of type %s, which has no conversion to tt",
                tileTypeText(mlirValueGetType(old), (char[128]){0}, 128));
  return value;
}

TtirMemory *ttirNewMemory(TtirKernel *k, MlirValue old) {
  TtirMemory *memory = tileArenaAllocate(&k->arena, sizeof *memory);
  tileTableSet(&k->memories, old.ptr, memory);
  return memory;
}

const TtirMemory *ttirMemory(TtirKernel *k, MlirValue old) {
  const TtirMemory *memory = tileTableFind(&k->memories, old.ptr);
  if (!memory)
    tileErrorAt(k->b.location, "accesses memory that is no part of a parameter, which has no conversion to tt");
  return memory;
}

//===--- types --------------------------------------------------------------------------===//

MlirType ttirElement(MlirType type) {
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirType ttirShaped(MlirType like, MlirType element) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(like) || !mlirExtTypeGetShape(like, &shape))
    return element;
  return mlirRankedTensorTypeGet(shape.rank, shape.sizes, element, mlirAttributeGetNull());
}

MlirType ttirType(MlirOperation at, MlirType old) {
  MlirExtShape shape;
  MlirType element = ttirElement(old), i64 = mlirIntegerTypeGet(mlirTypeGetContext(old), 64);
  bool isNumber = mlirTypeIsAIndex(element) || mlirTypeIsAFloat(element) || mlirTypeIsAInteger(element);
  if (!isNumber || (mlirTypeIsARankedTensor(old) && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(old)))) {
    tileError(at, "has the type %s, which TTIR does not have", tileTypeText(old, (char[128]){0}, 128));
    return (MlirType){NULL};
  }
  element = mlirTypeIsAIndex(element) ? i64 : element;
  if (!mlirTypeIsARankedTensor(old))
    return element;
  mlirExtTypeGetShape(old, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (shape.sizes[i] & (shape.sizes[i] - 1)) {
      tileError(at, "has a tile of size %ld along dimension %ld, expected a power of two", (long)shape.sizes[i],
                (long)i);
      return (MlirType){NULL};
    }
  return ttirShaped(old, element);
}

MlirAttribute ttirI32(TtirKernel *k, int64_t value) { return tileBuildEnum(&k->b, 32, value); }
MlirValue ttirNumber(TtirKernel *k, int64_t value) {
  return tileBuildInteger(&k->b, mlirIntegerTypeGet(k->b.context, 64), value);
}
MlirValue ttirSplat(TtirKernel *k, MlirValue scalar, MlirType type) {
  return mlirTypeIsARankedTensor(type) ? ttSplatOpBuild(&k->b, type, scalar) : scalar;
}

MlirValue ttirRange(TtirKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType i32 = mlirIntegerTypeGet(k->b.context, 32), i64 = mlirIntegerTypeGet(k->b.context, 64);
  int64_t shape[TtMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = i == axis ? sizes[i] : 1;
  MlirType line = mlirRankedTensorTypeGet(1, &sizes[axis], i32, mlirAttributeGetNull());
  MlirValue range = ttMakeRangeOpBuild(&k->b, line, ttirI32(k, 0), ttirI32(k, sizes[axis]));
  range = tileBuildCast(&k->b, ArithOp_ExtSI, range, ttirShaped(line, i64));
  if (rank == 1)
    return range;
  range = ttReshapeOpBuild(&k->b, mlirRankedTensorTypeGet(rank, shape, i64, mlirAttributeGetNull()), range);
  return ttBroadcastOpBuild(&k->b, mlirRankedTensorTypeGet(rank, sizes, i64, mlirAttributeGetNull()), range);
}

//===--- control flow ---------------------------------------------------------------------===//

static bool getAll(TtirKernel *k, MlirOperation op, intptr_t first, MlirValue *values, intptr_t *count) {
  *count = 0;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirValueIsNull(values[(*count)++] = ttirGet(k, mlirOperationGetOperand(op, i))))
      return false;
  return true;
}

static MlirValue *newValues(TtirKernel *k, MlirOperation op) {
  return tileArenaAllocate(&k->arena, sizeof(MlirValue) * (size_t)(mlirOperationGetNumOperands(op) + 1));
}

static bool yield(TtirKernel *k, MlirBlock block) {
  MlirOperation end = mlirBlockGetTerminator(block);
  MlirValue *values = newValues(k, end);
  intptr_t count;
  if (!ttirConvertBlock(k, block) || !getAll(k, end, 0, values, &count))
    return false;
  tileBuildYield(&k->b, count, values);
  return true;
}

static bool convertFor(TtirKernel *k, MlirOperation op) {
  MlirValue *values = newValues(k, op);
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(op)), body;
  intptr_t count;
  if (!getAll(k, op, 0, values, &count))
    return false;
  MlirOperation loop = tileBuildFor(&k->b, values[0], values[1], values[2], count - 3, values + 3, &body);
  TileBuilder outer = k->b;
  k->b = tileBuilderAtEnd(body, outer.location);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i)
    ttirSet(k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(body, i));
  bool ok = yield(k, old);
  k->b = outer;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    ttirSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(loop, i));
  return ok;
}

static bool convertIf(TtirKernel *k, MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  MlirValue condition = ttirGet(k, scfIfOpGetCondition(op));
  MlirRegion regions[2];
  bool ok = !mlirValueIsNull(condition);
  for (intptr_t i = 0; ok && i < count; ++i)
    ok = !mlirTypeIsNull(types[i] = ttirType(op, tileResultType(op, i)));
  if (!ok)
    return false;
  TileBuilder outer = k->b;
  for (int i = 0; i < 2; ++i) {
    MlirBlock block = mlirRegionGetFirstBlock(i ? scfIfOpGetElseRegion(op) : scfIfOpGetThenRegion(op));
    k->b = tileBuilderInRegion(&outer, &regions[i], 0, NULL);
    if (mlirBlockIsNull(block))
      tileBuildYield(&k->b, 0, NULL);
    else
      ok = ok && yield(k, block);
  }
  k->b = outer;
  if (!ok) {
    mlirRegionDestroy(regions[0]);
    mlirRegionDestroy(regions[1]);
    return false;
  }
  MlirOperation made = scfIfOpBuild(&k->b, count, types, condition, regions[0], regions[1]);
  for (intptr_t i = 0; i < count; ++i)
    ttirSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

static bool control(TtirKernel *k, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case ScfOp_For:
    return convertFor(k, op);
  case ScfOp_If:
    return convertIf(k, op);
  default:
    *isKnown = false;
    return true;
  }
}

//===--- ops ------------------------------------------------------------------------------===//

static bool convertOp(TtirKernel *k, MlirOperation op) {
  static const TtirConvert conversions[] = {ttirAccess, ttirCompute, control};
  k->b.location = mlirOperationGetLocation(op);
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i) {
    bool isKnown;
    bool ok = conversions[i](k, op, &isKnown);
    if (isKnown || !ok)
      return ok;
  }
  return tileError(op, "has no conversion to tt");
}

bool ttirConvertBlock(TtirKernel *k, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationIsNull(op) && !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    if (!convertOp(k, op))
      return false;
  return true;
}

//===--- parameters ---------------------------------------------------------------------------===//

static MlirValue addParameter(TtirKernel *k, MlirType type) {
  return mlirBlockAddArgument(k->b.block, type, k->b.location);
}

// Memory without a layout has the strides of rows that stand one behind another.
static bool takeMemref(TtirKernel *k, MlirOperation kernel, MlirValue old) {
  MlirType type = mlirValueGetType(old), i64 = mlirIntegerTypeGet(k->b.context, 64);
  MlirType element = mlirShapedTypeGetElementType(type);
  TtirMemory *memory = ttirNewMemory(k, old);
  int64_t strides[TtMaxRank], offset = 0;
  memory->rank = mlirShapedTypeGetRank(type);
  if (memory->rank > TtMaxRank || (!mlirTypeIsAInteger(element) && !mlirTypeIsAFloat(element)))
    return tileError(kernel, "has a parameter of type %s, which TTIR does not have",
                     tileTypeText(type, (char[128]){0}, 128));
  memory->base = addParameter(k, ttPointerTypeGet(element));
  for (intptr_t i = 0; i < memory->rank; ++i) {
    bool isOpen = mlirShapedTypeIsDynamicDim(type, i);
    memory->sizes[i] = isOpen ? addParameter(k, i64) : ttirNumber(k, mlirShapedTypeGetDimSize(type, i));
  }
  MlirAttribute layout = mlirMemRefTypeGetLayout(type);
  bool isStrided = !mlirAttributeIsAAffineMap(layout);
  if (isStrided && mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return tileError(kernel, "has a parameter of a layout without strides");
  if (isStrided && offset)
    return tileError(kernel, "has a parameter that begins at an offset, expected 0");
  for (intptr_t i = memory->rank; i-- > 0;)
    if (isStrided && strides[i] == mlirShapedTypeGetDynamicStrideOrOffset())
      memory->strides[i] = (MlirValue){NULL};
    else if (isStrided)
      memory->strides[i] = ttirNumber(k, strides[i]);
    else
      memory->strides[i] = i == memory->rank - 1
                               ? ttirNumber(k, 1)
                               : tileBuildBinary(&k->b, ArithOp_MulI, memory->strides[i + 1], memory->sizes[i + 1]);
  for (intptr_t i = 0; i < memory->rank; ++i)
    if (mlirValueIsNull(memory->strides[i]))
      memory->strides[i] = addParameter(k, i64);
  return true;
}

static bool takeParameter(TtirKernel *k, MlirOperation kernel, MlirValue old) {
  MlirType type = mlirValueGetType(old);
  if (mlirTypeIsAMemRef(type))
    return takeMemref(k, kernel, old);
  MlirType made = mlirTypeIsARankedTensor(type) ? (MlirType){NULL} : ttirType(kernel, type);
  if (mlirTypeIsNull(made))
    return false;
  ttirSet(k, old, addParameter(k, made));
  return true;
}

static bool convertKernel(MlirOperation kernel) {
  MlirBlock old = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  TileBuilder b = tileBuilderBefore(kernel);
  TtirKernel k = {.b = b};
  MlirRegion body;
  if (mlirBlockIsNull(old))
    return tileError(kernel, "has no body");
  k.b = tileBuilderInRegion(&b, &body, 0, NULL);
  bool ok = true;
  for (intptr_t i = 0; ok && i < mlirBlockGetNumArguments(old); ++i)
    ok = takeParameter(&k, kernel, mlirBlockGetArgument(old, i));
  MlirBlock block = k.b.block;
  ok = ok && ttirConvertBlock(&k, old);
  if (ok) {
    intptr_t count = mlirBlockGetNumArguments(block);
    MlirType *types = tileArenaAllocate(&k.arena, sizeof *types * (size_t)(count + 1));
    for (intptr_t i = 0; i < count; ++i)
      types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
    ttReturnOpBuild(&k.b, 0, NULL);
    ttFuncOpCreate(&b, tileKernelOpGetSymName(kernel), mlirStringAttrGet(b.context, tileString("public")),
                   mlirTypeAttrGet(mlirFunctionTypeGet(b.context, count, types, 0, NULL)), mlirAttributeGetNull(),
                   mlirAttributeGetNull(), body);
    mlirOperationDestroy(kernel);
  } else {
    mlirRegionDestroy(body);
  }
  freeKernel(&k);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirBlock block = mlirRegionGetFirstBlock(builtinModuleOpGetBodyRegion(module));
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  bool ok = kernels.count || tileError(module, "has no tile.kernel");
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; ok && !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tileKernelOpIsA(op))
      ok = convertKernel(op);
    else
      mlirOperationDestroy(op); // the host's
  }
  tileOpsFree(&kernels);
  return ok && mlirOperationVerify(module);
}

const MlirExtPassDefinition tileToTtPass = {
    .argument = "convert-tile-to-tt",
    .summary = "Convert tile kernels to kernels of Triton (TTIR)",
    .anchor = builtinModuleOpName,
    .dialects = (const char *const[]){"scf", "arith", "math", NULL},
    .registerDialects = ttRegisterDialect,
    .run = run,
};
