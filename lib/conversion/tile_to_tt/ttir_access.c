// Memory: views, gathers and scatters become tiles of pointers with masks.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "upstream/arith.h"
#include "upstream/memref.h"

//===--- views --------------------------------------------------------------------------===//

static MlirValue add(TtirKernel *k, MlirValue a, MlirValue b) { return tileBuildBinary(&k->b, ArithOp_AddI, a, b); }
static MlirValue multiply(TtirKernel *k, MlirValue a, MlirValue b) {
  return tileBuildBinary(&k->b, ArithOp_MulI, a, b);
}

// Fixed dimensions move the base; the others become the view's axes.
static bool makeView(TtirKernel *k, MlirOperation op) {
  const TtirMemory *source = ttirMemory(k, tileViewOpGetSource(op));
  MlirType type = tileViewOpGetResultType(op);
  MlirAttribute fixed = tileViewOpGetFixed(op);
  intptr_t kept[TtMaxRank], count = 0, next = 0;
  if (!source)
    return false;
  if (!mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return tileError(op, "views packed elements, which TTIR does not have");
  TtirMemory *view = ttirNewMemory(k, tileViewOpGetResult(op));
  *view = (TtirMemory){.base = source->base, .rank = tileViewTypeGetRank(type)};
  for (intptr_t i = 0; i < source->rank; ++i) {
    if (next == mlirDenseArrayGetNumElements(fixed) || mlirDenseI64ArrayGetElement(fixed, next) != i) {
      kept[count++] = i;
      continue;
    }
    MlirValue index = ttirGet(k, tileViewOpGetIndices(op, next++));
    if (mlirValueIsNull(index))
      return false;
    view->base = ttAddPtrOpBuild(&k->b, view->base, multiply(k, index, source->strides[i]));
  }
  if (count != view->rank)
    return tileError(op, "keeps %ld dimensions, expected %ld", (long)count, (long)view->rank);
  for (intptr_t i = 0; i < view->rank; ++i) {
    intptr_t from = kept[tileViewTypeGetOrder(type, i)];
    view->sizes[i] = source->sizes[from];
    view->strides[i] = source->strides[from];
  }
  return true;
}

static MlirValue both(TtirKernel *k, MlirValue mask, MlirValue other) {
  return mlirValueIsNull(mask) ? other : tileBuildBinary(&k->b, ArithOp_AndI, mask, other);
}

static MlirValue inside(TtirKernel *k, MlirValue mask, MlirValue place, MlirValue size) {
  MlirType type = mlirValueGetType(place);
  mask = both(k, mask, arithCmpIOpBuild(&k->b, place, ttirSplat(k, size, type), ArithCmpI_Slt));
  return both(k, mask, arithCmpIOpBuild(&k->b, place, ttirSplat(k, ttirNumber(k, 0), type), ArithCmpI_Sge));
}

static MlirValue pointers(TtirKernel *k, const TtirMemory *memory, MlirType tile, MlirValue offset) {
  MlirType type = ttirShaped(tile, mlirValueGetType(memory->base));
  return ttAddPtrOpBuild(&k->b, ttirSplat(k, memory->base, type), offset);
}

// Pointers to the tile of a view that these indices name, and where the tile lies in memory.
static MlirValue pointTo(TtirKernel *k, MlirOperation op, MlirValue view, MlirType tile,
                         MlirValue (*at)(MlirOperation op, intptr_t i), MlirValue *mask) {
  const TtirMemory *memory = ttirMemory(k, view);
  MlirType type = mlirValueGetType(view), i64 = mlirIntegerTypeGet(k->b.context, 64), wide = ttirShaped(tile, i64);
  int64_t sizes[TtMaxRank];
  *mask = (MlirValue){NULL};
  if (!memory)
    return (MlirValue){NULL};
  MlirValue offset = {NULL};
  for (intptr_t i = 0; i < memory->rank; ++i)
    sizes[i] = tileViewTypeGetSize(type, i);
  for (intptr_t i = 0; i < memory->rank; ++i) {
    MlirValue index = ttirGet(k, at(op, i)), place;
    if (mlirValueIsNull(index))
      return index;
    place = ttirSplat(k, multiply(k, index, ttirNumber(k, tileViewTypeGetStep(type, i))), wide);
    if (mlirTypeIsARankedTensor(tile)) {
      MlirValue range = ttirRange(k, memory->rank, sizes, i);
      if (tileViewTypeGetStride(type, i) != 1)
        range = multiply(k, range, ttirSplat(k, ttirNumber(k, tileViewTypeGetStride(type, i)), wide));
      place = add(k, place, range);
    }
    *mask = inside(k, *mask, place, memory->sizes[i]);
    MlirValue term = multiply(k, place, ttirSplat(k, memory->strides[i], wide));
    offset = i ? add(k, offset, term) : term;
  }
  return memory->rank ? pointers(k, memory, tile, offset) : memory->base;
}

static MlirValue paddingOf(TtirKernel *k, MlirType view, MlirType tile) {
  static const double values[] = {0.0, -0.0, __builtin_nan(""), __builtin_inf(), -__builtin_inf()};
  MlirStringRef pad = tileViewTypeGetPad(view);
  MlirType element = ttirElement(tile);
  int at = 0;
  while (tilePadNames[at + 1] && !tileStringEquals(pad, tilePadNames[at]))
    ++at;
  MlirValue value =
      mlirTypeIsAFloat(element) ? tileBuildFloat(&k->b, element, values[at]) : tileBuildInteger(&k->b, element, 0);
  return ttirSplat(k, value, tile);
}

// A tile whose dimensions are not a view's cannot be placed.
static bool isTileOf(MlirOperation op, MlirType tile, MlirType view) {
  intptr_t rank = mlirTypeIsARankedTensor(tile) ? mlirShapedTypeGetRank(tile) : 0;
  bool ok =
      tileTypeIsAView(view) && (rank == tileViewTypeGetRank(view) || (rank == 0 && tileViewTypeGetRank(view) <= 1));
  for (intptr_t i = 0; ok && i < tileViewTypeGetRank(view); ++i)
    ok = tileViewTypeGetSize(view, i) == (rank ? mlirShapedTypeGetDimSize(tile, i) : 1);
  return ok || tileError(op, "accesses %s, which has no conversion to tt", tileTypeText(view, (char[128]){0}, 128));
}

static bool load(TtirKernel *k, MlirOperation op) {
  MlirType tile = ttirType(op, tileLoadOpGetResultType(op)), view = tileLoadOpGetSourceType(op);
  MlirValue mask;
  if (mlirTypeIsNull(tile) || !isTileOf(op, tile, view))
    return false;
  MlirValue at = pointTo(k, op, tileLoadOpGetSource(op), tile, tileLoadOpGetIndices, &mask);
  if (mlirValueIsNull(at))
    return false;
  ttirSet(k, tileLoadOpGetResult(op),
          ttLoadOpBuild(&k->b, at, mask, mlirValueIsNull(mask) ? mask : paddingOf(k, view, tile)));
  return true;
}

static bool store(TtirKernel *k, MlirOperation op) {
  MlirValue value = ttirGet(k, tileStoreOpGetValue(op)), mask;
  if (mlirValueIsNull(value) || !isTileOf(op, mlirValueGetType(value), tileStoreOpGetDestinationType(op)))
    return false;
  MlirAttribute combine = tileStoreOpGetCombine(op);
  MlirValue at = pointTo(k, op, tileStoreOpGetDestination(op), mlirValueGetType(value), tileStoreOpGetIndices, &mask);
  if (mlirValueIsNull(at))
    return false;
  if (mlirAttributeIsNull(combine)) {
    ttStoreOpBuild(&k->b, at, value, mask);
    return true;
  }
  bool isFloat = mlirTypeIsAFloat(ttirElement(mlirValueGetType(value)));
  if (!tileStringEquals(mlirStringAttrGetValue(combine), "add"))
    return tileError(op, "combines other than by add, which has no conversion to tt");
  ttAtomicRMWOpBuild(&k->b, mlirValueGetType(value), at, value, mask, ttirI32(k, isFloat ? TtRmw_FAdd : TtRmw_Add),
                     ttirI32(k, TtSemantic_Relaxed), ttirI32(k, TtScope_Gpu));
  return true;
}

// As many as begin before the last whole one ends, and one for the rest; at least 1 where there is an element.
static bool countTiles(TtirKernel *k, MlirOperation op) {
  const TtirMemory *view = ttirMemory(k, tileNumTilesOpGetView(op));
  MlirType type = tileNumTilesOpGetViewType(op);
  int64_t dim = tileNumTilesOpGetDimValue(op), step = tileViewTypeGetStep(type, dim);
  int64_t span = (tileViewTypeGetSize(type, dim) - 1) * tileViewTypeGetStride(type, dim) + 1;
  if (!view)
    return false;
  MlirValue size = view->sizes[dim], by = ttirNumber(k, step), beyond = size, count;
  if (step != span) // quotients go toward zero: nothing negative may be divided
    beyond = tileBuildBinary(&k->b, ArithOp_MaxSI, add(k, size, ttirNumber(k, step - span)), ttirNumber(k, 0));
  count = tileBuildBinary(&k->b, ArithOp_DivSI, add(k, beyond, ttirNumber(k, step - 1)), by);
  if (step != span)
    count = tileBuildBinary(&k->b, ArithOp_MaxSI, count, tileBuildBinary(&k->b, ArithOp_MinSI, size, ttirNumber(k, 1)));
  ttirSet(k, tileNumTilesOpGetResult(op), count);
  return true;
}

//===--- elements by index ----------------------------------------------------------------===//

static bool isPlain(MlirOperation op, MlirType memory) {
  return mlirTypeIsAMemRef(memory) || tileError(op, "goes through %s, expected a memref: this has no conversion to tt",
                                                tileTypeText(memory, (char[128]){0}, 128));
}

// `trap` outside: the kernel's claim, which TTIR cannot check cheaply, is an assertion.
static MlirValue placeOf(TtirKernel *k, MlirOperation op, MlirValue memref, MlirType tile, intptr_t count,
                         MlirValue (*at)(MlirOperation op, intptr_t i), MlirAttribute bounds, MlirValue *mask) {
  const TtirMemory *memory = ttirMemory(k, memref);
  MlirValue offset = {NULL}, within = {NULL};
  if (!memory || count != memory->rank)
    return (MlirValue){NULL};
  MlirType wide = ttirShaped(tile, mlirIntegerTypeGet(k->b.context, 64));
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue index = ttirGet(k, at(op, i));
    if (mlirValueIsNull(index))
      return index;
    MlirType element = ttirElement(mlirValueGetType(index));
    if (mlirIntegerTypeGetWidth(element) < 64)
      index = tileBuildCast(&k->b, ArithOp_ExtSI, index,
                            ttirShaped(mlirValueGetType(index), mlirIntegerTypeGet(k->b.context, 64)));
    if (!mlirTypeIsARankedTensor(mlirValueGetType(index)))
      index = ttirSplat(k, index, wide);
    within = inside(k, within, index, memory->sizes[i]);
    MlirValue term = multiply(k, index, ttirSplat(k, memory->strides[i], wide));
    offset = i ? add(k, offset, term) : term;
  }
  if (tileStringEquals(mlirStringAttrGetValue(bounds), "clamp")) {
    tileError(op, "clamps indices, which has no conversion to tt");
    return (MlirValue){NULL};
  }
  if (tileStringEquals(mlirStringAttrGetValue(bounds), "trap")) {
    MlirValue holds = within;
    if (!mlirValueIsNull(*mask)) {
      MlirType flags = mlirValueGetType(within);
      MlirValue yes = ttirSplat(k, tileBuildInteger(&k->b, ttirElement(flags), 1), flags);
      holds = tileBuildBinary(&k->b, ArithOp_OrI, within, tileBuildBinary(&k->b, ArithOp_XOrI, *mask, yes));
    }
    ttAssertOpBuild(&k->b, holds, mlirStringAttrGet(k->b.context, tileString("an index lies outside its memory")));
  }
  *mask = both(k, *mask, within);
  return pointers(k, memory, tile, offset);
}

