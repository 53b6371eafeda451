// Elements at computed places: gathers and scatters are tiles of pointers with masks, and so are atomics.
#include "lib/conversion/kernel_export/export.h"

#include "upstream/memref.h"
#include "upstream/ub.h"

//===--- places -----------------------------------------------------------------------------===//

typedef MlirValue (*OperandAt)(MlirOperation op, intptr_t i);
typedef enum Outside { Outside_Never, Outside_Drop, Outside_Clamp, Outside_Trap } Outside;

static Outside outsideOf(MlirAttribute bounds) {
  return exportIs(bounds, "clamp") ? Outside_Clamp : exportIs(bounds, "trap") ? Outside_Trap : Outside_Drop;
}

static MlirValue clamp(ExportKernel *k, MlirValue index, MlirValue size) {
  MlirType type = mlirValueGetType(index);
  MlirValue last = exportCombine(k, ArithOp_SubI, size, exportNumber(k, 1));
  MlirValue below = exportCombine(k, ArithOp_MinSI, index, exportSplat(k, last, type));
  return exportCombine(k, ArithOp_MaxSI, below, exportFill(k, type, 0));
}

// Whoever made the kernel of pointers alone guarantees that its indices lie inside.
static bool isBare(const ExportSize *size) { return !size->isKnown && mlirValueIsNull(size->value); }

// An index tile for each dimension of a memref.
static bool placesOfMemref(ExportKernel *k, MlirOperation op, MlirValue memref, MlirType tile, intptr_t count,
                           OperandAt at, Outside outside, ExportPlaces *places) {
  ExportMemory *memory = exportMemory(k, memref);
  MlirValue offset = {NULL};
  MlirType wide = exportShaped(k, tile, exportInteger(k, 64));
  *places = (ExportPlaces){{NULL}, {NULL}};
  if (!memory)
    return false;
  if (count != memory->rank)
    return tileError(op, "has %ld indices, expected %ld", (long)count, (long)memory->rank);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue index = exportGet(k, at(op, i));
    if (mlirValueIsNull(index))
      return false;
    index = exportWiden(k, index);
    if (!mlirTypeEqual(mlirValueGetType(index), wide))
      index = exportSplat(k, index, wide);
    bool isChecked = outside != Outside_Never && !(outside == Outside_Trap && isBare(&memory->sizes[i]));
    MlirValue size = isChecked ? exportSizeValue(k, &memory->sizes[i]) : index;
    if (mlirValueIsNull(size))
      return false;
    if (isChecked && outside == Outside_Clamp)
      index = clamp(k, index, size);
    else if (isChecked)
      places->inside = exportBoth(k, places->inside, exportIsInside(k, index, size));
    bool isDense = memory->strides[i].isKnown && memory->strides[i].number == 1;
    MlirValue term =
        isDense ? index
                : exportCombine(k, ArithOp_MulI, index, exportSplat(k, exportSizeValue(k, &memory->strides[i]), wide));
    offset = i ? exportCombine(k, ArithOp_AddI, offset, term) : term;
  }
  MlirType pointers = exportShaped(k, tile, exportElement(mlirValueGetType(memory->base)));
  places->pointers = exportSplat(k, memory->base, pointers);
  if (count)
    places->pointers = k->v->offset(&k->b, places->pointers, offset);
  return true;
}

// A tile of addresses.
static bool placesOfAddresses(ExportKernel *k, MlirOperation op, MlirValue addresses, MlirType tile,
                              ExportPlaces *places) {
  MlirValue value = exportGet(k, addresses);
  if (mlirValueIsNull(value))
    return false;
  MlirType pointer = k->v->pointerTo(exportElement(tile));
  *places = (ExportPlaces){k->v->toPointer(&k->b, exportShaped(k, tile, pointer), value), {NULL}};
  return true;
}

// `trap` is a claim of the kernel's: an assertion.
static void assertInside(ExportKernel *k, MlirValue inside, MlirValue mask) {
  MlirValue holds = inside;
  if (!mlirValueIsNull(mask)) {
    MlirValue yes = exportFill(k, mlirValueGetType(inside), 1);
    holds = exportCombine(k, ArithOp_OrI, inside, exportCombine(k, ArithOp_XOrI, mask, yes));
  }
  k->v->check(k, holds, exportWord(k, "an index lies outside its memory"));
}

