// Atomics, with their orders and scopes, and what a store or scatter combines. A tile's elements are taken by one of
// the threads that hold them, which alone has the old values: the kernel's own stores and loads bring them to the
// others. Orders are the program's, not a thread's: what releases waits for all threads' writes, what acquires holds
// them all back.
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/places.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- one element --------------------------------------------------------------------------===//

static MlirValue update(Gpu *g, const TileAtomicKind *kind, const GpuCell *cell, MlirValue value, Ordering ordering) {
  bool isFloat = mlirTypeIsAFloat(cell->element);
  if (!gpuCellIsPlain(cell))
    return gpuCellUpdate(g, cell, ordering, isFloat ? kind->floatOp : kind->integerOp, (MlirValue){NULL}, value);
  TileWord word = gpuCellWord(cell, ordering);
  MlirValue old = tileBuildAtomicRmw(&g->builder, &word, isFloat ? kind->onFloats : kind->onIntegers,
                                     gpuToStored(g, value, cell->element));
  return gpuFromStored(g, old, cell->element);
}

bool gpuCombineInMemory(Gpu *g, MlirOperation op, const GpuCell *cell, MlirValue value) {
  const TileAtomicKind *kind = tileAtomicKind(mlirStringAttrGetValue(tileOpAttribute(op, "combine")), cell->element);
  if (!kind)
    return gpuRefuse(op, "this combination on this type");
  update(g, kind, cell, value, gpuRelaxed(g));
  return true;
}

// Each element that exists, by one of the threads that hold it.
bool gpuStoreCombining(Gpu *g, MlirOperation op, const Window *window, const TileLayout *layout,
                       const MlirValue *registers) {
  const Map *map = gpuMap(g, layout, window->rank);
  bool ok = true;
  GpuIf owner = gpuIf(g, gpuIsOwner(g, layout), 0, NULL);
  for (intptr_t reg = 0; ok && reg < (intptr_t)tileLayoutDimSize(layout, TileLayoutReg); ++reg) {
    if (tileIsFreeRegister(layout, reg))
      continue;
    GpuIf branch = gpuIf(g, gpuWindowMask(g, window, map, reg), 0, NULL);
    GpuCell cell = gpuWindowCell(g, window, map, reg);
    ok = gpuCombineInMemory(g, op, &cell, registers[reg]);
    gpuEndIf(g, &branch, 0, NULL, NULL);
  }
  gpuEndIf(g, &owner, 0, NULL, NULL);
  return ok;
}

//===--- orders -----------------------------------------------------------------------------------===//

static Ordering orderingOf(Gpu *g, MlirOperation op) {
  return (Ordering){tileAtomicOrdering(tileKeywordOf(op, "order")), g->vocabulary->scope(tileKeywordOf(op, "scope"))};
}

//===--- rmw and cas ----------------------------------------------------------------------------------===//

static MlirValue asBits(Gpu *g, MlirValue value, MlirType element) {
  return gpuAsInteger(g, gpuToStored(g, value, element));
}

// Compared bit for bit, so on integers.
static MlirValue compareAndSwap(Gpu *g, const GpuCell *cell, MlirValue expected, MlirValue value, Ordering ordering) {
  if (!gpuCellIsPlain(cell))
    return gpuCellUpdate(g, cell, ordering, TileUpstream_None, expected, value);
  TileWord word = gpuCellWord(cell, ordering);
  MlirValue old = tileBuildCompareAndSwap(&g->builder, &word, asBits(g, expected, cell->element),
                                          asBits(g, value, cell->element), NULL);
  if (mlirTypeIsAFloat(cell->word))
    old = gpuOp(g, ArithOp_Bitcast, cell->word, old);
  return gpuFromStored(g, old, cell->element);
}

// kind: null for compare and swap.
static MlirValue exchange(Gpu *g, const GpuReach *reach, intptr_t reg, const GpuCell *cell, Ordering ordering,
                          const TileAtomicKind *kind) {
  MlirValue value = gpuRegisterOf(g, tileOpOperand(reach->op, "value"), reg);
  if (kind)
    return update(g, kind, cell, value, ordering);
  return compareAndSwap(g, cell, gpuRegisterOf(g, tileOpOperand(reach->op, "compare"), reg), value, ordering);
}

