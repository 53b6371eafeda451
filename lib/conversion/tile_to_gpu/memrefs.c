// Memrefs and views: pointer, sizes and strides as values, and what is known of them. The parameters of a device kernel
// (docs/gpu.md): scalars as they are; of a memref the pointer, its dynamic sizes, its dynamic strides.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

static bool isDynamic(int64_t size) { return size == mlirShapedTypeGetDynamicSize(); }
static bool isDynamicStride(int64_t stride) { return stride == mlirShapedTypeGetDynamicStrideOrOffset(); }

Memory *gpuMemoryNew(Gpu *g, MlirValue source) {
  Record *record = gpuRecordNew(g, source, Record_Memory);
  record->memory = gpuAllocate(g, sizeof *record->memory);
  return record->memory;
}

//===--- describing -----------------------------------------------------------------===//

static bool isContiguous(MlirType type) {
  MlirAttribute layout = mlirMemRefTypeGetLayout(type);
  return mlirAttributeIsAAffineMap(layout) && mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
}

// stride[d] = size[d + 1] * stride[d + 1]; what is known of one is known of the other.
static void contiguousStrides(Gpu *g, Memory *memory) {
  for (intptr_t d = memory->rank; d-- > 0;) {
    bool isLast = d == memory->rank - 1;
    memory->strides[d] = isLast ? tileBuildIndex(&g->builder, 1)
                                : tileBuildMul(&g->builder, memory->sizes[d + 1], memory->strides[d + 1]);
    memory->strideMultiple[d] = isLast ? 1 : memory->sizeMultiple[d + 1] * memory->strideMultiple[d + 1];
  }
}

// Fills rank, element, and sizes and strides that the type tells; those it does not tell must be there already.
bool gpuDescribeMemory(Gpu *g, MlirOperation at, MlirType type, Memory *memory) {
  int64_t strides[64], offset;
  memory->rank = mlirShapedTypeGetRank(type);
  memory->element = mlirShapedTypeGetElementType(type);
  if (memory->rank > MaxRank)
    return gpuRefuse(at, "a memref of more than 8 dimensions");
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return gpuRefuse(at, "a memref whose elements lie at no strides");
  for (intptr_t d = 0; d < memory->rank; ++d) {
    int64_t size = mlirShapedTypeGetDimSize(type, d);
    if (!isDynamic(size))
      memory->sizes[d] = tileBuildIndex(&g->builder, size);
    memory->sizeMultiple[d] = isDynamic(size) ? 1 : size;
    if (!isDynamicStride(strides[d]))
      memory->strides[d] = tileBuildIndex(&g->builder, strides[d]);
    memory->strideMultiple[d] = isDynamicStride(strides[d]) ? 1 : strides[d];
  }
  if (isContiguous(type))
    contiguousStrides(g, memory);
  if (!memory->align)
    memory->align = tileStoredBytes(memory->element);
  return true;
}

//===--- parameters -----------------------------------------------------------------===//

static MlirType parameterOfScalar(Gpu *g, MlirType type) {
  if (mlirTypeIsAIndex(type))
    return g->i64;
  return gpuBits(type) < 8 || gpuIsSmallFloat(type) ? g->i8 : type;
}

intptr_t gpuParameterTypes(Gpu *g, MlirType type, MlirType *types) {
  if (!mlirTypeIsAMemRef(type)) {
    types[0] = parameterOfScalar(g, type);
    return 1;
  }
  int64_t strides[64], offset;
  intptr_t count = 0, rank = mlirShapedTypeGetRank(type);
  types[count++] = mlirLLVMPointerTypeGet(g->context, GlobalSpace);
  for (intptr_t d = 0; d < rank; ++d)
    if (isDynamic(mlirShapedTypeGetDimSize(type, d)))
      types[count++] = g->i64;
  bool known = mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  for (intptr_t d = 0; d < rank && known && !isContiguous(type); ++d)
    if (isDynamicStride(strides[d]))
      types[count++] = g->i64;
  return count;
}

