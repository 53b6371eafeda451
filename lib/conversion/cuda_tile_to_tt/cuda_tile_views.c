// Views: a tensor in memory is a pointer with sizes and strides, and its tiles are blocks of a descriptor. Descriptors
// pad by zero or nan and count in i32. Any other access is one through pointers, with a mask where it leaves the
// tensor.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"

//===--- tensors ------------------------------------------------------------------------===//

MlirValue cudaTileWiden(CudaTileKernel *k, MlirValue integer, unsigned bits) {
  MlirType type = mlirValueGetType(integer), element = mlirIntegerTypeGet(k->b.context, bits);
  unsigned from = tileElementWidth(cudaTileElement(type));
  if (from == bits)
    return integer;
  return tileBuildCast(&k->b, from < bits ? ArithOp_ExtSI : ArithOp_TruncI, integer, cudaTileShaped(type, element));
}

static MlirValue number(CudaTileKernel *k, int64_t value, unsigned bits) {
  return tileBuildInteger(&k->b, mlirIntegerTypeGet(k->b.context, bits), value);
}

static bool makeTensor(CudaTileKernel *k, MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  CudaTileTensor *tensor = tileArenaAllocate(&k->arena, sizeof *tensor);
  tensor->base = cudaTileGet(k, cudaTileMakeTensorViewOpGetBase(op));
  tensor->rank = cudaTileTensorViewTypeGetRank(type);
  intptr_t size = 0, stride = 0;
  int64_t open = mlirShapedTypeGetDynamicSize();
  if (mlirValueIsNull(tensor->base))
    return false;
  for (intptr_t i = 0; i < cudaTileMakeTensorViewOpGetNumDynamicShape(op); ++i)
    tensor->isWide |=
        tileElementWidth(cudaTileElement(mlirValueGetType(cudaTileMakeTensorViewOpGetDynamicShape(op, i)))) > 32;
  for (intptr_t i = 0; i < tensor->rank; ++i)
    tensor->isWide |= cudaTileTensorViewTypeGetSize(type, i) > INT32_MAX;
  for (intptr_t i = 0; i < tensor->rank; ++i) {
    int64_t known = cudaTileTensorViewTypeGetSize(type, i), step = cudaTileTensorViewTypeGetStride(type, i);
    unsigned bits = tensor->isWide ? 64 : 32;
    MlirValue given =
        known == open ? cudaTileGet(k, cudaTileMakeTensorViewOpGetDynamicShape(op, size++)) : number(k, known, bits);
    MlirValue by =
        step == open ? cudaTileGet(k, cudaTileMakeTensorViewOpGetDynamicStrides(op, stride++)) : number(k, step, 64);
    if (mlirValueIsNull(given) || mlirValueIsNull(by))
      return false;
    tensor->sizes[i] = cudaTileWiden(k, given, bits);
    tensor->strides[i] = cudaTileWiden(k, by, 64);
  }
  tileTableSet(&k->tensors, tileOnlyResult(op).ptr, tensor);
  return true;
}

// A view is its tensor; its type says the rest.
static bool makeView(CudaTileKernel *k, MlirOperation op) {
  const CudaTileTensor *tensor = cudaTileGetTensor(k, tileOnlyOperand(op));
  tileTableSet(&k->tensors, tileOnlyResult(op).ptr, (void *)tensor);
  return tensor != NULL;
}

static bool setSize(CudaTileKernel *k, MlirOperation op, intptr_t i, MlirValue value) {
  unsigned bits = tileElementWidth(cudaTileElement(tileResultType(op, i)));
  cudaTileSet(k, mlirOperationGetResult(op, i), cudaTileWiden(k, value, bits));
  return true;
}

static bool sizes(CudaTileKernel *k, MlirOperation op, const CudaTileViewSpec *view) {
  const CudaTileTensor *tensor = cudaTileGetTensor(k, tileOnlyOperand(op));
  if (!tensor)
    return false;
  if (mlirOperationGetNumResults(op) != tensor->rank)
    return tileError(op, "has %ld results, expected %ld", (long)mlirOperationGetNumResults(op), (long)tensor->rank);
  for (intptr_t i = 0; i < tensor->rank; ++i) {
    MlirValue value = tensor->sizes[view ? view->map[i] : i];
    if (view)
      value =
          cudaTileRoundQuotient(k, value, tileBuildInteger(&k->b, mlirValueGetType(value), view->steps[i]), true, true);
    setSize(k, op, i, value);
  }
  return true;
}

//===--- accesses -------------------------------------------------------------------------===//

typedef struct Access {
  const CudaTileTensor *tensor;
  CudaTileViewSpec view;
  MlirValue indices[CudaTileMaxRank];
  MlirType tile; // new
  CudaTileOrder order;
} Access;

