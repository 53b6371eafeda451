// The table from values of the kernel to their records, shapes of tiles, and buffers of the function.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/tile.h"
#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>
#include <string.h>

//===--- the table ----------------------------------------------------------------===//

bool vecReadSchedule(VecLowering *lowering) {
  MlirAttribute schedule = tileKernelOpGetSchedule(lowering->kernel), tile = {NULL};
  // A kernel of a kind was built by convert-linalg-to-tile with its register tile in its body.
  if (!mlirAttributeIsNull(schedule) && mlirAttributeIsNull(tileScheduleAttrGetEntry(schedule, "kind")))
    tile = tileScheduleAttrGetEntry(schedule, "register");
  if (mlirAttributeIsNull(tile) || mlirDenseArrayGetNumElements(tile) != 2)
    return true;
  VecWidths *widths = &lowering->widths;
  widths->rows = mlirDenseI64ArrayGetElement(tile, 0);
  widths->columns = mlirDenseI64ArrayGetElement(tile, 1);
  if (widths->columns % widths->lanes == 0 && widths->rows * widths->columns / widths->lanes <= MaxRegisters)
    return true;
  return tileError(lowering->kernel,
                   "schedule: `register` is [%d, %d]; a kernel for the CPU accepts columns that are a multiple of %d, "
                   "and at most %d vectors in all",
                   (int)widths->rows, (int)widths->columns, (int)widths->lanes, MaxRegisters);
}

VecLowering vecLoweringCreate(MlirOperation kernel, const VecWidths *widths) {
  return (VecLowering){.context = mlirOperationGetContext(kernel), .kernel = kernel, .widths = *widths};
}

void vecLoweringDestroy(VecLowering *lowering) {
  for (intptr_t i = 0; i < lowering->inlined.count; ++i)
    mlirOperationDestroy(lowering->inlined.items[i]);
  tileOpsFree(&lowering->inlined);
  tileTableFree(&lowering->records);
  tileArenaFree(&lowering->arena);
}

void *vecLoweringAllocate(VecLowering *lowering, size_t bytes) { return tileArenaAllocate(&lowering->arena, bytes); }

VecRecord *vecRecordOf(VecLowering *lowering, MlirValue source) {
  return tileTableFind(&lowering->records, source.ptr);
}

void vecRecordAlias(VecLowering *lowering, MlirValue source, VecRecord *record) {
  tileTableSet(&lowering->records, source.ptr, record);
}

VecRecord *vecRecordNew(VecLowering *lowering, MlirValue source, VecRecordKind kind) {
  VecRecord *record = vecLoweringAllocate(lowering, sizeof *record);
  *record = (VecRecord){.kind = kind, .source = source};
  if (vecIsTile(mlirValueGetType(source)))
    record->shape = vecShapeOf(mlirValueGetType(source));
  vecRecordAlias(lowering, source, record);
  return record;
}

VecRecord *vecRecordScalar(VecLowering *lowering, MlirValue source, MlirValue value) {
  VecRecord *record = vecRecordNew(lowering, source, VecRecord_Scalar);
  record->value = value;
  return record;
}

VecRecord *vecRecordMemory(VecLowering *lowering, MlirValue source, VecAccess *access) {
  VecRecord *record = vecRecordNew(lowering, source, VecRecord_Memory);
  record->access = access;
  return record;
}

MlirValue vecScalarOf(VecLowering *lowering, MlirValue source) {
  VecRecord *record = vecRecordOf(lowering, source);
  return record && record->kind == VecRecord_Scalar ? record->value : (MlirValue){NULL};
}

//===--- shapes --------------------------------------------------------------------===//

bool vecIsTile(MlirType type) { return mlirTypeIsARankedTensor(type); }

VecShape vecShapeOf(MlirType tile) {
  VecShape shape = {.rank = mlirShapedTypeGetRank(tile), .element = mlirShapedTypeGetElementType(tile)};
  for (intptr_t d = 0; d < shape.rank && d < MaxRank; ++d)
    shape.sizes[d] = mlirShapedTypeGetDimSize(tile, d);
  return shape;
}

int64_t vecShapeCount(const VecShape *shape) {
  int64_t count = 1;
  for (intptr_t d = 0; d < shape->rank; ++d)
    count *= shape->sizes[d];
  return count;
}

int64_t vecShapeLast(const VecShape *shape) { return shape->rank ? shape->sizes[shape->rank - 1] : 1; }

int64_t vecShapeRows(const VecShape *shape) {
  int64_t rows = 1;
  for (intptr_t d = 0; d + 1 < shape->rank; ++d)
    rows *= shape->sizes[d];
  return rows;
}

int64_t vecBitsOf(MlirType element) { return mlirIntegerTypeGetWidth(tileBitsType(element)); }

