// Elements at computed places: gathers and scatters are tiles of pointers with masks, and so are atomics.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

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
  MlirAttribute isSigned = exportSign(k, true);
  MlirValue last = cudaTileSubIOpBuild(&k->b, size, exportNumber(k, 1));
  MlirValue below = cudaTileMinIOpBuild(&k->b, index, exportSplat(k, last, type), isSigned);
  return cudaTileMaxIOpBuild(&k->b, below, exportFill(k, type, 0), isSigned);
}

static MlirValue isInside(ExportKernel *k, MlirValue index, MlirValue size) {
  MlirType type = mlirValueGetType(index);
  MlirAttribute isSigned = exportSign(k, true);
  MlirValue below = cudaTileCmpIOpBuild(&k->b, index, exportSplat(k, size, type), exportWord(k, "less_than"), isSigned);
  MlirValue least =
      cudaTileCmpIOpBuild(&k->b, index, exportFill(k, type, 0), exportWord(k, "greater_than_or_equal"), isSigned);
  return cudaTileAndIOpBuild(&k->b, below, least);
}

// Whoever made the kernel of pointers alone guarantees that its indices lie inside.
static bool isBare(const ExportSize *size) { return !size->isKnown && mlirValueIsNull(size->value); }

// An index tile for each dimension of a memref.
static bool placesOfMemref(ExportKernel *k, MlirOperation op, MlirValue memref, MlirType tile, intptr_t count,
                           OperandAt at, Outside outside, ExportPlaces *places) {
  ExportMemory *memory = exportMemory(k, memref);
  MlirValue offset = {NULL};
  MlirType wide = exportShaped(tile, exportInteger(k, 64));
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
      places->inside = exportBoth(k, places->inside, isInside(k, index, size));
    bool isDense = memory->strides[i].isKnown && memory->strides[i].number == 1;
    MlirValue term =
        isDense ? index
                : cudaTileMulIOpBuild(&k->b, index, exportSplat(k, exportSizeValue(k, &memory->strides[i]), wide));
    offset = i ? cudaTileAddIOpBuild(&k->b, offset, term) : term;
  }
  MlirType pointers = exportShaped(tile, mlirShapedTypeGetElementType(mlirValueGetType(memory->base)));
  places->pointers = exportSplat(k, memory->base, pointers);
  if (count)
    places->pointers = cudaTileOffsetOpBuild(&k->b, places->pointers, offset);
  return true;
}

// A tile of addresses.
static bool placesOfAddresses(ExportKernel *k, MlirOperation op, MlirValue addresses, MlirType tile,
                              ExportPlaces *places) {
  MlirValue value = exportGet(k, addresses);
  if (mlirValueIsNull(value))
    return false;
  MlirType pointer = cudaTilePointerTypeGet(mlirShapedTypeGetElementType(tile));
  *places = (ExportPlaces){cudaTileIntToPtrOpBuild(&k->b, exportShaped(tile, pointer), value), {NULL}};
  return true;
}

// `trap` is a claim of the kernel's: an assertion.
static void assertInside(ExportKernel *k, MlirValue inside, MlirValue mask) {
  MlirValue holds = inside;
  if (!mlirValueIsNull(mask)) {
    MlirValue yes = exportFill(k, mlirValueGetType(inside), 1);
    holds = cudaTileOrIOpBuild(&k->b, inside, cudaTileXOrIOpBuild(&k->b, mask, yes));
  }
  cudaTileAssertOpBuild(&k->b, holds, exportWord(k, "an index lies outside its memory"));
}

// Where an op on memory, a view or addresses has its elements, with its mask.
static bool placesOf(ExportKernel *k, MlirOperation op, MlirValue memory, MlirType tile, intptr_t count, OperandAt at,
                     Outside outside, MlirValue oldMask, ExportPlaces *places) {
  MlirType type = mlirValueGetType(memory);
  MlirValue mask;
  if (!exportGetOptional(k, oldMask, &mask))
    return false;
  if (tileTypeIsAView(type) && outside == Outside_Clamp)
    return tileError(op, "clamps indices of a view, which has no conversion to cuda_tile");
  bool ok = tileTypeIsAView(type)     ? exportPlacesOfView(k, op, memory, tile, at, places)
            : mlirTypeIsAMemRef(type) ? placesOfMemref(k, op, memory, tile, count, at, outside, places)
            : count == 0              ? placesOfAddresses(k, op, memory, tile, places)
                                      : tileError(op, "takes elements of a tile, which has no conversion to cuda_tile");
  if (!ok)
    return false;
  if (outside == Outside_Trap && !mlirValueIsNull(places->inside))
    assertInside(k, places->inside, mask);
  places->inside = exportBoth(k, places->inside, mask);
  return true;
}

//===--- gathers, scatters --------------------------------------------------------------------===//

