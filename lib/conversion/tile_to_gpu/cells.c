// Elements in memory, one by one: see cells.h. What no instruction updates (narrow floats, elements of odd widths, bits
// of a word) is updated by compare-and-swap of the word around it, until no other thread came between.
#include "lib/conversion/tile_to_gpu/cells.h"
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

//===--- where ------------------------------------------------------------------------------===//

GpuCell gpuCell(Gpu *g, MlirValue address, MlirType element) {
  return (GpuCell){.address = address, .element = element, .word = gpuStoredType(g, element)};
}

GpuCell gpuCellInView(Gpu *g, const View *view, const MlirValue *positions) {
  if (view->packing)
    return gpuPackedCell(g, view, positions);
  TileBuilder *builder = &g->builder;
  MlirValue offset = tileBuildIndex(builder, 0);
  for (intptr_t axis = 0; axis < tileViewTypeGetRank(view->type); ++axis)
    offset =
        tileBuildAdd(builder, offset, tileBuildMul(builder, positions[axis], view->memory.strides[view->dims[axis]]));
  MlirValue bytes = tileBuildIndex(builder, tileStoredBytes(view->memory.element));
  return gpuCell(g, gpuAddress(g, view->memory.base, tileBuildMul(builder, offset, bytes)), view->memory.element);
}

//===--- bits -------------------------------------------------------------------------------===//

MlirValue gpuCellBits(Gpu *g, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAIndex(type))
    return gpuCast(g, value, g->i64, true);
  return mlirTypeIsAFloat(type) ? gpuOp(g, ArithOp_Bitcast, mlirIntegerTypeGet(g->context, gpuBits(type)), value)
                                : value;
}

static MlirType integerOf(Gpu *g, MlirType type) {
  return mlirTypeIsAFloat(type) ? mlirIntegerTypeGet(g->context, gpuBits(type)) : type;
}

// The element in a word of memory. Memory of i1 may hold any byte, as LLVM has it.
static MlirValue elementIn(Gpu *g, const GpuCell *cell, MlirValue word) {
  if (mlirValueIsNull(cell->shift)) {
    if (mlirTypeIsAFloat(cell->word) && !mlirTypeIsAFloat(mlirValueGetType(word)))
      word = gpuOp(g, ArithOp_Bitcast, cell->word, word);
    return gpuFromStored(g, word, cell->element);
  }
  MlirType held = gpuHeldType(g, cell->element), narrow = mlirIntegerTypeGet(g->context, gpuBits(held));
  MlirValue bits = gpuCast(g, gpuBinary(g, ArithOp_ShRUI, word, cell->shift), narrow, false);
  return mlirTypeIsAFloat(held) ? gpuOp(g, ArithOp_Bitcast, held, bits) : bits;
}

static MlirValue maskOf(Gpu *g, const GpuCell *cell) {
  unsigned width = gpuBits(cell->element);
  MlirValue ones = gpuInteger(g, cell->word, (int64_t)(UINT64_MAX >> (64 - width)));
  return gpuBinary(g, ArithOp_ShLI, ones, cell->shift);
}

static MlirValue shifted(Gpu *g, const GpuCell *cell, MlirValue value) {
  return gpuBinary(g, ArithOp_ShLI, gpuCast(g, gpuCellBits(g, value), cell->word, false), cell->shift);
}

// `word` with `value` as its element, as an integer.
static MlirValue wordWith(Gpu *g, const GpuCell *cell, MlirValue word, MlirValue value) {
  if (mlirValueIsNull(cell->shift))
    return gpuCellBits(g, gpuToStored(g, value, cell->element));
  MlirValue others = gpuXor(g, maskOf(g, cell), gpuInteger(g, cell->word, -1));
  return gpuBinary(g, ArithOp_OrI, gpuBinary(g, ArithOp_AndI, word, others), shifted(g, cell, value));
}

static int64_t bytesOf(const GpuCell *cell) { return tileStoredBytes(cell->word); }

