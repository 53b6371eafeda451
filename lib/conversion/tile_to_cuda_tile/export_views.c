// Views: a tensor in memory cut into tiles is a partition_view or a strided_view. What those cannot say (elements apart
// from each other, combining, versions before 13.3) goes through pointers, with a mask where it leaves the tensor.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

static const double padValues[] = {0.0, -0.0, __builtin_nan(""), __builtin_inf(), -__builtin_inf()};

// Where the word stands in tilePadNames, which has the order of cudaTilePaddingNames.
static int padOf(MlirType view) {
  int at = 0;
  while (tilePadNames[at + 1] && !tileStringEquals(tileViewTypeGetPad(view), tilePadNames[at]))
    ++at;
  return at;
}

MlirValue exportPadding(ExportKernel *k, MlirType view, MlirType tile) {
  bool isFloat = mlirTypeIsAFloat(mlirShapedTypeGetElementType(tile));
  return isFloat ? exportFillFloat(k, tile, padValues[padOf(view)]) : exportFill(k, tile, 0);
}

static MlirValue add(ExportKernel *k, MlirValue a, MlirValue b) { return cudaTileAddIOpBuild(&k->b, a, b); }
static MlirValue multiply(ExportKernel *k, MlirValue a, MlirValue b) { return cudaTileMulIOpBuild(&k->b, a, b); }
static MlirValue times(ExportKernel *k, MlirValue a, int64_t number) {
  return number == 1 ? a : multiply(k, a, exportFill(k, mlirValueGetType(a), number));
}

//===--- making views -----------------------------------------------------------------------===//

static int64_t open(const ExportSize *size) { return size->isKnown ? size->number : mlirShapedTypeGetDynamicSize(); }

static intptr_t valuesOf(const ExportSize *sizes, intptr_t rank, MlirValue *values) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < rank; ++i)
    if (!sizes[i].isKnown)
      values[count++] = sizes[i].value;
  return count;
}

static MlirValue makeTensor(ExportKernel *k, const ExportMemory *memory) {
  int64_t sizes[CudaTileMaxRank], strides[CudaTileMaxRank];
  MlirValue openSizes[CudaTileMaxRank], openStrides[CudaTileMaxRank];
  for (intptr_t i = 0; i < memory->rank; ++i) {
    sizes[i] = open(&memory->sizes[i]);
    strides[i] = open(&memory->strides[i]);
  }
  intptr_t numSizes = valuesOf(memory->sizes, memory->rank, openSizes);
  intptr_t numStrides = valuesOf(memory->strides, memory->rank, openStrides);
  MlirType element = cudaTilePointerTypeGetPointee(mlirShapedTypeGetElementType(mlirValueGetType(memory->base)));
  return cudaTileMakeTensorViewOpBuild(&k->b, cudaTileTensorViewTypeGet(element, memory->rank, sizes, strides),
                                       memory->base, numSizes, openSizes, numStrides, openStrides);
}