static bool takeMemory(Gpu *g, MlirValue parameter, MlirBlock entry, intptr_t *next) {
  MlirType type = mlirValueGetType(parameter);
  int64_t strides[64], offset;
  Memory *memory = gpuMemoryNew(g, parameter);
  memory->root = parameter;
  memory->base = mlirBlockGetArgument(entry, (*next)++);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type) && d < MaxRank; ++d)
    if (isDynamic(mlirShapedTypeGetDimSize(type, d)))
      memory->sizes[d] = gpuCast(g, mlirBlockGetArgument(entry, (*next)++), g->index, true);
  if (mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) && !isContiguous(type))
    for (intptr_t d = 0; d < mlirShapedTypeGetRank(type) && d < MaxRank; ++d)
      if (isDynamicStride(strides[d]))
        memory->strides[d] = gpuCast(g, mlirBlockGetArgument(entry, (*next)++), g->index, true);
  return gpuDescribeMemory(g, g->kernel, type, memory);
}

static MlirValue scalarOfParameter(Gpu *g, MlirValue value, MlirType type) {
  if (mlirTypeIsAIndex(type))
    return gpuCast(g, value, type, true);
  return gpuFromStored(g, value, type);
}

bool gpuParameters(Gpu *g, MlirBlock body, MlirBlock entry) {
  intptr_t next = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue parameter = mlirBlockGetArgument(body, i);
    MlirType type = mlirValueGetType(parameter);
    if (mlirTypeIsAMemRef(type)) {
      if (!takeMemory(g, parameter, entry, &next))
        return false;
    } else {
      gpuRecordScalar(g, parameter, scalarOfParameter(g, mlirBlockGetArgument(entry, next++), type));
    }
  }
  return true;
}

//===--- what a program says of memory ------------------------------------------------===//

static void assumeOfDimensions(MlirOperation op, const char *name, intptr_t rank, int64_t *multiples) {
  MlirAttribute known = tileOpAttribute(op, name);
  for (intptr_t d = 0; !mlirAttributeIsNull(known) && d < rank; ++d) {
    int64_t divisor = mlirDenseI64ArrayGetElement(known, d);
    if (divisor > 0)
      multiples[d] *= divisor / tessera_gcd(multiples[d], divisor);
  }
}

// In a contiguous memref, the stride before the last is the last size.
static void deduceLastSize(Memory *memory, MlirType type) {
  intptr_t last = memory->rank - 1;
  if (last < 1 || !isContiguous(type))
    return;
  int64_t known = memory->strideMultiple[last - 1], size = memory->sizeMultiple[last];
  if (size != 0) // nothing to add to what is known of a size of zero, whose strides are zero too
    memory->sizeMultiple[last] = known / tessera_gcd(known, size) * size;
}

static bool lowerAssume(Gpu *g, MlirOperation op) {
  MlirValue value = tileAssumeOpGetValue(op), result = tileAssumeOpGetResult(op);
  Record *record = gpuRecord(g, value);
  if (record->kind != Record_Memory) {
    // An id is the register's word, cast.
    if (tileProgramIdOpIsA(tileDefiningOp(value)) && tileHas(op, "range"))
      gpuLimitId(g, tileOnlyOperand(tileDefiningOp(record->registers[0])), tileArrayAt(op, "range", 1) + 1);
    gpuRecordAlias(g, result, record);
    return true;
  }
  Memory *memory = gpuMemoryNew(g, result);
  *memory = *record->memory;
  int64_t align;
  if (tileIntegerOf(op, "align", &align) && align > memory->align)
    memory->align = align;
  assumeOfDimensions(op, "sizes", memory->rank, memory->sizeMultiple);
  assumeOfDimensions(op, "strides", memory->rank, memory->strideMultiple);
  deduceLastSize(memory, mlirValueGetType(result));
  return true;
}

// Static sizes a cast forgets stay known; those it claims are true.
static bool lowerCast(Gpu *g, MlirOperation op) {
  Memory *memory = gpuMemoryNew(g, memrefCastOpGetDest(op));
  *memory = *gpuRecord(g, memrefCastOpGetSource(op))->memory;
  return true;
}

static bool lowerDim(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, memrefDimOpGetSource(op))->memory;
  MlirValue dimension = memrefDimOpGetIndex(op);
  int64_t d;
  if (!tileConstantIndex(dimension, &d))
    return gpuRefuse(op, "a dimension known only when the program runs");
  gpuRecordScalar(g, memrefDimOpGetResult(op), memory->sizes[d]);
  return true;
}