static bool gather(TtirKernel *k, MlirOperation op) {
  MlirType tile = ttirType(op, tileGatherOpGetResultType(op));
  MlirValue old = tileGatherOpGetMask(op), mask = mlirValueIsNull(old) ? old : ttirGet(k, old);
  MlirValue given = tileGatherOpGetOther(op), other = mlirValueIsNull(given) ? given : ttirGet(k, given);
  if (mlirTypeIsNull(tile) || mlirValueIsNull(old) != mlirValueIsNull(mask) ||
      mlirValueIsNull(given) != mlirValueIsNull(other) || !isPlain(op, tileGatherOpGetSourceType(op)))
    return false;
  MlirValue at = placeOf(k, op, tileGatherOpGetSource(op), tile, tileGatherOpGetNumIndices(op), tileGatherOpGetIndices,
                         tileGatherOpGetBounds(op), &mask);
  if (mlirValueIsNull(at))
    return false;
  if (mlirValueIsNull(other))
    other = ttirSplat(k,
                      mlirTypeIsAFloat(ttirElement(tile)) ? tileBuildFloat(&k->b, ttirElement(tile), 0)
                                                          : tileBuildInteger(&k->b, ttirElement(tile), 0),
                      tile);
  ttirSet(k, tileGatherOpGetResult(op), ttLoadOpBuild(&k->b, at, mask, other));
  return true;
}