// What a partition_view or strided_view says of the type; false: pointers have to.
static bool specOf(const ExportKernel *k, const ExportMemory *memory, MlirType type, CudaTileViewSpec *spec) {
  *spec = (CudaTileViewSpec){.rank = memory->rank, .sparse = -1, .padding = cudaTilePaddingNames[padOf(type)]};
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

static void cut(ExportKernel *k, ExportMemory *memory, MlirType type) {
  CudaTileViewSpec spec;
  if (!specOf(k, memory, type, &spec))
    return;
  MlirValue tensor = makeTensor(k, memory);
  spec.tensor = mlirValueGetType(tensor);
  memory->view = spec.kind == CudaTileView_Partition
                     ? cudaTileMakePartitionViewOpBuild(&k->b, cudaTileViewTypeGet(&spec), tensor)
                     : cudaTileMakeStridedViewOpBuild(&k->b, cudaTileViewTypeGet(&spec), tensor);
}

// Fixed dimensions move the base; the others become the view's axes.
static bool makeView(ExportKernel *k, MlirOperation op) {
  ExportMemory *source = exportMemory(k, tileViewOpGetSource(op));
  MlirType type = tileViewOpGetResultType(op);
  MlirAttribute fixed = tileViewOpGetFixed(op);
  intptr_t count = 0, next = 0;
  if (!source)
    return false;
  if (!mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return tileError(op, "views packed elements, which has no conversion to cuda_tile");
  ExportMemory *view = exportNewMemory(k, tileViewOpGetResult(op));
  *view = (ExportMemory){.base = source->base};
  for (intptr_t i = 0; i < source->rank; ++i) {
    if (next == mlirDenseArrayGetNumElements(fixed) || mlirDenseI64ArrayGetElement(fixed, next) != i) {
      view->sizes[count] = source->sizes[i];
      view->strides[count++] = source->strides[i];
      continue;
    }
    MlirValue index = exportGet(k, tileViewOpGetIndices(op, next++));
    if (mlirValueIsNull(index))
      return false;
    MlirValue by = multiply(k, index, exportSizeValue(k, &source->strides[i])); // strides are always known
    view->base = cudaTileOffsetOpBuild(&k->b, view->base, by);
  }
  view->rank = count;
  for (intptr_t i = 0; i < count; ++i)
    if (!view->sizes[i].isKnown && mlirValueIsNull(view->sizes[i].value))
      return tileError(op, "views memory of which only a pointer is known");
  if (count != tileViewTypeGetRank(type))
    return tileError(op, "keeps %ld dimensions, expected %ld", (long)count, (long)tileViewTypeGetRank(type));
  for (intptr_t i = 0; i < count; ++i)
    view->axes[i] = tileViewTypeGetOrder(type, i);
  cut(k, view, type);
  return true;
}

//===--- places -----------------------------------------------------------------------------===//

MlirValue exportBoth(ExportKernel *k, MlirValue mask, MlirValue other) {
  return mlirValueIsNull(mask) ? other : mlirValueIsNull(other) ? mask : cudaTileAndIOpBuild(&k->b, mask, other);
}

static MlirValue isInside(ExportKernel *k, MlirValue place, MlirValue size) {
  MlirType type = mlirValueGetType(place);
  MlirValue below =
      cudaTileCmpIOpBuild(&k->b, place, exportSplat(k, size, type), exportWord(k, "less_than"), exportSign(k, true));
  return cudaTileAndIOpBuild(&k->b, below,
                             cudaTileCmpIOpBuild(&k->b, place, exportFill(k, type, 0),
                                                 exportWord(k, "greater_than_or_equal"), exportSign(k, true)));
}

// The element numbers along axis `i` of tile `index`, in a tile of these sizes; of a scalar one number.
static MlirValue numbersAlong(ExportKernel *k, MlirType view, MlirValue index, intptr_t rank, const int64_t *sizes,
                              intptr_t i) {
  MlirType wide = exportSized(rank, sizes, exportInteger(k, 64));
  if (exportRank(mlirValueGetType(index)))
    return exportAlong(k, exportWiden(k, index), rank, sizes, i);
  MlirValue first = exportSplat(k, times(k, index, tileViewTypeGetStep(view, i)), wide);
  if (rank == 0)
    return first;
  return add(k, first, times(k, exportRange(k, rank, sizes, i), tileViewTypeGetStride(view, i)));
}

static MlirType pointersLike(ExportKernel *k, const ExportMemory *memory, MlirType tile) {
  return exportShaped(tile, mlirShapedTypeGetElementType(mlirValueGetType(memory->base)));
}

bool exportPlacesOfView(ExportKernel *k, MlirOperation op, MlirValue view, MlirType tile,
                        MlirValue (*at)(MlirOperation op, intptr_t i), ExportPlaces *places) {
  ExportMemory *memory = exportMemory(k, view);
  MlirExtShape shape;
  MlirValue offset = {NULL};
  *places = (ExportPlaces){{NULL}, {NULL}};
  if (!memory)
    return false;
  mlirExtTypeGetShape(tile, &shape);
  for (intptr_t i = 0; i < memory->rank; ++i) {
    MlirValue index = exportGet(k, at(op, i));
    if (mlirValueIsNull(index))
      return false;
    intptr_t dimension = memory->axes[i];
    MlirValue place = numbersAlong(k, mlirValueGetType(view), index, shape.rank, shape.sizes, i);
    MlirValue size = exportSizeValue(k, &memory->sizes[dimension]),
              stride = exportSizeValue(k, &memory->strides[dimension]);
    places->inside = exportBoth(k, places->inside, isInside(k, place, size));
    MlirValue term = multiply(k, place, exportSplat(k, stride, mlirValueGetType(place)));
    offset = i ? add(k, offset, term) : term;
  }
  places->pointers = exportSplat(k, memory->base, pointersLike(k, memory, tile));
  if (memory->rank)
    places->pointers = cudaTileOffsetOpBuild(&k->b, places->pointers, offset);
  return true;
}

//===--- accesses -----------------------------------------------------------------------------===//

static MlirType tokenType(ExportKernel *k) { return cudaTileTokenTypeGet(k->b.context); }
static const MlirValue none = {NULL};

MlirValue exportLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other) {
  MlirOperation made =
      cudaTileLoadPtrTkoOpBuild(&k->b, tile, tokenType(k), places->pointers, places->inside,
                                mlirValueIsNull(places->inside) ? none : other, none, exportWord(k, "weak"));
  return cudaTileLoadPtrTkoOpGetResult(made);
}

void exportStore(ExportKernel *k, const ExportPlaces *places, MlirValue value) {
  cudaTileStorePtrTkoOpBuild(&k->b, tokenType(k), places->pointers, value, places->inside, none, exportWord(k, "weak"));
}

// A tile whose dimensions are not a view's cannot be placed.
static bool isTileOf(MlirOperation op, MlirType tile, MlirType view) {
  intptr_t rank = exportRank(tile);
  bool ok =
      tileTypeIsAView(view) && (rank == tileViewTypeGetRank(view) || (rank == 0 && tileViewTypeGetRank(view) <= 1));
  for (intptr_t i = 0; ok && i < tileViewTypeGetRank(view); ++i)
    ok = tileViewTypeGetSize(view, i) == (rank ? mlirShapedTypeGetDimSize(tile, i) : 1);
  return ok ||
         tileError(op, "accesses %s, which has no conversion to cuda_tile", tileTypeText(view, (char[128]){0}, 128));
}

static bool indicesOf(ExportKernel *k, MlirOperation op, intptr_t rank, MlirValue (*at)(MlirOperation op, intptr_t i),
                      MlirValue *indices) {
  for (intptr_t i = 0; i < rank; ++i)
    if (mlirValueIsNull(indices[i] = exportGet(k, at(op, i))))
      return false;
  return true;
}

static bool load(ExportKernel *k, MlirOperation op) {
  MlirType tile = exportType(op, tileLoadOpGetResultType(op)), view = tileLoadOpGetSourceType(op);
  MlirValue indices[CudaTileMaxRank];
  if (mlirTypeIsNull(tile) || !isTileOf(op, tile, view))
    return false;
  const ExportMemory *memory = exportMemory(k, tileLoadOpGetSource(op));
  if (!memory)
    return false;
  if (!mlirValueIsNull(memory->view) && exportRank(tile)) {
    if (!indicesOf(k, op, memory->rank, tileLoadOpGetIndices, indices))
      return false;
    MlirOperation made = cudaTileLoadViewTkoOpBuild(&k->b, tile, tokenType(k), memory->view, memory->rank, indices,
                                                    none, exportWord(k, "weak"));
    exportSet(k, tileLoadOpGetResult(op), cudaTileLoadViewTkoOpGetTile(made));
    return true;
  }
  ExportPlaces places;
  if (!exportPlacesOfView(k, op, tileLoadOpGetSource(op), tile, tileLoadOpGetIndices, &places))
    return false;
  exportSet(k, tileLoadOpGetResult(op), exportLoad(k, &places, tile, exportPadding(k, view, tile)));
  return true;
}

static bool store(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileStoreOpGetValue(op)), indices[CudaTileMaxRank];
  if (mlirValueIsNull(value) || !isTileOf(op, mlirValueGetType(value), tileStoreOpGetDestinationType(op)))
    return false;
  MlirAttribute combine = tileStoreOpGetCombine(op);
  const ExportMemory *memory = exportMemory(k, tileStoreOpGetDestination(op));
  if (!memory)
    return false;
  if (mlirAttributeIsNull(combine) && !mlirValueIsNull(memory->view) && exportRank(mlirValueGetType(value))) {
    if (!indicesOf(k, op, memory->rank, tileStoreOpGetIndices, indices))
      return false;
    cudaTileStoreViewTkoOpBuild(&k->b, tokenType(k), value, memory->view, memory->rank, indices, none,
                                exportWord(k, "weak"));
    return true;
  }
  ExportPlaces places;
  if (!exportPlacesOfView(k, op, tileStoreOpGetDestination(op), mlirValueGetType(value), tileStoreOpGetIndices,
                          &places))
    return false;
  if (mlirAttributeIsNull(combine))
    exportStore(k, &places, value);
  MlirAttribute absent = mlirAttributeGetNull();
  return mlirAttributeIsNull(combine) || !mlirValueIsNull(exportAtomic(k, op, &places, value, combine, absent, absent));
}