static bool lowerMemrefAt(Gpu *g, MlirOperation op) {
  MlirType type = tileMemrefAtOpGetResultType(op);
  Memory *memory = gpuMemoryNew(g, tileMemrefAtOpGetResult(op));
  MlirType pointer = mlirLLVMPointerTypeGet(g->context, GlobalSpace);
  int64_t strides[64], offset;
  intptr_t nextSize = 0, nextStride = 0;
  memory->base = gpuOp(g, LlvmOp_IntToPtr, pointer, gpuScalar(g, tileMemrefAtOpGetAddress(op)));
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type) && d < MaxRank; ++d)
    if (isDynamic(mlirShapedTypeGetDimSize(type, d)))
      memory->sizes[d] = gpuScalar(g, tileMemrefAtOpGetSizes(op, nextSize++));
  if (mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) && !isContiguous(type))
    for (intptr_t d = 0; d < mlirShapedTypeGetRank(type) && d < MaxRank; ++d)
      if (isDynamicStride(strides[d]))
        memory->strides[d] = gpuScalar(g, tileMemrefAtOpGetStrides(op, nextStride++));
  return gpuDescribeMemory(g, op, type, memory);
}

//===--- subview ----------------------------------------------------------------------===//

static MlirValue mixed(Gpu *g, MlirOperation op, const char *statics, intptr_t d, intptr_t *next) {
  int64_t value = mlirDenseI64ArrayGetElement(tileOpAttribute(op, statics), d);
  return isDynamic(value) ? gpuScalar(g, mlirOperationGetOperand(op, (*next)++)) : tileBuildIndex(&g->builder, value);
}

static bool lowerSubview(Gpu *g, MlirOperation op) {
  const Memory *source = gpuRecord(g, memrefSubViewOpGetSource(op))->memory;
  MlirType type = memrefSubViewOpGetResultType(op);
  if (mlirShapedTypeGetRank(type) != source->rank)
    return gpuRefuse(op, "a subview of lower rank: fix dimensions by tile.view");
  Memory *memory = gpuMemoryNew(g, memrefSubViewOpGetResult(op));
  MlirValue offset = tileBuildIndex(&g->builder, 0);
  intptr_t next = memrefSubViewOpGetOffsetsBegin(op);
  *memory = *source;
  for (intptr_t d = 0; d < memory->rank; ++d)
    offset = tileBuildAdd(&g->builder, offset,
                          tileBuildMul(&g->builder, mixed(g, op, "static_offsets", d, &next), source->strides[d]));
  for (intptr_t d = 0; d < memory->rank; ++d) {
    memory->sizes[d] = mixed(g, op, "static_sizes", d, &next);
    memory->sizeMultiple[d] = 1;
  }
  for (intptr_t d = 0; d < memory->rank; ++d)
    memory->strides[d] = tileBuildMul(&g->builder, source->strides[d], mixed(g, op, "static_strides", d, &next));
  memory->align = tileStoredBytes(memory->element);
  memory->base =
      gpuAddress(g, source->base, tileBuildMul(&g->builder, offset, tileBuildIndex(&g->builder, memory->align)));
  return true;
}

//===--- views --------------------------------------------------------------------------===//

// Fixed dimensions go into the address; the others become axes in the type's order.
static void fixDimensions(Gpu *g, MlirOperation op, const Memory *source, View *view) {
  MlirValue offset = tileBuildIndex(&g->builder, 0);
  intptr_t kept[MaxRank], rank = 0, fixed = 0, count = tileArrayCount(op, "fixed");
  for (intptr_t d = 0; d < source->rank; ++d) {
    if (fixed == count || tileArrayAt(op, "fixed", fixed) != d) {
      kept[rank++] = d;
      continue;
    }
    MlirValue index = gpuScalar(g, tileViewOpGetIndices(op, fixed++));
    view->inside = gpuBoth(g, view->inside, gpuCompare(g, ArithCmpI_Ult, index, source->sizes[d]));
    offset = tileBuildAdd(&g->builder, offset, tileBuildMul(&g->builder, index, source->strides[d]));
    view->memory.align = tessera_gcd(view->memory.align, source->strideMultiple[d] * tileStoredBytes(source->element));
  }
  MlirValue bytes = tileBuildIndex(&g->builder, tileStoredBytes(source->element));
  view->memory.base = gpuAddress(g, source->base, tileBuildMul(&g->builder, offset, bytes));
  for (intptr_t axis = 0; axis < rank; ++axis)
    view->dims[axis] = kept[tileViewTypeGetOrder(view->type, axis)];
}

