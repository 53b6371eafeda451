// Memrefs and views: pointer, sizes and strides as values, and what is known of them. The parameters of a device kernel
// (docs/gpu.md): scalars as they are; of a memref the pointer, its dynamic sizes, its dynamic strides.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/layout/access.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

enum { MaxParameters = 2 * MaxRank }; // of a memref, beside its pointer

static bool isDynamic(int64_t number) { return number == mlirShapedTypeGetDynamicSize(); } // a stride, too

// The memory that `value` of the kernel is, with what the kernel says of it; `like` (null: nothing) gives the rest.
static Memory *newMemory(Gpu *g, MlirValue value, const Memory *like) {
  MlirType type = mlirValueGetType(value);
  Record *record = gpuRecordNew(g, value, Record_Memory);
  Memory *memory = record->memory = gpuAllocate(g, sizeof *memory);
  if (like)
    *memory = *like;
  memory->rank = mlirShapedTypeGetRank(type);
  memory->element = mlirShapedTypeGetElementType(type);
  memory->facts = tileKnownMemory(value);
  return memory;
}

MlirValue gpuOffset(Gpu *g, const Memory *memory, intptr_t count, const intptr_t *dims, const MlirValue *positions) {
  MlirValue offset = tileBuildIndex(&g->builder, 0);
  for (intptr_t i = 0; i < count; ++i)
    offset = gpuAdd(g, offset, gpuMul(g, positions[i], memory->strides[dims ? dims[i] : i]));
  return offset;
}

//===--- describing -----------------------------------------------------------------===//

static bool isContiguous(MlirType type) {
  MlirAttribute layout = mlirMemRefTypeGetLayout(type);
  return mlirAttributeIsAAffineMap(layout) && mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
}

// The numbers that a memref's type leaves open, in the order of parameters: d for the size of dimension d, MaxRank + d
// for its stride, which follows from the sizes where the memref is contiguous.
static intptr_t openNumbers(MlirType type, intptr_t *numbers) {
  int64_t strides[64], offset;
  intptr_t count = 0, rank = mlirShapedTypeGetRank(type);
  bool isStrided = mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  for (intptr_t d = 0; d < rank && rank <= MaxRank; ++d)
    if (isDynamic(mlirShapedTypeGetDimSize(type, d)))
      numbers[count++] = d;
  for (intptr_t d = 0; d < rank && rank <= MaxRank && isStrided && !isContiguous(type); ++d)
    if (isDynamic(strides[d]))
      numbers[count++] = MaxRank + d;
  return count;
}

static void setNumber(Memory *memory, intptr_t number, MlirValue value) {
  *(number < MaxRank ? &memory->sizes[number] : &memory->strides[number - MaxRank]) = value;
}

// Sizes and strides that the type tells; those that it leaves open must be there already.
static bool describe(Gpu *g, MlirOperation at, MlirType type, Memory *memory) {
  int64_t strides[64], offset;
  if (memory->rank > MaxRank)
    return gpuRefuse(at, "a memref of more than 8 dimensions");
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return gpuRefuse(at, "a memref whose elements lie at no strides");
  for (intptr_t d = 0; d < memory->rank; ++d) {
    if (!isDynamic(mlirShapedTypeGetDimSize(type, d)))
      memory->sizes[d] = tileBuildIndex(&g->builder, mlirShapedTypeGetDimSize(type, d));
    if (!isDynamic(strides[d]))
      memory->strides[d] = tileBuildIndex(&g->builder, strides[d]);
  }
  for (intptr_t d = memory->rank; isContiguous(type) && d-- > 0;)
    memory->strides[d] = d == memory->rank - 1
                             ? tileBuildIndex(&g->builder, 1)
                             : tileBuildMul(&g->builder, memory->sizes[d + 1], memory->strides[d + 1]);
  return true;
}

//===--- parameters -----------------------------------------------------------------===//