//===--- loads and stores -------------------------------------------------------------------===//

MlirValue gpuCellLoad(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue otherwise) {
  MlirValue value;
  if (mlirValueIsNull(cell->shift)) {
    gpuLoadWhere(g, condition, cell->element, 1, cell->address, bytesOf(cell), otherwise, &value);
    return value;
  }
  MlirValue none = gpuInteger(g, cell->word, 0);
  gpuLoadWhere(g, condition, cell->word, 1, cell->address, bytesOf(cell), none, &value);
  return gpuSelect(g, condition, elementIn(g, cell, value), otherwise);
}

// For shared bits: clears the element's, then sets them, as another thread may write the word's other elements.
void gpuCellStore(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue value) {
  if (mlirValueIsNull(cell->shift)) {
    gpuStoreWhere(g, condition, cell->element, 1, &value, cell->address, bytesOf(cell));
    return;
  }
  GpuIf branch = gpuIf(g, condition, 0, NULL);
  MlirValue others = gpuXor(g, maskOf(g, cell), gpuInteger(g, cell->word, -1)), set = shifted(g, cell, value);
  gpuAtomicOp(g, LlvmAtomicBinOp_And, cell->address, others, bytesOf(cell), gpuRelaxed(g));
  gpuAtomicOp(g, LlvmAtomicBinOp_Or, cell->address, set, bytesOf(cell), gpuRelaxed(g));
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

//===--- atomics ----------------------------------------------------------------------------===//

Ordering gpuRelaxed(Gpu *g) {
  return (Ordering){LlvmAtomicOrdering_Monotonic, g->vocabulary->scope(tileString("device"))};
}

static MlirAttribute scopeOf(Gpu *g, Ordering ordering) {
  return *ordering.scope ? mlirStringAttrGet(g->context, tileString(ordering.scope)) : (MlirAttribute){NULL};
}

// Bytes 0: the type's own.
static MlirAttribute alignmentOf(Gpu *g, int64_t bytes) {
  return bytes ? mlirIntegerAttrGet(g->i64, bytes) : (MlirAttribute){NULL};
}

MlirValue gpuAtomicLoad(Gpu *g, MlirType type, MlirValue address, int64_t bytes, Ordering ordering) {
  MlirValue value = llvmLoadOpBuild(&g->builder, type, address);
  MlirOperation load = mlirOpResultGetOwner(value);
  llvmLoadOpSetOrdering(load, mlirIntegerAttrGet(g->i64, ordering.order));
  llvmLoadOpSetSyncscope(load, scopeOf(g, ordering));
  llvmLoadOpSetAlignment(load, alignmentOf(g, bytes));
  return value;
}

void gpuAtomicStore(Gpu *g, MlirValue value, MlirValue address, int64_t bytes, Ordering ordering) {
  MlirOperation store = llvmStoreOpBuild(&g->builder, value, address);
  llvmStoreOpSetOrdering(store, mlirIntegerAttrGet(g->i64, ordering.order));
  llvmStoreOpSetSyncscope(store, scopeOf(g, ordering));
  llvmStoreOpSetAlignment(store, alignmentOf(g, bytes));
}

MlirValue gpuAtomicOp(Gpu *g, LlvmAtomicBinOp binary, MlirValue address, MlirValue word, int64_t bytes,
                      Ordering ordering) {
  MlirValue old = llvmAtomicRMWOpBuild(&g->builder, address, word, binary, ordering.order);
  MlirOperation op = mlirOpResultGetOwner(old);
  llvmAtomicRMWOpSetSyncscope(op, scopeOf(g, ordering));
  llvmAtomicRMWOpSetAlignment(op, alignmentOf(g, bytes));
  return old;
}

static MlirValue field(Gpu *g, MlirValue pair, int64_t position, MlirType type) {
  return llvmExtractValueOpBuild(&g->builder, type, pair, mlirDenseI64ArrayGet(g->context, 1, &position));
}

MlirValue gpuCompareAndSwap(Gpu *g, MlirValue address, MlirValue expected, MlirValue wanted, int64_t bytes,
                            Ordering ordering, MlirValue *isSwapped) {
  bool acquires = ordering.order == LlvmAtomicOrdering_Acquire || ordering.order == LlvmAtomicOrdering_AcqRel;
  MlirValue both = llvmAtomicCmpXchgOpBuild(&g->builder, address, expected, wanted, ordering.order,
                                            acquires ? LlvmAtomicOrdering_Acquire : LlvmAtomicOrdering_Monotonic);
  MlirOperation op = mlirOpResultGetOwner(both);
  llvmAtomicCmpXchgOpSetSyncscope(op, scopeOf(g, ordering));
  llvmAtomicCmpXchgOpSetAlignment(op, alignmentOf(g, bytes));
  if (isSwapped)
    *isSwapped = field(g, both, 1, g->i1);
  return field(g, both, 0, mlirValueGetType(expected));
}

bool gpuCellIsPlain(const GpuCell *cell) {
  unsigned bits = gpuBits(cell->element);
  return mlirValueIsNull(cell->shift) && !gpuIsSmallFloat(cell->element) &&
         (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

// The word that the element's change makes of the word `now`.
static MlirValue changed(Gpu *g, const GpuCell *cell, TileUpstream op, MlirValue expected, MlirValue value,
                         MlirValue now) {
  MlirValue old = elementIn(g, cell, now);
  if (!mlirValueIsNull(expected)) {
    MlirValue isSame = gpuCompare(g, ArithCmpI_Eq, gpuCellBits(g, old), gpuCellBits(g, expected));
    return gpuSelect(g, isSame, wordWith(g, cell, now, value), now);
  }
  return wordWith(g, cell, now, op != TileUpstream_None ? gpuBinary(g, op, old, value) : value);
}

// The first look is an exchange of 0 for 0: an atomic read of the device's memory.
MlirValue gpuCellUpdate(Gpu *g, const GpuCell *cell, Ordering ordering, TileUpstream op, MlirValue expected,
                        MlirValue value) {
  MlirType word = integerOf(g, cell->word);
  MlirValue zero = gpuInteger(g, word, 0), look, again, isSwapped;
  look = gpuCompareAndSwap(g, cell->address, zero, zero, bytesOf(cell), gpuRelaxed(g), NULL);
  MlirBlock blocks[2];
  MlirRegion regions[2];
  for (int i = 0; i < 2; ++i)
    regions[i] = gpuRegion(g, 1, &word, &blocks[i]);
  MlirOperation loop = scfWhileOpBuild(&g->builder, 1, &word, 1, &look, regions[0], regions[1]);
  TileBuilder after = g->builder;
  g->builder = tileBuilderAtEnd(blocks[0], after.location);
  MlirValue now = mlirBlockGetArgument(blocks[0], 0), wanted = changed(g, cell, op, expected, value, now);
  MlirValue seen = gpuCompareAndSwap(g, cell->address, now, wanted, bytesOf(cell), ordering, &isSwapped);
  again = gpuNot(g, isSwapped);
  scfConditionOpBuild(&g->builder, again, 1, &seen);
  g->builder = tileBuilderAtEnd(blocks[1], after.location);
  seen = mlirBlockGetArgument(blocks[1], 0);
  tileBuildYield(&g->builder, 1, &seen);
  g->builder = after;
  return elementIn(g, cell, tileOnlyResult(loop));
}

void gpuCellStoreOneOf(Gpu *g, const GpuCell *cell, MlirValue value) {
  if (!mlirValueIsNull(cell->shift)) {
    gpuCellUpdate(g, cell, gpuRelaxed(g), TileUpstream_None, (MlirValue){NULL}, value);
    return;
  }
  MlirValue bits = gpuCellBits(g, gpuToStored(g, value, cell->element));
  gpuAtomicStore(g, bits, cell->address, bytesOf(cell), gpuRelaxed(g));
}