static bool begin(CudaTileKernel *k, MlirOperation op, MlirValue view, intptr_t count,
                  MlirValue (*at)(MlirOperation op, intptr_t i), MlirType tile, CudaTileOrder order, Access *access) {
  access->view = cudaTileViewTypeGetSpec(mlirValueGetType(view));
  access->tensor = cudaTileGetTensor(k, view);
  access->tile = cudaTileConvertType(tile);
  access->order = order;
  MlirExtShape shape;
  if (!access->tensor)
    return false;
  bool ok = mlirExtTypeGetShape(tile, &shape) && shape.rank == access->view.rank && count == access->view.rank;
  for (intptr_t i = 0; ok && i < shape.rank; ++i)
    ok = shape.sizes[i] == access->view.tile[i];
  if (!ok)
    return tileError(op, "accesses %s of a view of %ld dimensions by %ld indices, expected a tile of the view",
                     tileTypeText(tile, (char[64]){0}, 64), (long)access->view.rank, (long)count);
  return cudaTileGetAll(k, count, at, op, access->indices);
}

static bool isDescriptor(const CudaTileKernel *k, const Access *access) {
  const char *padding = access->view.padding;
  bool pads = !padding || strcmp(padding, "zero") == 0 || strcmp(padding, "nan") == 0;
  return pads && !k->usesPointers && access->order.isWeak && access->view.kind != CudaTileView_GatherScatter &&
         !access->tensor->isWide && access->view.rank > 0 && access->view.rank <= TtMaxRank;
}

// The descriptor, its dimensions in the order of the tile's, and where the tile begins.
static MlirValue describe(CudaTileKernel *k, Access *access) {
  MlirValue sizes[CudaTileMaxRank], strides[CudaTileMaxRank];
  const CudaTileViewSpec *view = &access->view;
  for (intptr_t i = 0; i < view->rank; ++i) {
    sizes[i] = access->tensor->sizes[view->map[i]];
    strides[i] = access->tensor->strides[view->map[i]];
    MlirValue index = cudaTileWiden(k, access->indices[i], 32);
    access->indices[i] = tileBuildBinary(&k->b, ArithOp_MulI, index, number(k, view->steps[i], 32));
  }
  bool isNan = view->padding && strcmp(view->padding, "nan") == 0;
  MlirOperation made =
      ttMakeTensorDescOpCreate(&k->b, ttDescriptorTypeGet(access->tile), access->tensor->base, view->rank, sizes,
                               view->rank, strides, isNan ? cudaTileI32(k, TtPadding_Nan) : mlirAttributeGetNull());
  return tileOnlyResult(made);
}

// Places along dimension `i`, one for each element of the tile. A gather_scatter_view counts elements instead of tiles,
// and has a tile of places in one of its dimensions.
static MlirValue placesOf(CudaTileKernel *k, const Access *access, intptr_t i) {
  const CudaTileViewSpec *view = &access->view;
  bool isGather = view->kind == CudaTileView_GatherScatter;
  MlirValue index = cudaTileWiden(k, access->indices[i], 64);
  if (isGather && view->sparse == i)
    return cudaTileAlong(k, index, view->rank, view->tile, i);
  MlirValue first = isGather ? index : tileBuildBinary(&k->b, ArithOp_MulI, index, number(k, view->steps[i], 64));
  MlirValue range = cudaTileRange(k, view->rank, view->tile, i, 64);
  return tileBuildBinary(&k->b, ArithOp_AddI, range, cudaTileSplat(k, first, mlirValueGetType(range)));
}

// Pointers to the elements of the tile, and where they lie in the tensor.
static MlirValue pointTo(CudaTileKernel *k, const Access *access, MlirValue *mask) {
  const CudaTileViewSpec *view = &access->view;
  MlirType i64 = mlirIntegerTypeGet(k->b.context, 64), wide = cudaTileShaped(access->tile, i64);
  MlirType flags = cudaTileShaped(access->tile, mlirIntegerTypeGet(k->b.context, 1));
  MlirValue offset = cudaTileSplat(k, number(k, 0, 64), wide);
  *mask = cudaTileSplat(k, number(k, 1, 1), flags);
  for (intptr_t i = 0; i < view->rank; ++i) {
    MlirValue place = placesOf(k, access, i);
    MlirValue size = cudaTileWiden(k, access->tensor->sizes[view->map[i]], 64);
    MlirValue zero = cudaTileSplat(k, number(k, 0, 64), wide);
    MlirValue inside = arithCmpIOpBuild(&k->b, place, cudaTileSplat(k, size, wide), ArithCmpI_Slt);
    *mask = tileBuildBinary(&k->b, ArithOp_AndI, *mask, inside);
    *mask = tileBuildBinary(&k->b, ArithOp_AndI, *mask, arithCmpIOpBuild(&k->b, place, zero, ArithCmpI_Sge));
    MlirValue stride = cudaTileSplat(k, access->tensor->strides[view->map[i]], wide);
    offset = tileBuildBinary(&k->b, ArithOp_AddI, offset, tileBuildBinary(&k->b, ArithOp_MulI, place, stride));
  }
  MlirType pointers = cudaTileShaped(access->tile, mlirValueGetType(access->tensor->base));
  return ttAddPtrOpBuild(&k->b, cudaTileSplat(k, access->tensor->base, pointers), offset);
}

