// Accesses: a tensor in memory cut into tiles is a partition_view or, from version 13.3 on, a strided_view. All other
// accesses take pointers. None has a token yet.
#include "lib/conversion/tile_to_cuda_tile/cuda_tile_export.h"

static MlirType tokenType(ExportKernel *k) { return cudaTileTokenTypeGet(k->b.context); }
static const MlirValue none = {NULL};

//===--- views ----------------------------------------------------------------------------===//

static int64_t open(const ExportSize *size) { return size->isKnown ? size->number : mlirShapedTypeGetDynamicSize(); }

static intptr_t valuesOf(const ExportSize *sizes, intptr_t rank, MlirValue *values) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < rank; ++i)
    if (!sizes[i].isKnown)
      values[count++] = sizes[i].value;
  return count;
}

static MlirValue makeTensor(ExportKernel *k, const ExportMemory *memory) {
  int64_t sizes[ExportMaxRank], strides[ExportMaxRank];
  MlirValue openSizes[ExportMaxRank], openStrides[ExportMaxRank];
  for (intptr_t i = 0; i < memory->rank; ++i) {
    sizes[i] = open(&memory->sizes[i]);
    strides[i] = open(&memory->strides[i]);
  }
  intptr_t numSizes = valuesOf(memory->sizes, memory->rank, openSizes);
  intptr_t numStrides = valuesOf(memory->strides, memory->rank, openStrides);
  MlirType element = cudaTilePointerTypeGetPointee(exportElement(mlirValueGetType(memory->base)));
  return cudaTileMakeTensorViewOpBuild(&k->b, cudaTileTensorViewTypeGet(element, memory->rank, sizes, strides),
                                       memory->base, numSizes, openSizes, numStrides, openStrides);
}

// What a partition_view or strided_view says of the type; false: pointers have to.
static bool specOf(const ExportKernel *k, const ExportMemory *memory, MlirType type, CudaTileViewSpec *spec) {
  *spec = (CudaTileViewSpec){.rank = memory->rank, .sparse = -1, .padding = cudaTilePaddingNames[exportPadOf(type)]};
  bool ok = memory->rank > 0, isPartition = true;
  for (intptr_t i = 0; ok && i < memory->rank; ++i) {
    spec->tile[i] = tileViewTypeGetSize(type, i);
    spec->steps[i] = tileViewTypeGetStep(type, i);
    spec->map[i] = memory->axes[i];
    ok = tileViewTypeGetStride(type, i) == 1 && !(spec->tile[i] & (spec->tile[i] - 1)) && spec->steps[i] > 0;
    isPartition &= spec->steps[i] == spec->tile[i];
  }
  spec->kind = isPartition ? CudaTileView_Partition : CudaTileView_Strided;
  return ok && (isPartition || k->version >= 3);
}

MlirValue cudaTileCut(ExportKernel *k, const ExportMemory *memory, MlirType type) {
  CudaTileViewSpec spec;
  if (!specOf(k, memory, type, &spec))
    return (MlirValue){NULL};
  MlirValue tensor = makeTensor(k, memory);
  spec.tensor = mlirValueGetType(tensor);
  return spec.kind == CudaTileView_Partition
             ? cudaTileMakePartitionViewOpBuild(&k->b, cudaTileViewTypeGet(&spec), tensor)
             : cudaTileMakeStridedViewOpBuild(&k->b, cudaTileViewTypeGet(&spec), tensor);
}

MlirValue cudaTileLoadView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirType tile,
                           MlirValue *indices) {
  MlirOperation made = cudaTileLoadViewTkoOpBuild(&k->b, tile, tokenType(k), memory->view, memory->rank, indices, none,
                                                  exportWord(k, "weak"));
  return cudaTileLoadViewTkoOpGetTile(made);
}

void cudaTileStoreView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue value,
                       MlirValue *indices) {
  cudaTileStoreViewTkoOpBuild(&k->b, tokenType(k), value, memory->view, memory->rank, indices, none,
                              exportWord(k, "weak"));
}

//===--- pointers -------------------------------------------------------------------------===//

MlirValue cudaTileLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other) {
  MlirOperation made = cudaTileLoadPtrTkoOpBuild(&k->b, tile, tokenType(k), places->pointers, places->inside, other,
                                                 none, exportWord(k, "weak"));
  return cudaTileLoadPtrTkoOpGetResult(made);
}

void cudaTileStore(ExportKernel *k, const ExportPlaces *places, MlirValue value) {
  cudaTileStorePtrTkoOpBuild(&k->b, tokenType(k), places->pointers, value, places->inside, none, exportWord(k, "weak"));
}

//===--- atomics --------------------------------------------------------------------------===//

static MlirAttribute orderOf(ExportKernel *k, ExportOrder order) { // tile and cuda_tile have the same words
  return mlirAttributeIsNull(order.order) ? exportWord(k, "relaxed") : order.order;
}

static MlirAttribute scopeOf(ExportKernel *k, ExportOrder order) {
  return exportWord(k, exportIs(order.scope, "block") ? "tl_blk" : exportIs(order.scope, "system") ? "sys" : "device");
}

MlirValue cudaTileAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value,
                         MlirAttribute mode, ExportOrder order) {
  MlirType type = mlirValueGetType(value), element = mlirShapedTypeGetElementType(type);
  bool isFloat = mlirTypeIsAFloat(element), adds = exportIs(mode, "add") || exportIs(mode, "fadd");
  if (isFloat && !adds && !exportIs(mode, "xchg")) {
    tileError(op, "combines floats by %s, which CUDA Tile IR does not have",
              tileAttributeText(mode, (char[32]){0}, 32));
    return (MlirValue){NULL};
  }
  if (tileElementWidth(element) < (isFloat ? 16 : 32)) {
    tileError(op, "combines elements of type %s, expected 32 or 64 bits", tileTypeText(element, (char[32]){0}, 32));
    return (MlirValue){NULL};
  }
  MlirAttribute word = adds ? exportWord(k, isFloat ? "addf" : "add") : mode;
  MlirOperation made =
      cudaTileAtomicRMWTkoOpBuild(&k->b, type, cudaTileTokenTypeGet(k->b.context), places->pointers, value,
                                  places->inside, (MlirValue){NULL}, orderOf(k, order), scopeOf(k, order), word);
  return cudaTileAtomicRMWTkoOpGetResult(made);
}

MlirValue cudaTileSwap(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue expected,
                       MlirValue value, ExportOrder order) {
  MlirOperation made =
      cudaTileAtomicCASTkoOpBuild(&k->b, mlirValueGetType(value), tokenType(k), places->pointers, expected, value,
                                  places->inside, none, orderOf(k, order), scopeOf(k, order));
  return cudaTileAtomicCASTkoOpGetResult(made);
}

MlirValue cudaTileAtomicLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, ExportOrder order) {
  MlirOperation made = cudaTileLoadPtrTkoOpCreate(&k->b, tile, tokenType(k), places->pointers, none, none, none,
                                                  orderOf(k, order), scopeOf(k, order), mlirAttributeGetNull());
  return cudaTileLoadPtrTkoOpGetResult(made);
}

void cudaTileAtomicStore(ExportKernel *k, const ExportPlaces *places, MlirValue value, ExportOrder order) {
  cudaTileStorePtrTkoOpCreate(&k->b, tokenType(k), places->pointers, value, none, none, orderOf(k, order),
                              scopeOf(k, order), mlirAttributeGetNull());
}