static bool scatter(TtirKernel *k, MlirOperation op) {
  MlirValue value = ttirGet(k, tileScatterOpGetValue(op)), old = tileScatterOpGetMask(op);
  MlirValue mask = mlirValueIsNull(old) ? old : ttirGet(k, old);
  if (mlirValueIsNull(value) || mlirValueIsNull(old) != mlirValueIsNull(mask) ||
      !isPlain(op, tileScatterOpGetDestinationType(op)))
    return false;
  if (!mlirAttributeIsNull(tileScatterOpGetCombine(op)))
    return tileError(op, "combines with memory, which has no conversion to tt");
  MlirValue at = placeOf(k, op, tileScatterOpGetDestination(op), mlirValueGetType(value),
                         tileScatterOpGetNumIndices(op), tileScatterOpGetIndices, tileScatterOpGetBounds(op), &mask);
  if (mlirValueIsNull(at))
    return false;
  ttStoreOpBuild(&k->b, at, value, mask);
  return true;
}

//===--- memrefs ----------------------------------------------------------------------------===//

static bool sameMemory(TtirKernel *k, MlirValue result, MlirValue source) {
  const TtirMemory *memory = ttirMemory(k, source);
  if (memory)
    *ttirNewMemory(k, result) = *memory;
  return memory != NULL;
}