static MlirType parameterOfScalar(Gpu *g, MlirType type) {
  if (mlirTypeIsAIndex(type))
    return g->i64;
  return gpuBits(type) < 8 || gpuIsSmallFloat(type) ? g->i8 : type;
}

intptr_t gpuParameterTypes(Gpu *g, MlirType type, MlirType *types) {
  intptr_t numbers[MaxParameters], count = 0;
  if (mlirTypeIsAMemRef(type))
    count = openNumbers(type, numbers);
  types[0] = mlirTypeIsAMemRef(type) ? mlirLLVMPointerTypeGet(g->context, GlobalSpace) : parameterOfScalar(g, type);
  for (intptr_t i = 1; i <= count; ++i)
    types[i] = g->i64;
  return 1 + count;
}

static bool takeMemory(Gpu *g, MlirValue parameter, MlirBlock entry, intptr_t *next) {
  MlirType type = mlirValueGetType(parameter);
  intptr_t numbers[MaxParameters], count = openNumbers(type, numbers);
  Memory *memory = newMemory(g, parameter, NULL);
  memory->root = parameter;
  memory->base = mlirBlockGetArgument(entry, (*next)++);
  for (intptr_t i = 0; i < count; ++i)
    setNumber(memory, numbers[i], gpuCast(g, mlirBlockGetArgument(entry, (*next)++), g->index, true));
  return describe(g, g->kernel, type, memory);
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
    if (!mlirTypeIsAMemRef(type))
      gpuRecordScalar(g, parameter, scalarOfParameter(g, mlirBlockGetArgument(entry, next++), type));
    else if (!takeMemory(g, parameter, entry, &next))
      return false;
  }
  return true;
}

//===--- the same memory ----------------------------------------------------------------===//

static bool lowerAssume(Gpu *g, MlirOperation op) {
  MlirValue value = tileAssumeOpGetValue(op), result = tileAssumeOpGetResult(op);
  Record *record = gpuRecord(g, value);
  if (record->kind == Record_Memory) {
    newMemory(g, result, record->memory);
    return true;
  }
  // An id is the register's word, cast.
  if (tileProgramIdOpIsA(tileDefiningOp(value)) && tileHas(op, "range"))
    gpuLimitId(g, tileOnlyOperand(tileDefiningOp(record->registers[0])), tileArrayAt(op, "range", 1) + 1);
  gpuRecordAlias(g, result, record);
  return true;
}

static bool lowerCast(Gpu *g, MlirOperation op) {
  newMemory(g, memrefCastOpGetDest(op), gpuRecord(g, memrefCastOpGetSource(op))->memory);
  return true;
}

static bool lowerDim(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, memrefDimOpGetSource(op))->memory;
  int64_t d;
  if (!tileConstantIndex(memrefDimOpGetIndex(op), &d))
    return gpuRefuse(op, "a dimension known only when the program runs");
  gpuRecordScalar(g, memrefDimOpGetResult(op), memory->sizes[d]);
  return true;
}

static bool lowerMemrefAt(Gpu *g, MlirOperation op) {
  MlirType type = tileMemrefAtOpGetResultType(op), pointer = mlirLLVMPointerTypeGet(g->context, GlobalSpace);
  Memory *memory = newMemory(g, tileMemrefAtOpGetResult(op), NULL);
  intptr_t numbers[MaxParameters], count = openNumbers(type, numbers), sizes = tileMemrefAtOpGetNumSizes(op);
  memory->base = gpuOp(g, LlvmOp_IntToPtr, pointer, gpuScalar(g, tileMemrefAtOpGetAddress(op)));
  for (intptr_t i = 0; i < count; ++i)
    setNumber(memory, numbers[i],
              gpuScalar(g, i < sizes ? tileMemrefAtOpGetSizes(op, i) : tileMemrefAtOpGetStrides(op, i - sizes)));
  return describe(g, op, type, memory);
}

