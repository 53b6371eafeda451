// Views: a tensor in memory cut into tiles is a view of the language's own. What that cannot say (elements apart from
// each other, combining) goes through pointers, with a mask where it leaves the tensor.
#include "lib/conversion/kernel_export/export.h"

static const double padValues[] = {0.0, -0.0, __builtin_nan(""), __builtin_inf(), -__builtin_inf()};

int exportPadOf(MlirType view) {
  int at = 0;
  while (tilePadNames[at + 1] && !tileStringEquals(tileViewTypeGetPad(view), tilePadNames[at]))
    ++at;
  return at;
}

MlirValue exportPadding(ExportKernel *k, MlirType view, MlirType tile) {
  bool isFloat = mlirTypeIsAFloat(exportElement(tile));
  return isFloat ? exportFillFloat(k, tile, padValues[exportPadOf(view)]) : exportFill(k, tile, 0);
}

static MlirValue add(ExportKernel *k, MlirValue a, MlirValue b) { return exportCombine(k, ArithOp_AddI, a, b); }
static MlirValue multiply(ExportKernel *k, MlirValue a, MlirValue b) { return exportCombine(k, ArithOp_MulI, a, b); }
static MlirValue times(ExportKernel *k, MlirValue a, int64_t number) {
  return number == 1 ? a : multiply(k, a, exportFill(k, mlirValueGetType(a), number));
}

//===--- making views -----------------------------------------------------------------------===//

static bool isPaddedView(MlirType view) {
  bool found = false;
  for (intptr_t i = 0; i < tileViewTypeGetRank(view); ++i)
    found = found || exportPaddedSize(tileViewTypeGetSize(view, i)) != tileViewTypeGetSize(view, i);
  return found;
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
    return tileError(op, "views packed elements, which has no conversion to %s", k->v->dialect);
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
    view->base = k->v->offset(&k->b, view->base, by);
  }
  view->rank = count;
  for (intptr_t i = 0; i < count; ++i)
    if (!view->sizes[i].isKnown && mlirValueIsNull(view->sizes[i].value))
      return tileError(op, "views memory of which only a pointer is known");
  if (count != tileViewTypeGetRank(type))
    return tileError(op, "keeps %ld dimensions, expected %ld", (long)count, (long)tileViewTypeGetRank(type));
  for (intptr_t i = 0; i < count; ++i)
    view->axes[i] = tileViewTypeGetOrder(type, i);
  if (k->hasViews && count && !isPaddedView(type))
    view->view = k->v->cut(k, view, type);
  return true;
}

//===--- places -----------------------------------------------------------------------------===//

MlirValue exportBoth(ExportKernel *k, MlirValue mask, MlirValue other) {
  return mlirValueIsNull(mask) ? other : mlirValueIsNull(other) ? mask : exportCombine(k, ArithOp_AndI, mask, other);
}

MlirValue exportIsInside(ExportKernel *k, MlirValue place, MlirValue size) {
  MlirType type = mlirValueGetType(place);
  MlirValue below = k->v->compare(k, ArithCmpI_Slt, place, exportSplat(k, size, type));
  MlirValue least = k->v->compare(k, ArithCmpI_Sge, place, exportFill(k, type, 0));
  return exportCombine(k, ArithOp_AndI, below, least);
}

// The element numbers along axis `i` of tile `index`, in a tile of these sizes; of a scalar one number.
static MlirValue numbersAlong(ExportKernel *k, MlirType view, MlirValue index, intptr_t rank, const int64_t *sizes,
                              intptr_t i) {
  MlirType wide = exportSized(k, rank, sizes, exportInteger(k, 64));
  if (exportRank(mlirValueGetType(index)))
    return exportAlong(k, exportWiden(k, index), rank, sizes, i);
  MlirValue first = exportSplat(k, times(k, index, tileViewTypeGetStep(view, i)), wide);
  if (rank == 0)
    return first;
  return add(k, first, times(k, exportRange(k, rank, sizes, i), tileViewTypeGetStride(view, i)));
}

static MlirType pointersLike(ExportKernel *k, const ExportMemory *memory, MlirType tile) {
  return exportShaped(k, tile, exportElement(mlirValueGetType(memory->base)));
}

bool exportPlacesOfView(ExportKernel *k, MlirOperation op, MlirValue view, MlirType tile,
                        MlirValue (*at)(MlirOperation op, intptr_t i), ExportPlaces *places) {
  ExportMemory *memory = exportMemory(k, view);
  MlirExtShape shape = exportShape(tile);
  MlirValue offset = {NULL};
  *places = (ExportPlaces){{NULL}, {NULL}};
  if (!memory)
    return false;
  for (intptr_t i = 0; i < memory->rank; ++i) {
    MlirValue index = exportGet(k, at(op, i));
    if (mlirValueIsNull(index))
      return false;
    intptr_t dimension = memory->axes[i];
    MlirValue place = numbersAlong(k, mlirValueGetType(view), index, shape.rank, shape.sizes, i);
    MlirValue size = exportSizeValue(k, &memory->sizes[dimension]),
              stride = exportSizeValue(k, &memory->strides[dimension]);
    places->inside = exportBoth(k, places->inside, exportIsInside(k, place, size));
    MlirValue term = multiply(k, place, exportSplat(k, stride, mlirValueGetType(place)));
    offset = i ? add(k, offset, term) : term;
  }
  places->pointers = exportSplat(k, memory->base, pointersLike(k, memory, tile));
  if (memory->rank)
    places->pointers = k->v->offset(&k->b, places->pointers, offset);
  return true;
}