// How many tiles: those that begin before the last whole one ends, and one more for the rest; at least 1 where there is
// an element.
static bool countTiles(ExportKernel *k, MlirOperation op) {
  ExportMemory *view = exportMemory(k, tileNumTilesOpGetView(op));
  intptr_t dim = tileNumTilesOpGetDimValue(op);
  MlirType type = tileNumTilesOpGetViewType(op);
  if (!view)
    return false;
  int64_t step = tileViewTypeGetStep(type, dim);
  int64_t span = (tileViewTypeGetSize(type, dim) - 1) * tileViewTypeGetStride(type, dim) + 1;
  MlirValue size = exportSizeValue(k, &view->sizes[view->axes[dim]]), by = exportNumber(k, step);
  MlirValue beyond = add(k, size, exportNumber(k, step - span));
  MlirValue count =
      tileOnlyResult(cudaTileDivIOpCreate(&k->b, beyond, by, exportSign(k, true), exportWord(k, "positive_inf")));
  if (step != span) {
    MlirValue least = cudaTileMinIOpBuild(&k->b, size, exportNumber(k, 1), exportSign(k, true));
    count = cudaTileMaxIOpBuild(&k->b, count, least, exportSign(k, true));
  }
  return exportSetResult(k, op, count);
}

static bool inBounds(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(op, tileOnlyResultType(op));
  ExportPlaces places;
  if (mlirTypeIsNull(type) ||
      !exportPlacesOfView(k, op, tileInBoundsOpGetView(op), type, tileInBoundsOpGetIndices, &places))
    return false;
  return exportSetResult(k, op, mlirValueIsNull(places.inside) ? exportFill(k, type, 1) : places.inside);
}

bool exportViews(ExportKernel *k, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (tileOpKind(op)) {
  case TileOp_View:
    return makeView(k, op);
  case TileOp_Load:
    return load(k, op);
  case TileOp_Store:
    return store(k, op);
  case TileOp_NumTiles:
    return countTiles(k, op);
  case TileOp_InBounds:
    return inBounds(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