// Where an op on memory, a view or addresses has its elements, with its mask.
static bool placesOf(ExportKernel *k, MlirOperation op, MlirValue memory, MlirType oldTile, MlirType tile,
                     intptr_t count, OperandAt at, Outside outside, MlirValue oldMask, ExportPlaces *places) {
  MlirType type = mlirValueGetType(memory);
  MlirValue mask;
  if (!exportGetOptional(k, oldMask, &mask))
    return false;
  if (tileTypeIsAView(type) && outside == Outside_Clamp)
    return tileError(op, "clamps indices of a view, which has no conversion to %s", k->v->dialect);
  bool ok = tileTypeIsAView(type)     ? exportPlacesOfView(k, op, memory, tile, at, places)
            : mlirTypeIsAMemRef(type) ? placesOfMemref(k, op, memory, tile, count, at, outside, places)
            : count == 0 ? placesOfAddresses(k, op, memory, tile, places)
                         : tileError(op, "takes elements of a tile, which has no conversion to %s", k->v->dialect);
  if (!ok)
    return false;
  mask = exportBoth(k, mask, exportRealLanes(k, oldTile));
  if (outside == Outside_Trap && !mlirValueIsNull(places->inside))
    assertInside(k, places->inside, mask);
  places->inside = exportBoth(k, places->inside, mask);
  return true;
}

//===--- gathers, scatters --------------------------------------------------------------------===//

// Poison is what a masked load without padding gives.
static MlirValue otherOf(ExportKernel *k, MlirOperation op, MlirType tile, const ExportPlaces *places,
                         MlirValue given) {
  if (mlirValueIsNull(places->inside))
    return places->inside;
  if (!mlirValueIsNull(given))
    return ubPoisonOpIsA(tileDefiningOp(tileGatherOpGetOther(op))) ? (MlirValue){NULL} : given;
  if (tileTypeIsAView(tileGatherOpGetSourceType(op)))
    return exportPadding(k, tileGatherOpGetSourceType(op), tile);
  return mlirTypeIsAFloat(exportElement(tile)) ? exportFillFloat(k, tile, 0) : exportFill(k, tile, 0);
}

static bool gather(ExportKernel *k, MlirOperation op) {
  MlirType tile = exportType(k, op, tileGatherOpGetResultType(op));
  MlirValue other;
  ExportPlaces places;
  if (mlirTypeIsNull(tile) || !exportGetOptional(k, tileGatherOpGetOther(op), &other))
    return false;
  if (!placesOf(k, op, tileGatherOpGetSource(op), tileGatherOpGetResultType(op), tile, tileGatherOpGetNumIndices(op),
                tileGatherOpGetIndices, outsideOf(tileGatherOpGetBounds(op)), tileGatherOpGetMask(op), &places))
    return false;
  return exportSetResult(k, op, k->v->load(k, &places, tile, otherOf(k, op, tile, &places, other)));
}

static bool scatter(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileScatterOpGetValue(op));
  MlirAttribute combine = tileScatterOpGetCombine(op);
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, tileScatterOpGetDestination(op), tileScatterOpGetValueType(op), mlirValueGetType(value),
                tileScatterOpGetNumIndices(op), tileScatterOpGetIndices, outsideOf(tileScatterOpGetBounds(op)),
                tileScatterOpGetMask(op), &places))
    return false;
  if (mlirAttributeIsNull(combine))
    k->v->store(k, &places, value);
  return mlirAttributeIsNull(combine) ||
         !mlirValueIsNull(k->v->atomic(k, op, &places, value, combine, (ExportOrder){{NULL}, {NULL}}));
}

//===--- atomics ------------------------------------------------------------------------------===//

static bool readModifyWrite(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileAtomicRmwOpGetValue(op));
  ExportPlaces places;
  if (mlirValueIsNull(value) || !placesOf(k, op, tileAtomicRmwOpGetMemory(op), tileAtomicRmwOpGetValueType(op),
                                          mlirValueGetType(value), tileAtomicRmwOpGetNumIndices(op),
                                          tileAtomicRmwOpGetIndices, Outside_Trap, tileAtomicRmwOpGetMask(op), &places))
    return false;
  ExportOrder order = {tileAtomicRmwOpGetOrder(op), tileAtomicRmwOpGetScope(op)};
  MlirValue old = k->v->atomic(k, op, &places, value, tileAtomicRmwOpGetKind(op), order);
  return !mlirValueIsNull(old) && exportSetResult(k, op, old);
}