// Poison is what a masked load without padding gives.
static MlirValue otherOf(ExportKernel *k, MlirOperation op, MlirType tile, MlirValue given) {
  if (!mlirValueIsNull(given))
    return ubPoisonOpIsA(tileDefiningOp(tileGatherOpGetOther(op))) ? (MlirValue){NULL} : given;
  if (tileTypeIsAView(tileGatherOpGetSourceType(op)))
    return exportPadding(k, tileGatherOpGetSourceType(op), tile);
  bool isFloat = mlirTypeIsAFloat(mlirShapedTypeGetElementType(tile));
  return isFloat ? exportFillFloat(k, tile, 0) : exportFill(k, tile, 0);
}

static bool gather(ExportKernel *k, MlirOperation op) {
  MlirType tile = exportType(op, tileGatherOpGetResultType(op));
  MlirValue other;
  ExportPlaces places;
  if (mlirTypeIsNull(tile) || !exportGetOptional(k, tileGatherOpGetOther(op), &other))
    return false;
  if (!placesOf(k, op, tileGatherOpGetSource(op), tile, tileGatherOpGetNumIndices(op), tileGatherOpGetIndices,
                outsideOf(tileGatherOpGetBounds(op)), tileGatherOpGetMask(op), &places))
    return false;
  return exportSetResult(k, op, exportLoad(k, &places, tile, otherOf(k, op, tile, other)));
}

static bool scatter(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileScatterOpGetValue(op));
  MlirAttribute combine = tileScatterOpGetCombine(op), absent = mlirAttributeGetNull();
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, tileScatterOpGetDestination(op), mlirValueGetType(value), tileScatterOpGetNumIndices(op),
                tileScatterOpGetIndices, outsideOf(tileScatterOpGetBounds(op)), tileScatterOpGetMask(op), &places))
    return false;
  if (mlirAttributeIsNull(combine))
    exportStore(k, &places, value);
  return mlirAttributeIsNull(combine) || !mlirValueIsNull(exportAtomic(k, op, &places, value, combine, absent, absent));
}

//===--- atomics ------------------------------------------------------------------------------===//

static MlirAttribute orderOf(ExportKernel *k, MlirAttribute order) { // tile and cuda_tile have the same words
  return mlirAttributeIsNull(order) ? exportWord(k, "relaxed") : order;
}

static MlirAttribute scopeOf(ExportKernel *k, MlirAttribute scope) {
  return exportWord(k, exportIs(scope, "block") ? "tl_blk" : exportIs(scope, "system") ? "sys" : "device");
}

MlirValue exportAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value,
                       MlirAttribute mode, MlirAttribute order, MlirAttribute scope) {
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
                                  places->inside, (MlirValue){NULL}, orderOf(k, order), scopeOf(k, scope), word);
  return cudaTileAtomicRMWTkoOpGetResult(made);
}

static bool readModifyWrite(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileAtomicRmwOpGetValue(op));
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, tileAtomicRmwOpGetMemory(op), mlirValueGetType(value), tileAtomicRmwOpGetNumIndices(op),
                tileAtomicRmwOpGetIndices, Outside_Trap, tileAtomicRmwOpGetMask(op), &places))
    return false;
  MlirValue old = exportAtomic(k, op, &places, value, tileAtomicRmwOpGetKind(op), tileAtomicRmwOpGetOrder(op),
                               tileAtomicRmwOpGetScope(op));
  return !mlirValueIsNull(old) && exportSetResult(k, op, old);
}

static bool compareAndSwap(ExportKernel *k, MlirOperation op) {
  MlirValue expected = exportGet(k, tileAtomicCasOpGetCompare(op)), value = exportGet(k, tileAtomicCasOpGetValue(op));
  ExportPlaces places;
  if (mlirValueIsNull(expected) || mlirValueIsNull(value))
    return false;
  MlirType type = mlirValueGetType(value);
  if (!placesOf(k, op, tileAtomicCasOpGetMemory(op), type, tileAtomicCasOpGetNumIndices(op), tileAtomicCasOpGetIndices,
                Outside_Never, tileAtomicCasOpGetMask(op), &places))
    return false;
  MlirOperation made = cudaTileAtomicCASTkoOpBuild(
      &k->b, type, cudaTileTokenTypeGet(k->b.context), places.pointers, expected, value, places.inside,
      (MlirValue){NULL}, orderOf(k, tileAtomicCasOpGetOrder(op)), scopeOf(k, tileAtomicCasOpGetScope(op)));
  return exportSetResult(k, op, cudaTileAtomicCASTkoOpGetResult(made));
}