// The address of a part of memory would be that of the whole.
static bool lowerAddress(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, memrefExtractAlignedPointerAsIndexOpGetSource(op))->memory;
  MlirOperation source = tileDefiningOp(memrefExtractAlignedPointerAsIndexOpGetSource(op));
  if (!mlirOperationIsNull(source) && (memrefSubViewOpIsA(source) || memrefReinterpretCastOpIsA(source)))
    return gpuRefuse(op, "the address of a part of a memref");
  MlirValue address = gpuOp(g, LlvmOp_PtrToInt, mlirIntegerTypeGet(g->context, 64), memory->base);
  gpuRecordScalar(g, memrefExtractAlignedPointerAsIndexOpGetAlignedPointer(op),
                  gpuCast(g, address, mlirIndexTypeGet(g->context), true));
  return true;
}

bool gpuAllocMemref(Gpu *g, MlirOperation op) {
  MlirType type = tileAllocOpGetResultType(op);
  int64_t offset;
  Memory *memory = newMemory(g, tileAllocOpGetResult(op), NULL);
  return gpuPlaceAlloc(g, op, tileDenseBytes(type), &offset, &memory->base) && describe(g, op, type, memory);
}

//===--- subview ----------------------------------------------------------------------===//

static MlirValue mixed(Gpu *g, MlirOperation op, const char *statics, intptr_t d, intptr_t *next) {
  int64_t value = mlirDenseI64ArrayGetElement(tileOpAttribute(op, statics), d);
  return isDynamic(value) ? gpuScalar(g, mlirOperationGetOperand(op, (*next)++)) : tileBuildIndex(&g->builder, value);
}

// A subview of lower rank leaves out dimensions of size 1. Which of them does not matter: their strides lead nowhere.
static void leaveOut(Memory *memory, MlirOperation op) {
  MlirType type = memrefSubViewOpGetResultType(op);
  intptr_t rank = mlirShapedTypeGetRank(type), kept = 0;
  for (intptr_t d = 0; d < memory->rank; ++d) {
    bool isOne = mlirDenseI64ArrayGetElement(memrefSubViewOpGetStaticSizes(op), d) == 1;
    if (isOne && (kept == rank || mlirShapedTypeGetDimSize(type, kept) != 1))
      continue;
    memory->sizes[kept] = memory->sizes[d];
    memory->strides[kept++] = memory->strides[d];
  }
  memory->rank = rank;
}

static bool lowerSubview(Gpu *g, MlirOperation op) {
  const Memory *source = gpuRecord(g, memrefSubViewOpGetSource(op))->memory;
  Memory *memory = newMemory(g, memrefSubViewOpGetResult(op), source);
  memory->rank = source->rank;
  MlirValue begin[MaxRank];
  intptr_t next = memrefSubViewOpGetOffsetsBegin(op);
  for (intptr_t d = 0; d < memory->rank; ++d)
    begin[d] = mixed(g, op, "static_offsets", d, &next);
  for (intptr_t d = 0; d < memory->rank; ++d)
    memory->sizes[d] = mixed(g, op, "static_sizes", d, &next);
  for (intptr_t d = 0; d < memory->rank; ++d)
    memory->strides[d] = tileBuildMul(&g->builder, source->strides[d], mixed(g, op, "static_strides", d, &next));
  memory->base = gpuElementAt(g, source->base, gpuOffset(g, source, source->rank, NULL, begin), memory->element);
  leaveOut(memory, op);
  return true;
}