static bool compareAndSwap(ExportKernel *k, MlirOperation op) {
  MlirValue expected = exportGet(k, tileAtomicCasOpGetCompare(op)), value = exportGet(k, tileAtomicCasOpGetValue(op));
  ExportPlaces places;
  if (mlirValueIsNull(expected) || mlirValueIsNull(value))
    return false;
  MlirType type = mlirValueGetType(value);
  if (!placesOf(k, op, tileAtomicCasOpGetMemory(op), tileAtomicCasOpGetValueType(op), type,
                tileAtomicCasOpGetNumIndices(op), tileAtomicCasOpGetIndices, Outside_Never, tileAtomicCasOpGetMask(op),
                &places))
    return false;
  ExportOrder order = {tileAtomicCasOpGetOrder(op), tileAtomicCasOpGetScope(op)};
  MlirValue old = k->v->swap(k, op, &places, expected, value, order);
  return !mlirValueIsNull(old) && exportSetResult(k, op, old);
}

// One element, which others may be writing or reading.
static bool atomicLoad(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  MlirValue none = {NULL};
  ExportPlaces places;
  if (mlirTypeIsNull(type) ||
      !placesOf(k, op, tileAtomicLoadOpGetMemory(op), type, type, tileAtomicLoadOpGetNumIndices(op),
                tileAtomicLoadOpGetIndices, Outside_Never, none, &places))
    return false;
  ExportOrder order = {tileAtomicLoadOpGetOrder(op), tileAtomicLoadOpGetScope(op)};
  return exportSetResult(k, op, k->v->atomicLoad(k, &places, type, order));
}

static bool atomicStore(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileAtomicStoreOpGetValue(op)), none = {NULL};
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, tileAtomicStoreOpGetMemory(op), mlirValueGetType(value), mlirValueGetType(value),
                tileAtomicStoreOpGetNumIndices(op), tileAtomicStoreOpGetIndices, Outside_Never, none, &places))
    return false;
  ExportOrder order = {tileAtomicStoreOpGetOrder(op), tileAtomicStoreOpGetScope(op)};
  k->v->atomicStore(k, &places, value, order);
  return true;
}

//===--- memrefs ------------------------------------------------------------------------------===//

static bool loadElement(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  MlirValue none = {NULL};
  ExportPlaces places;
  return !mlirTypeIsNull(type) &&
         placesOf(k, op, memrefLoadOpGetMemref(op), type, type, memrefLoadOpGetNumIndices(op), memrefLoadOpGetIndices,
                  Outside_Never, none, &places) &&
         exportSetResult(k, op, k->v->load(k, &places, type, none));
}

static bool storeElement(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, memrefStoreOpGetValue(op)), none = {NULL};
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, memrefStoreOpGetMemref(op), mlirValueGetType(value), mlirValueGetType(value),
                memrefStoreOpGetNumIndices(op), memrefStoreOpGetIndices, Outside_Never, none, &places))
    return false;
  k->v->store(k, &places, value);
  return true;
}

static bool sameMemory(ExportKernel *k, MlirValue result, MlirValue source) {
  const ExportMemory *memory = exportMemory(k, source);
  if (memory)
    *exportNewMemory(k, result) = *memory;
  return memory != NULL;
}

// A list of numbers. Those left open are the op's next values.
static bool mixed(ExportKernel *k, MlirOperation op, MlirAttribute numbers, OperandAt at, ExportSize *sizes) {
  intptr_t next = 0;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(numbers); ++i) {
    int64_t number = mlirDenseI64ArrayGetElement(numbers, i);
    bool isKnown = number != mlirShapedTypeGetDynamicSize();
    sizes[i] = (ExportSize){isKnown, isKnown ? number : 0, {NULL}};
    if (!isKnown && mlirValueIsNull(sizes[i].value = exportGet(k, at(op, next++))))
      return false;
  }
  return true;
}

// Memory with other sizes and strides, as convert-tt-to-tile makes it for descriptors and block pointers.
static bool reinterpret(ExportKernel *k, MlirOperation op) {
  const ExportMemory *source = exportMemory(k, memrefReinterpretCastOpGetSource(op));
  ExportSize offset;
  if (!source)
    return false;
  ExportMemory *memory = exportNewMemory(k, tileOnlyResult(op));
  *memory = (ExportMemory){.base = source->base, .rank = mlirShapedTypeGetRank(tileOnlyResultType(op))};
  if (memory->rank > ExportMaxRank)
    return tileError(op, "has %ld dimensions, expected at most %d", (long)memory->rank, (int)ExportMaxRank);
  if (!mixed(k, op, memrefReinterpretCastOpGetStaticOffsets(op), memrefReinterpretCastOpGetOffsets, &offset) ||
      !mixed(k, op, memrefReinterpretCastOpGetStaticSizes(op), memrefReinterpretCastOpGetSizes, memory->sizes) ||
      !mixed(k, op, memrefReinterpretCastOpGetStaticStrides(op), memrefReinterpretCastOpGetStrides, memory->strides))
    return false;
  if (!offset.isKnown || offset.number)
    memory->base = k->v->offset(&k->b, memory->base, exportSizeValue(k, &offset));
  return true;
}