//===--- accesses -----------------------------------------------------------------------------===//

// A tile whose dimensions are not a view's cannot be placed.
static bool isTileOf(ExportKernel *k, MlirOperation op, MlirType tile, MlirType view) { // of the kernel before
  intptr_t rank = exportRank(tile);
  bool ok =
      tileTypeIsAView(view) && (rank == tileViewTypeGetRank(view) || (rank == 0 && tileViewTypeGetRank(view) <= 1));
  for (intptr_t i = 0; ok && i < tileViewTypeGetRank(view); ++i)
    ok = tileViewTypeGetSize(view, i) == (rank ? mlirShapedTypeGetDimSize(tile, i) : 1);
  return ok || tileError(op, "accesses %s, which has no conversion to %s", tileTypeText(view, (char[128]){0}, 128),
                         k->v->dialect);
}

static bool indicesOf(ExportKernel *k, MlirOperation op, intptr_t rank, MlirValue (*at)(MlirOperation op, intptr_t i),
                      MlirValue *indices) {
  for (intptr_t i = 0; i < rank; ++i)
    if (mlirValueIsNull(indices[i] = exportGet(k, at(op, i))))
      return false;
  return true;
}

static bool load(ExportKernel *k, MlirOperation op) {
  MlirType tile = exportType(k, op, tileLoadOpGetResultType(op)), view = tileLoadOpGetSourceType(op);
  MlirValue indices[ExportMaxRank];
  if (mlirTypeIsNull(tile) || !isTileOf(k, op, tileLoadOpGetResultType(op), view))
    return false;
  const ExportMemory *memory = exportMemory(k, tileLoadOpGetSource(op));
  if (!memory)
    return false;
  if (!mlirValueIsNull(memory->view) && exportRank(tile)) {
    if (!indicesOf(k, op, memory->rank, tileLoadOpGetIndices, indices))
      return false;
    return exportSetResult(k, op, k->v->loadView(k, memory, view, tile, indices));
  }
  ExportPlaces places;
  if (!exportPlacesOfView(k, op, tileLoadOpGetSource(op), tile, tileLoadOpGetIndices, &places))
    return false;
  places.inside = exportBoth(k, places.inside, exportRealLanes(k, tileLoadOpGetResultType(op)));
  MlirValue other = mlirValueIsNull(places.inside) ? places.inside : exportPadding(k, view, tile);
  return exportSetResult(k, op, k->v->load(k, &places, tile, other));
}

static bool store(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileStoreOpGetValue(op)), indices[ExportMaxRank];
  if (mlirValueIsNull(value) || !isTileOf(k, op, tileStoreOpGetValueType(op), tileStoreOpGetDestinationType(op)))
    return false;
  MlirAttribute combine = tileStoreOpGetCombine(op);
  const ExportMemory *memory = exportMemory(k, tileStoreOpGetDestination(op));
  if (!memory)
    return false;
  if (mlirAttributeIsNull(combine) && !mlirValueIsNull(memory->view) && exportRank(mlirValueGetType(value))) {
    if (!indicesOf(k, op, memory->rank, tileStoreOpGetIndices, indices))
      return false;
    k->v->storeView(k, memory, tileStoreOpGetDestinationType(op), value, indices);
    return true;
  }
  ExportPlaces places;
  if (!exportPlacesOfView(k, op, tileStoreOpGetDestination(op), mlirValueGetType(value), tileStoreOpGetIndices,
                          &places))
    return false;
  places.inside = exportBoth(k, places.inside, exportRealLanes(k, tileStoreOpGetValueType(op)));
  if (mlirAttributeIsNull(combine))
    k->v->store(k, &places, value);
  return mlirAttributeIsNull(combine) ||
         !mlirValueIsNull(k->v->atomic(k, op, &places, value, combine, (ExportOrder){{NULL}, {NULL}}));
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
  MlirValue beyond = size, count;
  if (step != span) // quotients go toward zero: nothing negative may be divided
    beyond = exportCombine(k, ArithOp_MaxSI, add(k, size, exportNumber(k, step - span)), exportNumber(k, 0));
  count = exportCombine(k, ArithOp_DivSI, add(k, beyond, exportNumber(k, step - 1)), by);
  if (step != span)
    count = exportCombine(k, ArithOp_MaxSI, count, exportCombine(k, ArithOp_MinSI, size, exportNumber(k, 1)));
  return exportSetResult(k, op, count);
}

static bool inBounds(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  ExportPlaces places;
  if (mlirTypeIsNull(type) ||
      !exportPlacesOfView(k, op, tileInBoundsOpGetView(op), type, tileInBoundsOpGetIndices, &places))
    return false;
  return exportSetResult(k, op, mlirValueIsNull(places.inside) ? exportFill(k, type, 1) : places.inside);
}

bool exportViews(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
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