// One element, which others may be writing or reading.
static bool atomicLoad(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(op, tileOnlyResultType(op));
  MlirValue none = {NULL};
  ExportPlaces places;
  if (mlirTypeIsNull(type) || !placesOf(k, op, tileAtomicLoadOpGetMemory(op), type, tileAtomicLoadOpGetNumIndices(op),
                                        tileAtomicLoadOpGetIndices, Outside_Never, none, &places))
    return false;
  MlirOperation made = cudaTileLoadPtrTkoOpCreate(&k->b, type, cudaTileTokenTypeGet(k->b.context), places.pointers,
                                                  none, none, none, tileAtomicLoadOpGetOrder(op),
                                                  scopeOf(k, tileAtomicLoadOpGetScope(op)), mlirAttributeGetNull());
  return exportSetResult(k, op, cudaTileLoadPtrTkoOpGetResult(made));
}

static bool atomicStore(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, tileAtomicStoreOpGetValue(op)), none = {NULL};
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, tileAtomicStoreOpGetMemory(op), mlirValueGetType(value), tileAtomicStoreOpGetNumIndices(op),
                tileAtomicStoreOpGetIndices, Outside_Never, none, &places))
    return false;
  cudaTileStorePtrTkoOpCreate(&k->b, cudaTileTokenTypeGet(k->b.context), places.pointers, value, none, none,
                              tileAtomicStoreOpGetOrder(op), scopeOf(k, tileAtomicStoreOpGetScope(op)),
                              mlirAttributeGetNull());
  return true;
}

//===--- memrefs ------------------------------------------------------------------------------===//

static bool loadElement(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(op, tileOnlyResultType(op));
  MlirValue none = {NULL};
  ExportPlaces places;
  return !mlirTypeIsNull(type) &&
         placesOf(k, op, memrefLoadOpGetMemref(op), type, memrefLoadOpGetNumIndices(op), memrefLoadOpGetIndices,
                  Outside_Never, none, &places) &&
         exportSetResult(k, op, exportLoad(k, &places, type, none));
}

static bool storeElement(ExportKernel *k, MlirOperation op) {
  MlirValue value = exportGet(k, memrefStoreOpGetValue(op)), none = {NULL};
  ExportPlaces places;
  if (mlirValueIsNull(value) ||
      !placesOf(k, op, memrefStoreOpGetMemref(op), mlirValueGetType(value), memrefStoreOpGetNumIndices(op),
                memrefStoreOpGetIndices, Outside_Never, none, &places))
    return false;
  exportStore(k, &places, value);
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
  if (memory->rank > CudaTileMaxRank)
    return tileError(op, "has %ld dimensions, expected at most %d", (long)memory->rank, (int)CudaTileMaxRank);
  if (!mixed(k, op, memrefReinterpretCastOpGetStaticOffsets(op), memrefReinterpretCastOpGetOffsets, &offset) ||
      !mixed(k, op, memrefReinterpretCastOpGetStaticSizes(op), memrefReinterpretCastOpGetSizes, memory->sizes) ||
      !mixed(k, op, memrefReinterpretCastOpGetStaticStrides(op), memrefReinterpretCastOpGetStrides, memory->strides))
    return false;
  if (!offset.isKnown || offset.number)
    memory->base = cudaTileOffsetOpBuild(&k->b, memory->base, exportSizeValue(k, &offset));
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
  MlirType word = exportSized(0, NULL, exportInteger(k, 64));
  return memory && exportSetResult(k, op, cudaTilePtrToIntOpBuild(&k->b, word, memory->base));
}

// Memory at an address: what its type leaves open are the op's operands.
static bool memoryAt(ExportKernel *k, MlirOperation op) {
  MlirValue address = exportGet(k, tileMemrefAtOpGetAddress(op));
  MlirType type = tileOnlyResultType(op), element = mlirShapedTypeGetElementType(type);
  int64_t strides[CudaTileMaxRank], offset, nextSize = 0, nextStride = 0;
  if (mlirValueIsNull(address))
    return false;
  ExportMemory *memory = exportNewMemory(k, tileOnlyResult(op));
  memory->rank = mlirShapedTypeGetRank(type);
  if (memory->rank > CudaTileMaxRank || cudaTileSimpleTag(element) < 0 ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) || offset)
    return tileError(op, "makes %s, which has no conversion to cuda_tile", tileTypeText(type, (char[128]){0}, 128));
  memory->base = cudaTileIntToPtrOpBuild(&k->b, exportSized(0, NULL, cudaTilePointerTypeGet(element)), address);
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
      memory->strides[i].value = cudaTileMulIOpBuild(&k->b, exportSizeValue(k, &memory->strides[i + 1]),
                                                     exportSizeValue(k, &memory->sizes[i + 1]));
  }
  for (intptr_t i = 0; tileMemrefAtOpGetNumStrides(op) && i < memory->rank; ++i)
    if (!memory->strides[i].isKnown &&
        mlirValueIsNull(memory->strides[i].value = exportGet(k, tileMemrefAtOpGetStrides(op, nextStride++))))
      return false;
  return true;
}

bool exportElements(ExportKernel *k, MlirOperation op, bool *isKnown) {
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