int64_t vecBytesOf(MlirType element) {
  int64_t bytes = 1;
  while (bytes * 8 < vecBitsOf(element))
    bytes *= 2;
  return bytes;
}

bool vecIsOddlyWide(MlirType element) { return vecBitsOf(element) != vecBytesOf(element) * 8; }

MlirType vecVectorOf(MlirType element, int64_t width) {
  return width ? mlirVectorTypeGet(1, &width, element) : element;
}

int64_t vecNumRegisters(const VecLowering *lowering, const VecShape *shape) {
  return vecShapeRows(shape) * ((vecShapeLast(shape) + lowering->widths.lanes - 1) / lowering->widths.lanes);
}

bool vecFitsRegisters(const VecLowering *lowering, const VecShape *shape) {
  return vecShapeCount(shape) > 0 && vecNumRegisters(lowering, shape) <= MaxRegisters;
}

//===--- buffers --------------------------------------------------------------------===//

static MlirValue allocateLocal(VecLowering *lowering, MlirType type, int64_t bytes) {
  TileBuilder *entry = &lowering->entry;
  MlirType word = mlirIntegerTypeGet(lowering->context, 64), address = mlirLLVMPointerTypeGet(lowering->context, 0);
  MlirValue size = tileBuildInteger(entry, word, bytes);
  MlirOperation allocation = vecCallFunction(lowering, entry, "tessera_local_alloc", 1, &size, address);
  MlirValue pointer = tileOnlyResult(allocation), sizes[MaxRank], steps[MaxRank];
  MlirOperation release =
      vecCallFunction(lowering, &lowering->exit, "tessera_local_free", 1, &pointer, (MlirType){NULL});
  lowering->exit = tileBuilderBefore(release); // the next one is freed earlier: reverse order
  int64_t offset, strides[MaxRank];
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    sizes[d] = tileBuildInteger(entry, word, mlirShapedTypeGetDimSize(type, d));
    steps[d] = tileBuildInteger(entry, word, strides[d]);
  }
  return vecMemrefOfPointer(entry, type, pointer, sizes, steps);
}

// memref.alloca takes dense memrefs only.
static MlirValue withLayout(TileBuilder *builder, MlirValue dense, MlirType type) {
  int64_t offset, strides[MaxRank], sizes[MaxRank];
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirContext context = builder->context;
  return memrefReinterpretCastOpBuild(
      builder, type, dense, 0, NULL, 0, NULL, 0, NULL, mlirDenseI64ArrayGet(context, 1, &offset),
      mlirDenseI64ArrayGet(context, rank, sizes), mlirDenseI64ArrayGet(context, rank, strides));
}

MlirValue vecMemrefNew(VecLowering *lowering, MlirType type, int64_t bytes) {
  if (lowering->stackBytes + bytes > LocalStackBytes)
    return allocateLocal(lowering, type, bytes);
  lowering->stackBytes += bytes;
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t count = bytes / vecBytesOf(element);
  MlirType dense = mlirMemRefTypeContiguousGet(element, 1, &count, mlirAttributeGetNull());
  MlirAttribute alignment = tileBuildEnum(&lowering->entry, 64, LineBytes);
  MlirOperation buffer = memrefAllocaOpCreate(&lowering->entry, dense, 0, NULL, 0, NULL, alignment);
  MlirValue memory = memrefAllocaOpGetMemref(buffer);
  return mlirTypeEqual(dense, type) ? memory : withLayout(&lowering->entry, memory, type);
}

MlirType vecStorageOf(MlirType element) {
  unsigned bits = (unsigned)vecBytesOf(element) * 8;
  return vecIsOddlyWide(element) ? mlirIntegerTypeGet(mlirTypeGetContext(element), bits) : element;
}

VecAccess *vecDenseAccess(VecLowering *lowering, const VecShape *shape, MlirValue memref, MlirType storage) {
  VecAccess *access = vecLoweringAllocate(lowering, sizeof *access);
  *access = (VecAccess){.shape = *shape, .memref = memref, .memrefRank = shape->rank, .storage = storage};
  int64_t stride = 1;
  for (intptr_t d = shape->rank - 1; d >= 0; --d) {
    access->strides[d] = stride;
    stride *= shape->sizes[d];
    access->dims[d] = (VecAccessDim){.stride = 1, .numDigits = 1, .digits = {{.divisor = 1, .memrefDim = d}}};
  }
  return access;
}

VecAccess *vecBufferNew(VecLowering *lowering, const VecShape *shape) {
  MlirType storage = vecStorageOf(shape->element);
  MlirType type = mlirMemRefTypeContiguousGet(storage, shape->rank, shape->sizes, mlirAttributeGetNull());
  MlirValue memref = vecMemrefNew(lowering, type, vecShapeCount(shape) * vecBytesOf(storage));
  return vecDenseAccess(lowering, shape, memref, storage);
}
