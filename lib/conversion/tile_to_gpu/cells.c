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
  return mlirTypeIsAFloat(type) ? gpuOp(g, "arith.bitcast", mlirIntegerTypeGet(g->context, gpuBits(type)), value)
                                : value;
}

static MlirType integerOf(Gpu *g, MlirType type) {
  return mlirTypeIsAFloat(type) ? mlirIntegerTypeGet(g->context, gpuBits(type)) : type;
}

// The element in a word of memory. Memory of i1 may hold any byte, as LLVM has it.
static MlirValue elementIn(Gpu *g, const GpuCell *cell, MlirValue word) {
  if (!cell->shift.ptr) {
    if (mlirTypeIsAFloat(cell->word) && !mlirTypeIsAFloat(mlirValueGetType(word)))
      word = gpuOp(g, "arith.bitcast", cell->word, word);
    return gpuFromStored(g, word, cell->element);
  }
  MlirType held = gpuHeldType(g, cell->element), narrow = mlirIntegerTypeGet(g->context, gpuBits(held));
  MlirValue bits = gpuCast(g, gpuBinary(g, "arith.shrui", word, cell->shift), narrow, false);
  return mlirTypeIsAFloat(held) ? gpuOp(g, "arith.bitcast", held, bits) : bits;
}

static MlirValue maskOf(Gpu *g, const GpuCell *cell) {
  unsigned width = gpuBits(cell->element);
  MlirValue ones = gpuInteger(g, cell->word, (int64_t)(UINT64_MAX >> (64 - width)));
  return gpuBinary(g, "arith.shli", ones, cell->shift);
}

static MlirValue shifted(Gpu *g, const GpuCell *cell, MlirValue value) {
  return gpuBinary(g, "arith.shli", gpuCast(g, gpuCellBits(g, value), cell->word, false), cell->shift);
}

// `word` with `value` as its element, as an integer.
static MlirValue wordWith(Gpu *g, const GpuCell *cell, MlirValue word, MlirValue value) {
  if (!cell->shift.ptr)
    return gpuCellBits(g, gpuToStored(g, value, cell->element));
  MlirValue others = gpuXor(g, maskOf(g, cell), gpuInteger(g, cell->word, -1));
  return gpuBinary(g, "arith.ori", gpuBinary(g, "arith.andi", word, others), shifted(g, cell, value));
}

static int64_t bytesOf(const GpuCell *cell) { return tileStoredBytes(cell->word); }

//===--- loads and stores -------------------------------------------------------------------===//

MlirValue gpuCellLoad(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue otherwise) {
  MlirValue value;
  if (!cell->shift.ptr) {
    gpuLoadWhere(g, condition, cell->element, 1, cell->address, bytesOf(cell), otherwise, &value);
    return value;
  }
  MlirValue none = gpuInteger(g, cell->word, 0);
  gpuLoadWhere(g, condition, cell->word, 1, cell->address, bytesOf(cell), none, &value);
  return gpuSelect(g, condition, elementIn(g, cell, value), otherwise);
}

enum { BinAnd = 3, BinOr = 5 };

