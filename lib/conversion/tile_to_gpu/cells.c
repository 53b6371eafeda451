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

GpuCell gpuCellInView(Gpu *g, const View *view, const MlirValue *positions, MlirValue rest) {
  if (view->packing)
    return gpuPackedCell(g, view, positions);
  MlirValue offset = gpuOffset(g, &view->memory, tileViewTypeGetRank(view->type), view->dims, positions);
  MlirType element = view->memory.element;
  return gpuCell(g, gpuElementAt(g, gpuElementAt(g, view->memory.base, offset, element), rest, element), element);
}

//===--- bits -------------------------------------------------------------------------------===//

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
  return gpuBinary(g, ArithOp_ShLI, gpuCast(g, gpuAsInteger(g, value), cell->word, false), cell->shift);
}

// `word` with `value` as its element, as an integer.
static MlirValue wordWith(Gpu *g, const GpuCell *cell, MlirValue word, MlirValue value) {
  if (mlirValueIsNull(cell->shift))
    return gpuAsInteger(g, gpuToStored(g, value, cell->element));
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
  return gpuCellElement(g, cell, gpuCellLoadWord(g, cell, condition), condition, otherwise);
}

MlirValue gpuCellLoadWord(Gpu *g, const GpuCell *cell, MlirValue condition) {
  MlirValue value, none = gpuInteger(g, cell->word, 0);
  gpuLoadWhere(g, condition, cell->word, 1, cell->address, bytesOf(cell), none, &value);
  return value;
}

MlirValue gpuCellElement(Gpu *g, const GpuCell *cell, MlirValue word, MlirValue condition, MlirValue otherwise) {
  return gpuSelect(g, condition, elementIn(g, cell, word), otherwise);
}

// For shared bits: clears the element's, then sets them, as another thread may write the word's other elements.
void gpuCellStore(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue value) {
  if (mlirValueIsNull(cell->shift)) {
    gpuStoreWhere(g, condition, cell->element, 1, &value, cell->address, bytesOf(cell));
    return;
  }
  GpuIf branch = gpuIf(g, condition, 0, NULL);
  MlirValue others = gpuXor(g, maskOf(g, cell), gpuInteger(g, cell->word, -1)), set = shifted(g, cell, value);
  TileWord word = gpuCellWord(cell, gpuRelaxed(g));
  tileBuildAtomicRmw(&g->builder, &word, LlvmAtomicBinOp_And, others);
  tileBuildAtomicRmw(&g->builder, &word, LlvmAtomicBinOp_Or, set);
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

//===--- atomics ----------------------------------------------------------------------------===//

Ordering gpuRelaxed(Gpu *g) {
  return (Ordering){LlvmAtomicOrdering_Monotonic, g->vocabulary->scope(tileString("device"))};
}

TileWord gpuCellWord(const GpuCell *cell, Ordering ordering) {
  MlirType type = mlirTypeIsAFloat(cell->word) ? tileBitsType(cell->word) : cell->word;
  return (TileWord){cell->address, type, bytesOf(cell), ordering.order, ordering.scope};
}

bool gpuCellIsPlain(const GpuCell *cell) {
  unsigned bits = gpuBits(cell->element);
  return mlirValueIsNull(cell->shift) && !gpuIsSmallFloat(cell->element) &&
         (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

typedef struct Change {
  Gpu *g;
  const GpuCell *cell;
  TileUpstream op;
  MlirValue expected, value;
} Change;

// The word that the element's change makes of the word `now`.
static MlirValue changed(TileBuilder *builder, MlirValue now, const void *data) {
  const Change *change = data;
  Gpu *g = change->g;
  TileBuilder around = g->builder;
  g->builder = *builder;
  MlirValue old = elementIn(g, change->cell, now), value = change->value;
  if (mlirValueIsNull(change->expected) && change->op != TileUpstream_None)
    value = gpuBinary(g, change->op, old, value);
  MlirValue wanted = wordWith(g, change->cell, now, value);
  if (!mlirValueIsNull(change->expected))
    wanted =
        gpuSelect(g, gpuCompare(g, ArithCmpI_Eq, gpuAsInteger(g, old), gpuAsInteger(g, change->expected)), wanted, now);
  *builder = g->builder;
  g->builder = around;
  return wanted;
}

MlirValue gpuCellUpdate(Gpu *g, const GpuCell *cell, Ordering ordering, TileUpstream op, MlirValue expected,
                        MlirValue value) {
  TileWord word = gpuCellWord(cell, ordering);
  Change change = {g, cell, op, expected, value};
  return elementIn(g, cell, tileBuildExchangeUntilDone(&g->builder, &word, changed, &change));
}

void gpuCellStoreOneOf(Gpu *g, const GpuCell *cell, MlirValue value) {
  if (!mlirValueIsNull(cell->shift)) {
    gpuCellUpdate(g, cell, gpuRelaxed(g), TileUpstream_None, (MlirValue){NULL}, value);
    return;
  }
  TileWord word = gpuCellWord(cell, gpuRelaxed(g));
  tileBuildAtomicStore(&g->builder, &word, gpuAsInteger(g, gpuToStored(g, value, cell->element)));
}