static bool dimension(ExportKernel *k, MlirOperation op) {
  ExportMemory *memory = exportMemory(k, memrefDimOpGetSource(op));
  int64_t axis;
  if (!memory)
    return false;
  if (!tileConstantIndex(memrefDimOpGetIndex(op), &axis) || axis < 0 || axis >= memory->rank)
    return tileError(op, "asks for a size by a number that is not known");
  MlirValue size = exportSizeValue(k, &memory->sizes[axis]);
  return !mlirValueIsNull(size) && exportSetResult(k, op, size);
}

static bool addressOf(ExportKernel *k, MlirOperation op) {
  const ExportMemory *memory = exportMemory(k, memrefExtractAlignedPointerAsIndexOpGetSource(op));
  MlirType word = exportSized(k, 0, NULL, exportInteger(k, 64));
  return memory && exportSetResult(k, op, k->v->toInteger(&k->b, word, memory->base));
}

// Memory at an address: what its type leaves open are the op's operands.
static bool memoryAt(ExportKernel *k, MlirOperation op) {
  MlirValue address = exportGet(k, tileMemrefAtOpGetAddress(op));
  MlirType type = tileOnlyResultType(op), element = exportStored(k, mlirShapedTypeGetElementType(type));
  int64_t strides[ExportMaxRank], offset, nextSize = 0, nextStride = 0;
  if (mlirValueIsNull(address))
    return false;
  ExportMemory *memory = exportNewMemory(k, tileOnlyResult(op));
  memory->rank = mlirShapedTypeGetRank(type);
  if (memory->rank > ExportMaxRank || mlirTypeIsNull(element) ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) || offset)
    return tileError(op, "makes %s, which has no conversion to %s", tileTypeText(type, (char[128]){0}, 128),
                     k->v->dialect);
  memory->base = k->v->toPointer(&k->b, exportSized(k, 0, NULL, k->v->pointerTo(element)), address);
  for (intptr_t i = 0; i < memory->rank; ++i) {
    bool isOpen = mlirShapedTypeIsDynamicDim(type, i);
    MlirValue value = isOpen ? exportGet(k, tileMemrefAtOpGetSizes(op, nextSize++)) : (MlirValue){NULL};
    if (isOpen && mlirValueIsNull(value))
      return false;
    memory->sizes[i] = (ExportSize){!isOpen, isOpen ? 0 : mlirShapedTypeGetDimSize(type, i), value};
  }
  for (intptr_t i = memory->rank; i-- > 0;) {
    bool isOpen = strides[i] == mlirShapedTypeGetDynamicStrideOrOffset();
    memory->strides[i] = (ExportSize){!isOpen, isOpen ? 0 : strides[i], {NULL}};
    if (isOpen && !tileMemrefAtOpGetNumStrides(op)) // rows behind one another
      memory->strides[i].value = exportCombine(k, ArithOp_MulI, exportSizeValue(k, &memory->strides[i + 1]),
                                               exportSizeValue(k, &memory->sizes[i + 1]));
  }
  for (intptr_t i = 0; tileMemrefAtOpGetNumStrides(op) && i < memory->rank; ++i)
    if (!memory->strides[i].isKnown &&
        mlirValueIsNull(memory->strides[i].value = exportGet(k, tileMemrefAtOpGetStrides(op, nextStride++))))
      return false;
  return true;
}

bool exportElements(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case MemrefOp_Cast:
    return sameMemory(k, tileOnlyResult(op), tileOnlyOperand(op));
  case MemrefOp_ReinterpretCast:
    return reinterpret(k, op);
  case MemrefOp_Dim:
    return dimension(k, op);
  case MemrefOp_ExtractAlignedPointerAsIndex:
    return addressOf(k, op);
  case MemrefOp_Load:
    return loadElement(k, op);
  case MemrefOp_Store:
    return storeElement(k, op);
  default:
    break;
  }
  switch (tileOpKind(op)) {
  case TileOp_Gather:
    *isKnown = mlirAttributeIsNull(tileGatherOpGetAxis(op)); // else a reduction's
    return !*isKnown || gather(k, op);
  case TileOp_Scatter:
    return scatter(k, op);
  case TileOp_AtomicRmw:
    return readModifyWrite(k, op);
  case TileOp_AtomicCas:
    return compareAndSwap(k, op);
  case TileOp_AtomicLoad:
    return atomicLoad(k, op);
  case TileOp_AtomicStore:
    return atomicStore(k, op);
  case TileOp_MemrefAt:
    return memoryAt(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