// Of shared bits: clears the element's, then sets them, as another thread may write the word's other elements.
void gpuCellStore(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue value) {
  if (!cell->shift.ptr) {
    gpuStoreWhere(g, condition, cell->element, 1, &value, cell->address, bytesOf(cell));
    return;
  }
  GpuIf branch = gpuIf(g, condition, 0, NULL);
  MlirValue others = gpuXor(g, maskOf(g, cell), gpuInteger(g, cell->word, -1)), set = shifted(g, cell, value);
  gpuAtomicOp(g, BinAnd, cell->address, others, bytesOf(cell), gpuRelaxed(g));
  gpuAtomicOp(g, BinOr, cell->address, set, bytesOf(cell), gpuRelaxed(g));
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

//===--- atomics ----------------------------------------------------------------------------===//

Ordering gpuRelaxed(Gpu *g) { return (Ordering){OrderRelaxed, g->vocabulary->scope(tileString("device"))}; }

MlirAttribute gpuScopeAttribute(Gpu *g, Ordering ordering) {
  return *ordering.scope ? mlirStringAttrGet(g->context, tileString(ordering.scope)) : (MlirAttribute){NULL};
}

MlirValue gpuAtomicOp(Gpu *g, int binary, MlirValue address, MlirValue word, int64_t bytes, Ordering ordering) {
  TileAttributeEntry attributes[] = {{"bin_op", mlirIntegerAttrGet(g->i64, binary)},
                                     {"ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
                                     {"syncscope", gpuScopeAttribute(g, ordering)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, bytes)},
                                     {NULL}};
  MlirValue operands[] = {address, word};
  return tileBuildValue(&g->builder, "llvm.atomicrmw", mlirValueGetType(word), 2, operands, attributes);
}

static MlirValue field(Gpu *g, MlirValue pair, int64_t position, MlirType type) {
  TileAttributeEntry attributes[] = {{"position", mlirDenseI64ArrayGet(g->context, 1, &position)}, {NULL}};
  return tileBuildValue(&g->builder, "llvm.extractvalue", type, 1, &pair, attributes);
}

MlirValue gpuCompareAndSwap(Gpu *g, MlirValue address, MlirValue expected, MlirValue wanted, int64_t bytes,
                            Ordering ordering, MlirValue *isSwapped) {
  MlirValue operands[] = {address, expected, wanted};
  MlirType type = mlirValueGetType(expected), fields[] = {type, g->i1};
  MlirType pair = mlirLLVMStructTypeLiteralGet(g->context, 2, fields, false);
  bool acquires = ordering.order == OrderAcquire || ordering.order == OrderAcquireRelease;
  TileAttributeEntry attributes[] = {
      {"success_ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
      {"failure_ordering", mlirIntegerAttrGet(g->i64, acquires ? OrderAcquire : OrderRelaxed)},
      {"syncscope", gpuScopeAttribute(g, ordering)},
      {"alignment", mlirIntegerAttrGet(g->i64, bytes)},
      {NULL}};
  MlirValue both = tileBuildValue(&g->builder, "llvm.cmpxchg", pair, 3, operands, attributes);
  if (isSwapped)
    *isSwapped = field(g, both, 1, g->i1);
  return field(g, both, 0, type);
}

bool gpuCellIsPlain(const GpuCell *cell) {
  unsigned bits = gpuBits(cell->element);
  return !cell->shift.ptr && !gpuIsSmallFloat(cell->element) && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

// The word that the element's change makes of the word `now`.
static MlirValue changed(Gpu *g, const GpuCell *cell, const char *op, MlirValue expected, MlirValue value,
                         MlirValue now) {
  MlirValue old = elementIn(g, cell, now);
  if (expected.ptr) {
    MlirValue isSame = gpuCompare(g, Compare_Equal, gpuCellBits(g, old), gpuCellBits(g, expected));
    return gpuSelect(g, isSame, wordWith(g, cell, now, value), now);
  }
  return wordWith(g, cell, now, op ? gpuBinary(g, op, old, value) : value);
}

// The first look is an exchange of 0 for 0: an atomic read of the device's memory.
MlirValue gpuCellUpdate(Gpu *g, const GpuCell *cell, Ordering ordering, const char *op, MlirValue expected,
                        MlirValue value) {
  MlirType word = integerOf(g, cell->word);
  MlirValue zero = gpuInteger(g, word, 0), look, again, isSwapped;
  look = gpuCompareAndSwap(g, cell->address, zero, zero, bytesOf(cell), gpuRelaxed(g), NULL);
  MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock blocks[2];
  for (int i = 0; i < 2; ++i) {
    blocks[i] = mlirBlockCreate(1, &word, &g->builder.location);
    mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
  }
  MlirOperation loop = tileBuild(&g->builder, "scf.while", 1, &look, 1, &word, NULL, 2, regions);
  TileBuilder after = g->builder;
  g->builder = tileBuilderAtEnd(blocks[0], after.location);
  MlirValue now = mlirBlockGetArgument(blocks[0], 0), wanted = changed(g, cell, op, expected, value, now);
  MlirValue seen = gpuCompareAndSwap(g, cell->address, now, wanted, bytesOf(cell), ordering, &isSwapped);
  again = gpuNot(g, isSwapped);
  tileBuild(&g->builder, "scf.condition", 2, (MlirValue[]){again, seen}, 0, NULL, NULL, 0, NULL);
  g->builder = tileBuilderAtEnd(blocks[1], after.location);
  seen = mlirBlockGetArgument(blocks[1], 0);
  tileBuildYield(&g->builder, 1, &seen);
  g->builder = after;
  return elementIn(g, cell, mlirOperationGetResult(loop, 0));
}

void gpuCellStoreOneOf(Gpu *g, const GpuCell *cell, MlirValue value) {
  if (cell->shift.ptr) {
    gpuCellUpdate(g, cell, gpuRelaxed(g), NULL, (MlirValue){NULL}, value);
    return;
  }
  MlirValue operands[] = {gpuCellBits(g, gpuToStored(g, value, cell->element)), cell->address};
  TileAttributeEntry attributes[] = {{"ordering", mlirIntegerAttrGet(g->i64, OrderRelaxed)},
                                     {"syncscope", gpuScopeAttribute(g, gpuRelaxed(g))},
                                     {"alignment", mlirIntegerAttrGet(g->i64, bytesOf(cell))},
                                     {NULL}};
  tileBuild(&g->builder, "llvm.store", 2, operands, 0, NULL, attributes, 0, NULL);
}