// By the owners; a masked element leaves an old value that nobody may look at: 0.
static void exchangeAll(Gpu *g, const GpuReach *reach, Ordering ordering, const TileAtomicKind *kind,
                        MlirValue *registers) {
  MlirValue mask = tileOpOperand(reach->op, "mask");
  MlirType held = gpuHeldType(g, reach->element);
  MlirValue owner = gpuIsOwnerOf(g, reach->type);
  for (intptr_t reg = 0; reg < gpuRegisters(reach->type); ++reg) {
    registers[reg] = gpuZero(g, reach->element);
    if (tileIsFreeRegister(&reach->layout, reg))
      continue;
    GpuPlace place = gpuPlaceOf(g, reach, reg);
    MlirValue wanted = gpuBoth(g, owner, gpuIsWanted(g, reach, mask, reg));
    wanted = gpuBoth(g, wanted, place.inside);
    GpuIf branch = gpuIf(g, wanted, 1, &held);
    MlirValue none = registers[reg];
    registers[reg] = exchange(g, reach, reg, &place.cell, ordering, kind);
    gpuElse(g, &branch, 1, &registers[reg]);
    gpuEndIf(g, &branch, 1, &none, &registers[reg]);
  }
}

static bool lowerAtomic(Gpu *g, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  bool isCas = tileAtomicCasOpIsA(op);
  GpuReach reach;
  if (!gpuReachOf(g, op, "memory", mlirValueGetType(result), &reach))
    return false;
  const TileAtomicKind *kind = isCas ? NULL : tileAtomicKind(tileKeywordOf(op, "kind"), reach.element);
  if (!isCas && !kind)
    return gpuRefuse(op, "this kind on this type");
  Ordering ordering = orderingOf(g, op);
  MlirValue *registers = gpuRecordTile(g, result);
  exchangeAll(g, &reach, ordering, kind, registers);
  return !tileSpreadsResult(&g->exchange, op) || gpuMustExchange(op);
}

//===--- load and store -------------------------------------------------------------------------------===//

// The element of the memref, as the op accesses it.
static TileWord wordOf(Gpu *g, MlirOperation op, MlirType *element) {
  const Memory *memory = gpuRecord(g, tileOpOperand(op, "memory"))->memory;
  intptr_t firstIndex, count;
  Ordering ordering = orderingOf(g, op);
  *element = memory->element;
  tileOpOperands(op, "indices", &firstIndex, &count);
  return (TileWord){gpuElementAddress(g, memory, op, firstIndex), gpuStoredType(g, *element), tileStoredBytes(*element),
                    ordering.order, ordering.scope};
}

static bool lowerAtomicLoad(Gpu *g, MlirOperation op) {
  MlirType element;
  TileWord word = wordOf(g, op, &element);
  // One thread's look is the program's: all take the same way afterwards.
  MlirType held = gpuHeldType(g, element);
  GpuIf first = gpuIf(g, gpuIsElected(g), 1, &held);
  MlirValue value = gpuFromStored(g, tileBuildAtomicLoad(&g->builder, &word), element), none;
  gpuElse(g, &first, 1, &value);
  none = gpuZero(g, element);
  gpuEndIf(g, &first, 1, &none, &value);
  gpuRecordScalar(g, tileAtomicLoadOpGetResult(op), value);
  return !tileSpreadsResult(&g->exchange, op) || gpuMustExchange(op);
}

// One thread stores or waits. The barrier behind a wait holds the others back.
static bool lowerAtomicStore(Gpu *g, MlirOperation op) {
  MlirType element;
  bool isStore = tileAtomicStoreOpIsA(op);
  GpuIf first = gpuIf(g, gpuIsElected(g), 0, NULL);
  TileWord word = wordOf(g, op, &element);
  MlirValue value = isStore ? tileAtomicStoreOpGetValue(op) : tileAtomicWaitOpGetLeast(op);
  (isStore ? tileBuildAtomicStore : tileBuildAtomicWait)(&g->builder, &word,
                                                         gpuToStored(g, gpuScalar(g, value), element));
  gpuEndIf(g, &first, 0, NULL, NULL);
  return true;
}

const GpuRow gpuAtomicRows[] = {{TileOp_AtomicRmw, lowerAtomic},       {TileOp_AtomicCas, lowerAtomic},
                                {TileOp_AtomicLoad, lowerAtomicLoad},  {TileOp_AtomicStore, lowerAtomicStore},
                                {TileOp_AtomicWait, lowerAtomicStore}, {.lower = NULL}};