// What a view gives outside its tensor.
static MlirValue paddingOf(CudaTileKernel *k, const Access *access) {
  static const double values[] = {0.0, -0.0, __builtin_nan(""), __builtin_inf(), -__builtin_inf()};
  MlirType element = cudaTileElement(access->tile);
  int at = 0;
  while (access->view.padding && strcmp(access->view.padding, cudaTilePaddingNames[at]) != 0)
    ++at;
  MlirValue value =
      mlirTypeIsAFloat(element) ? tileBuildFloat(&k->b, element, values[at]) : tileBuildInteger(&k->b, element, 0);
  return cudaTileSplat(k, value, access->tile);
}

static bool load(CudaTileKernel *k, MlirOperation op) {
  Access access;
  if (!begin(k, op, cudaTileLoadViewTkoOpGetView(op), cudaTileLoadViewTkoOpGetNumIndex(op),
             cudaTileLoadViewTkoOpGetIndex, cudaTileLoadViewTkoOpGetTileType(op),
             cudaTileOrderOf(k, cudaTileLoadViewTkoOpGetMemoryOrderingSemantics(op),
                             cudaTileLoadViewTkoOpGetMemoryScope(op)),
             &access))
    return false;
  MlirValue loaded, mask;
  if (isDescriptor(k, &access)) {
    MlirValue descriptor = describe(k, &access);
    loaded = ttDescriptorLoadOpBuild(&k->b, access.tile, descriptor, access.view.rank, access.indices);
  } else {
    MlirValue pointers = pointTo(k, &access, &mask);
    loaded = cudaTileRead(k, access.tile, pointers, mask, paddingOf(k, &access), access.order);
  }
  cudaTileSet(k, cudaTileLoadViewTkoOpGetTile(op), loaded);
  return true;
}

static bool store(CudaTileKernel *k, MlirOperation op) {
  Access access;
  MlirValue value = cudaTileGet(k, cudaTileStoreViewTkoOpGetTile(op)), mask;
  if (mlirValueIsNull(value) || !begin(k, op, cudaTileStoreViewTkoOpGetView(op), cudaTileStoreViewTkoOpGetNumIndex(op),
                                       cudaTileStoreViewTkoOpGetIndex, cudaTileStoreViewTkoOpGetTileType(op),
                                       cudaTileOrderOf(k, cudaTileStoreViewTkoOpGetMemoryOrderingSemantics(op),
                                                       cudaTileStoreViewTkoOpGetMemoryScope(op)),
                                       &access))
    return false;
  if (isDescriptor(k, &access)) {
    MlirValue descriptor = describe(k, &access);
    ttDescriptorStoreOpBuild(&k->b, descriptor, value, access.view.rank, access.indices);
  } else {
    MlirValue pointers = pointTo(k, &access, &mask);
    cudaTileWrite(k, pointers, value, mask, access.order);
  }
  return true;
}

static bool reduce(CudaTileKernel *k, MlirOperation op) {
  Access access;
  MlirValue value = cudaTileGet(k, cudaTileAtomicRedViewTkoOpGetValue(op)), mask;
  CudaTileOrder order = cudaTileOrderOf(k, cudaTileAtomicRedViewTkoOpGetMemoryOrderingSemantics(op),
                                        cudaTileAtomicRedViewTkoOpGetMemoryScope(op));
  if (mlirValueIsNull(value) ||
      !begin(k, op, cudaTileAtomicRedViewTkoOpGetView(op), cudaTileAtomicRedViewTkoOpGetNumIndex(op),
             cudaTileAtomicRedViewTkoOpGetIndex, cudaTileAtomicRedViewTkoOpGetValueType(op), order, &access))
    return false;
  MlirValue pointers = pointTo(k, &access, &mask);
  ttAtomicRMWOpBuild(&k->b, access.tile, pointers, value, mask,
                     cudaTileI32(k, cudaTileAtomicMode(cudaTileAtomicRedViewTkoOpGetMode(op))), order.semantic,
                     order.scope);
  return true;
}

bool cudaTileViews(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_MakeTensorView:
    return makeTensor(k, op);
  case CudaTileOp_MakePartitionView:
  case CudaTileOp_MakeStridedView:
  case CudaTileOp_MakeGatherScatterView:
    return makeView(k, op);
  case CudaTileOp_GetTensorShape:
    return sizes(k, op, NULL);
  case CudaTileOp_GetIndexSpaceShape: {
    CudaTileViewSpec view = cudaTileViewTypeGetSpec(tileOnlyOperandType(op));
    return sizes(k, op, &view);
  }
  case CudaTileOp_LoadViewTko:
    return load(k, op);
  case CudaTileOp_StoreViewTko:
    return store(k, op);
  case CudaTileOp_AtomicRedViewTko:
    return reduce(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