static bool assume(TtirKernel *k, MlirOperation op) {
  MlirValue old = tileAssumeOpGetValue(op);
  if (mlirTypeIsAMemRef(mlirValueGetType(old)))
    return sameMemory(k, tileOnlyResult(op), old);
  MlirValue value = ttirGet(k, old);
  ttirSet(k, tileOnlyResult(op), value);
  return !mlirValueIsNull(value);
}

static bool dimension(TtirKernel *k, MlirOperation op) {
  const TtirMemory *memory = ttirMemory(k, memrefDimOpGetSource(op));
  int64_t axis;
  if (!memory)
    return false;
  if (!tileConstantIndex(memrefDimOpGetIndex(op), &axis) || axis < 0 || axis >= memory->rank)
    return tileError(op, "asks for a size by a number that is not known");
  ttirSet(k, tileOnlyResult(op), memory->sizes[axis]);
  return true;
}

bool ttirAccess(TtirKernel *k, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case MemrefOp_Cast:
    return sameMemory(k, tileOnlyResult(op), tileOnlyOperand(op));
  case MemrefOp_Dim:
    return dimension(k, op);
  default:
    break;
  }
  switch (tileOpKind(op)) {
  case TileOp_View:
    return makeView(k, op);
  case TileOp_Load:
    return load(k, op);
  case TileOp_Store:
    return store(k, op);
  case TileOp_NumTiles:
    return countTiles(k, op);
  case TileOp_Gather:
    return gather(k, op);
  case TileOp_Scatter:
    return scatter(k, op);
  case TileOp_Assume:
    return assume(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