// Sizes and strides as they are given, from an offset on.
static bool lowerReinterpretCast(Gpu *g, MlirOperation op) {
  const Memory *source = gpuRecord(g, memrefReinterpretCastOpGetSource(op))->memory;
  MlirValue result = memrefReinterpretCastOpGetResult(op);
  intptr_t next = memrefReinterpretCastOpGetOffsetsBegin(op);
  if (mlirShapedTypeGetRank(mlirValueGetType(result)) > MaxRank)
    return gpuRefuse(op, "a memref of more than 8 dimensions");
  Memory *memory = newMemory(g, result, source);
  MlirValue offset = mixed(g, op, "static_offsets", 0, &next);
  for (intptr_t d = 0; d < memory->rank; ++d)
    memory->sizes[d] = mixed(g, op, "static_sizes", d, &next);
  for (intptr_t d = 0; d < memory->rank; ++d)
    memory->strides[d] = mixed(g, op, "static_strides", d, &next);
  memory->base = gpuElementAt(g, source->base, offset, memory->element);
  return true;
}

//===--- views --------------------------------------------------------------------------===//

// Fixed dimensions go into the address; the others become axes in the type's order.
static void fixDimensions(Gpu *g, MlirOperation op, const Memory *source, View *view) {
  MlirValue offset = tileBuildIndex(&g->builder, 0);
  MlirAttribute all = tileViewOpGetFixed(op);
  intptr_t kept[MaxRank], rank = 0, fixed = 0, count = mlirDenseArrayGetNumElements(all);
  for (intptr_t d = 0; d < source->rank; ++d) {
    if (fixed == count || mlirDenseI64ArrayGetElement(all, fixed) != d) {
      kept[rank++] = d;
      continue;
    }
    MlirValue index = gpuScalar(g, tileViewOpGetIndices(op, fixed++));
    view->inside = gpuBoth(g, view->inside, gpuCompare(g, ArithCmpI_Ult, index, source->sizes[d]));
    offset = tileBuildAdd(&g->builder, offset, tileBuildMul(&g->builder, index, source->strides[d]));
    view->memory.facts.align =
        tessera_gcd(view->memory.facts.align, source->facts.stride[d] * tileStoredBytes(source->element));
  }
  view->memory.base = gpuElementAt(g, source->base, offset, source->element);
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

//===--- parts of buffers -----------------------------------------------------------------===//

// The last element lies where the strides say: then no other element breaks the sum of axes.
static bool isSumOfAxes(const TileLayout *layout, const int64_t *strides, intptr_t rank) {
  int64_t last = 0;
  for (intptr_t axis = 0; axis < rank; ++axis)
    last += ((int64_t)tileLayoutExtent(layout, (uint32_t)axis) - 1) * strides[axis];
  return last + 1 == (int64_t)tileLayoutPaddedSize(layout);
}

// The memory that a buffer is, or a part of one.
static bool memoryOfBuffer(Gpu *g, MlirOperation op, MlirValue buffer, Memory *memory) {
  const Record *record = gpuRecord(g, buffer);
  int64_t strides[MaxRank];
  bool isStrided = true;
  if (record->kind == Record_View) {
    *memory = record->view->memory;
    return true;
  }
  const Buffer *whole = record->buffer;
  *memory =
      (Memory){.base = whole->base, .rank = tileTypeGetRank(whole->type), .element = tileTypeGetElement(whole->type)};
  memory->facts = (TileKnownMemory){.rank = memory->rank, .align = whole->align};
  memory->facts.elementBytes = tileStoredBytes(memory->element);
  for (intptr_t axis = 0; axis < memory->rank; ++axis) {
    memory->facts.stride[axis] = strides[axis] = tileLayoutStrideAlong(&whole->layout, (uint32_t)axis);
    memory->strides[axis] = tileBuildIndex(&g->builder, strides[axis]);
    isStrided &= strides[axis] > 0;
  }
  return (isStrided && isSumOfAxes(&whole->layout, strides, memory->rank)) ||
         gpuRefuse(op, "a slice of a buffer whose elements do not lie at equal strides along each axis");
}

bool gpuSliceBuffer(Gpu *g, MlirOperation op) {
  MlirType type = tileSliceOpGetResultType(op);
  Memory memory;
  if (!memoryOfBuffer(g, op, tileSliceOpGetInput(op), &memory))
    return false;
  int64_t sizes[MaxRank], ones[MaxRank], bytes = tileStoredBytes(memory.element);
  MlirValue offset = tileBuildIndex(&g->builder, 0);
  for (intptr_t axis = 0, next = tileSliceOpGetOffsetsBegin(op); axis < memory.rank; ++axis) {
    int64_t at = mlirDenseI64ArrayGetElement(tileSliceOpGetStaticOffsets(op), axis);
    int64_t multiple = isDynamic(at) ? tileIndexFacts(mlirOperationGetOperand(op, next)).multiple : at;
    MlirValue begin =
        isDynamic(at) ? gpuScalar(g, mlirOperationGetOperand(op, next++)) : tileBuildIndex(&g->builder, at);
    offset = tileBuildAdd(&g->builder, offset, tileBuildMul(&g->builder, begin, memory.strides[axis]));
    memory.facts.align = tessera_gcd(memory.facts.align, multiple * memory.facts.stride[axis] * bytes);
    sizes[axis] = memory.facts.size[axis] = tileTypeGetSize(type, axis);
    memory.sizes[axis] = tileBuildIndex(&g->builder, sizes[axis]);
    ones[axis] = 1;
  }
  memory.base = gpuElementAt(g, memory.base, offset, memory.element);
  const TileViewSpec spec = {.rank = memory.rank, .shape = sizes, .element = memory.element, .steps = ones};
  View *view = gpuRecordNew(g, tileSliceOpGetResult(op), Record_View)->view = gpuAllocate(g, sizeof *view);
  *view = (View){.memory = memory, .type = tileViewTypeGet(g->context, &spec)};
  for (intptr_t axis = 0; axis < memory.rank; ++axis)
    view->dims[axis] = axis;
  return true;
}

const Buffer *gpuBufferOf(Gpu *g, MlirOperation op, MlirValue operand) {
  const Buffer *buffer = gpuRecord(g, operand)->buffer;
  if (!buffer)
    gpuRefuse(op, "a slice of a buffer, whose elements lie apart, where the op needs a whole one");
  return buffer;
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
  int64_t known;
  // A size is not negative: rounding up needs no signs.
  bool isShift = step >= span && tessera_is_power_of_two(step) && !tileConstantIndex(more, &known);
  MlirValue count = isShift ? gpuShiftRight(g, tileBuildAdd(builder, more, tileBuildIndex(builder, step - 1)),
                                            tessera_log2((uint64_t)step))
                            : tileBuildCeilDiv(builder, more, tileBuildIndex(builder, step));
  if (step != span)
    count = tileBuildMax(builder, count, tileBuildMin(builder, size, tileBuildIndex(builder, 1)));
  gpuRecordScalar(g, tileNumTilesOpGetResult(op), count);
  return true;
}

//===--- single elements ------------------------------------------------------------------===//

MlirValue gpuElementAddress(Gpu *g, const Memory *memory, MlirOperation op, intptr_t firstIndex) {
  MlirValue positions[MaxRank];
  for (intptr_t d = 0; d < memory->rank; ++d)
    positions[d] = gpuScalar(g, mlirOperationGetOperand(op, firstIndex + d));
  return gpuElementAt(g, memory->base, gpuOffset(g, memory, memory->rank, NULL, positions), memory->element);
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
  GpuIf branch = gpuIf(g, gpuIsElected(g), 0, NULL);
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
const GpuRow gpuMemrefRows[] = {{MemrefOp_Cast, lowerCast},
                                {MemrefOp_Dim, lowerDim},
                                {MemrefOp_SubView, lowerSubview},
                                {MemrefOp_Load, lowerScalarLoad},
                                {MemrefOp_Store, lowerScalarStore},
                                {MemrefOp_ReinterpretCast, lowerReinterpretCast},
                                {MemrefOp_ExtractAlignedPointerAsIndex, lowerAddress},
                                {.lower = NULL}};