static bool lowerView(Gpu *g, MlirOperation op) {
  MlirType type = tileViewOpGetResultType(op);
  const Memory *source = gpuRecord(g, tileViewOpGetSource(op))->memory;
  Record *record = gpuRecordNew(g, tileViewOpGetResult(op), Record_View);
  record->view = gpuAllocate(g, sizeof *record->view);
  *record->view = (View){.memory = *source, .op = op, .type = type};
  fixDimensions(g, op, source, record->view);
  return mlirAttributeIsNull(tileViewTypeGetPacked(type)) || gpuPackView(g, op, record->view);
}

// ceil((size - span + step) / step), at least 1 when there is anything.
static bool lowerNumTiles(Gpu *g, MlirOperation op) {
  const View *view = gpuRecord(g, tileNumTilesOpGetView(op))->view;
  int64_t axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"));
  int64_t step = tileViewTypeGetStep(view->type, axis), stride = tileViewTypeGetStride(view->type, axis);
  int64_t span = (tileViewTypeGetSize(view->type, axis) - 1) * stride + 1;
  TileBuilder *builder = &g->builder;
  MlirValue size = gpuViewSize(g, view, axis);
  MlirValue more = tileBuildAdd(builder, size, tileBuildIndex(builder, step - span));
  MlirValue count = tileBuildCeilDiv(builder, more, tileBuildIndex(builder, step));
  if (step != span)
    count = tileBuildMax(builder, count, tileBuildMin(builder, size, tileBuildIndex(builder, 1)));
  gpuRecordScalar(g, tileNumTilesOpGetResult(op), count);
  return true;
}

//===--- single elements ------------------------------------------------------------------===//

MlirValue gpuElementAddress(Gpu *g, const Memory *memory, MlirOperation op, intptr_t firstIndex) {
  TileBuilder *builder = &g->builder;
  MlirValue at = tileBuildIndex(builder, 0);
  for (intptr_t d = 0; d < memory->rank; ++d) {
    MlirValue index = gpuScalar(g, mlirOperationGetOperand(op, firstIndex + d));
    at = tileBuildAdd(builder, at, tileBuildMul(builder, index, memory->strides[d]));
  }
  return gpuAddress(g, memory->base,
                    tileBuildMul(builder, at, tileBuildIndex(builder, tileStoredBytes(memory->element))));
}

static bool lowerScalarLoad(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, memrefLoadOpGetMemref(op))->memory;
  MlirValue value;
  gpuLoadElements(g, memory->element, 1, gpuElementAddress(g, memory, op, memrefLoadOpGetIndicesBegin(op)),
                  tileStoredBytes(memory->element), &value);
  gpuRecordScalar(g, memrefLoadOpGetResult(op), value);
  return true;
}

// Once per program: by the first thread.
static bool lowerScalarStore(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, memrefStoreOpGetMemref(op))->memory;
  MlirValue value = gpuScalar(g, memrefStoreOpGetValue(op));
  GpuIf branch = gpuIf(g, gpuCompare(g, ArithCmpI_Eq, g->thread, gpuI32(g, 0)), 0, NULL);
  gpuStoreElements(g, memory->element, 1, &value, gpuElementAddress(g, memory, op, memrefStoreOpGetIndicesBegin(op)),
                   tileStoredBytes(memory->element));
  gpuEndIf(g, &branch, 0, NULL, NULL);
  return true;
}

const GpuRow gpuMemoryRows[] = {{TileOp_Assume, lowerAssume},
                                {TileOp_View, lowerView},
                                {TileOp_NumTiles, lowerNumTiles},
                                {TileOp_MemrefAt, lowerMemrefAt},
                                {.lower = NULL}};
const GpuRow gpuMemrefRows[] = {{MemrefOp_Cast, lowerCast},         {MemrefOp_Dim, lowerDim},
                                {MemrefOp_SubView, lowerSubview},   {MemrefOp_Load, lowerScalarLoad},
                                {MemrefOp_Store, lowerScalarStore}, {.lower = NULL}};
