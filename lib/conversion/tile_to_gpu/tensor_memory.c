// Tensor memory (tcgen05): a block's columns, the products that add up in them, and loads
// and stores.
// An address is a word, lane << 16 | column. A buffer's offset is column + columns x lane: the first bits of its layout
// walk columns, the last seven walk lanes. One warp allocates the columns of all buffers at once and gives them back at
// the kernel's end. Warp w loads lanes 32 (w mod 4) and up.
// Fences: a product and a load follow what the threads have waited for (after), and a load comes before what they tell
// others (before). Each stands next to its access.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"
#include "lib/support/integer.h"

#include <string.h>

enum {
  Lanes = 128,
  LaneBits = 7,
  WordBytes = 4,
  WordBits = 32,
  HalfBits = 16,
  LeastColumns = 32,
  WarpLaneBits = 5,
  MostLoad = 128
};

static int64_t columnsOf(MlirType type) { return tileBufferBytes(type) / (Lanes * WordBytes); }

bool gpuExpectTensors(Gpu *g, MlirOperation op) {
  int64_t columns;
  MlirStringRef name = tileOpName(op);
  return tileMachineGetInteger(g->machine, "tmem.columns", &columns) ||
         tileError(op, "'%.*s' needs a machine with tensor memory; %s has none", (int)name.length, name.data,
                   tileMachineGetName(g->machine));
}

//===--- allocation ---------------------------------------------------------------------------===//

// Columns of all buffers, a power of two.
static bool countColumns(Gpu *g, int64_t *columns) {
  TileOps allocs = tileCollectOps(g->kernel, tileAllocOpIsA);
  int64_t most = 0, offset = 0;
  for (intptr_t i = 0; i < allocs.count; ++i) {
    MlirType type = tileAllocOpGetResultType(allocs.items[i]);
    if (gpuIsTensorBuffer(type) && tileIntegerOf(allocs.items[i], "offset", &offset))
      most = tessera_max(most, offset / (Lanes * WordBytes) + columnsOf(type));
  }
  tileOpsFree(&allocs);
  for (*columns = LeastColumns; *columns < most;)
    *columns *= 2;
  tileMachineGetInteger(g->machine, "tmem.columns", &offset);
  return *columns <= offset || tileError(g->kernel, "needs %lld columns of tensor memory, expected at most %s's %lld",
                                         (long long)most, tileMachineGetName(g->machine), (long long)offset);
}

static MlirValue isFirstWarp(Gpu *g) {
  MlirValue warp = g->vocabulary->shuffleFrom(&g->builder, gpuShiftRight(g, g->thread, g->laneBits), gpuI32(g, 0));
  return gpuCompare(g, ArithCmpI_Eq, warp, gpuI32(g, 0));
}

static bool allocate(Gpu *g, MlirOperation op) {
  MlirAttribute address = tileAllocOpGetAddress(op);
  if (mlirAttributeIsNull(address))
    return tileError(op, "address: none; tensor memory needs a place in shared memory for its address "
                         "(tile-plan-shared-memory writes it)");
  if (!tileKernelOpIsA(mlirOperationGetParentOperation(op)))
    return gpuRefuse(op, "tensor memory that is made in control flow");
  if (!countColumns(g, &g->tensor.columns))
    return false;
  int64_t place = mlirIntegerAttrGetValueInt(address);
  gpuTakeShared(g, place, WordBytes);
  g->tensor.place = gpuAddress(g, g->shared, gpuI32(g, place));
  GpuIf first = gpuIf(g, isFirstWarp(g), 0, NULL);
  g->vocabulary->engines->tensorAllocate(&g->builder, g->tensor.place, g->tensor.columns);
  gpuEndIf(g, &first, 0, NULL, NULL);
  return true;
}

bool gpuAllocTensor(Gpu *g, MlirOperation op) {
  MlirType type = tileAllocOpGetResultType(op);
  int64_t offset, stages = tileBufferTypeGetStages(type);
  if (!gpuEngines(g, op))
    return false;
  if (!gpuExpectTensors(g, op))
    return false;
  if (!tileIntegerOf(op, "offset", &offset))
    return tileError(op, "has no offset; run tile-plan-shared-memory first");
  unsigned width = tileElementWidth(tileTypeGetElement(type));
  if (width != WordBits && width != HalfBits)
    return gpuRefuse(op, "a buffer in tensor memory of elements other than 16 or 32 bits");
  if (!g->tensor.columns && !allocate(g, op))
    return false;
  Buffer *buffer = gpuRecordNew(g, tileAllocOpGetResult(op), Record_Buffer)->buffer = gpuAllocate(g, sizeof *buffer);
  buffer->type = stages ? tileBufferTypeGetSlot(type) : type;
  buffer->layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  buffer->stages = stages ? stages : 1;
  buffer->stageBytes = tileBufferBytes(type) / buffer->stages;
  buffer->column = offset / (Lanes * WordBytes);
  return true;
}

// Behind the tile.sync that follows the allocation.
void gpuFindTensor(Gpu *g) {
  if (!mlirValueIsNull(g->tensor.address) || g->partition)
    return;
  g->vocabulary->engines->tensorFence(&g->builder, true);
  g->tensor.address = gpuLoad(g, g->i32, g->tensor.place, WordBytes);
}

void gpuGiveBackTensor(Gpu *g) {
  if (mlirValueIsNull(g->tensor.address))
    return;
  GpuIf first = gpuIf(g, isFirstWarp(g), 0, NULL);
  g->vocabulary->engines->tensorGiveBack(&g->builder, g->tensor.address, g->tensor.columns);
  gpuEndIf(g, &first, 0, NULL, NULL);
}

// i32; null after a diagnostic.
static MlirValue addressOf(Gpu *g, MlirOperation op, const Buffer *buffer) {
  if (mlirValueIsNull(g->tensor.address)) {
    tileError(op, "uses tensor memory, and no tile.sync lies between its tile.alloc and here");
    return (MlirValue){NULL};
  }
  MlirValue column = gpuI32(g, buffer->column);
  if (!mlirValueIsNull(buffer->stage))
    column = gpuAdd(g, column, gpuMul(g, buffer->stage, gpuI32(g, buffer->stageBytes / (Lanes * WordBytes))));
  return gpuAdd(g, g->tensor.address, column);
}

//===--- products -----------------------------------------------------------------------------===//

// The column of the sums from this row and column of the tile on; -1: they lie in another way.
static int64_t columnOfSums(const TileLayout *offsets, const TileMachineAtom *atom, int64_t columns, int64_t row,
                            int64_t column) {
  TileLayoutPoint first = {{(uint32_t)row, (uint32_t)column}};
  int64_t begin = tileLayoutApply(offsets, first).at[0];
  for (int64_t i = 0; i < atom->m; ++i)
    for (int64_t j = 0; j < atom->n; j += i ? atom->n - 1 : 1) {
      TileLayoutPoint at = {{(uint32_t)(row + i), (uint32_t)(column + j)}};
      if (tileLayoutApply(offsets, at).at[0] != begin + i * columns + j)
        return -1;
    }
  return begin < columns ? begin : -1;
}

// Columns hold what neighbours along k share a word, lanes the rows.
static bool isPlainLeft(const Buffer *left) {
  int64_t depth = tileTypeGetSize(left->type, 1);
  const TileLayout *layout = &left->layout;
  uint32_t along = tessera_log2((uint64_t)depth), all = along + LaneBits;
  bool is = tessera_is_power_of_two(depth) && !layout->repeatCount && layout->bits[TileLayoutOffset] == all;
  for (uint32_t bit = 0; is && bit < all; ++bit) {
    const uint32_t *step = layout->steps[bit].at;
    is = bit < along ? step[1] == 1u << bit && !step[0] : step[0] == 1u << (bit - along) && !step[1];
  }
  return is;
}

static bool expectLeft(MlirOperation op, const GpuAsyncProduct *product, const Buffer *left) {
  return !left || (tileTypeGetSize(left->type, 0) == Lanes && isPlainLeft(left)) ||
         tileError(op,
                   "lhs does not suit atom \"%s\" in tensor memory: expected %d rows in lanes, and neighbours of a row "
                   "in neighbouring columns",
                   product->name, Lanes);
}

static bool multiplyTiles(Gpu *g, MlirOperation op, GpuAsyncProduct *product, const GpuTensorFactors *factors,
                          MlirValue address, MlirValue left) {
  const TileMachineAtom *atom = product->atom;
  const Buffer *sums = gpuRecord(g, tileMmaAsyncOpGetAccumulator(op))->buffer;
  MlirValue adds = tileMmaAsyncOpGetAdds(op);
  int64_t sizes[] = {tileTypeGetSize(sums->type, 0), tileTypeGetSize(sums->type, 1)};
  TileLayout offsets;
  TileError error;
  if (!tileLayoutRightInverse(&sums->layout, sizes, 2, &offsets, &error))
    return tileError(op, "accumulator: %s", error.text);
  for (int64_t k = 0; k < factors->depth; k += atom->k)
    for (int64_t row = 0; row < sizes[0]; row += atom->m)
      for (int64_t column = 0; column < sizes[1]; column += atom->n) {
        int64_t place = columnOfSums(&offsets, atom, columnsOf(sums->type), row, column);
        if (place < 0)
          return tileError(op,
                           "accumulator does not suit atom \"%s\": expected rows in lanes of tensor memory, and "
                           "neighbours of a row in neighbouring columns",
                           product->name);
        product->address = gpuAdd(g, address, gpuI32(g, place));
        product->adds = k                       ? gpuInteger(g, g->i1, 1)
                        : mlirValueIsNull(adds) ? gpuInteger(g, g->i1, 1)
                                                : gpuScalar(g, adds);
        int64_t leftWords = k * tileElementWidth(product->element[0]) / WordBits;
        product->left = factors->left ? gpuAdd(g, left, gpuI32(g, leftWords)) : left;
        for (int side = !!factors->left; side < 2; ++side)
          product->descriptor[side] = factors->descriptor(g, factors, side, side ? column : row, k);
        if (!g->vocabulary->engines->multiplyAsync(&g->builder, op, product))
          return false;
      }
  return true;
}

// One thread starts them; the barrier is told by the machine.
bool gpuMultiplyInTensor(Gpu *g, MlirOperation op, GpuAsyncProduct *product, const GpuTensorFactors *factors) {
  const TileMachineAtom *atom = product->atom;
  const Buffer *sums = gpuBufferOf(g, op, tileMmaAsyncOpGetAccumulator(op));
  if (!sums)
    return false;
  if (tileTypeGetSize(sums->type, 0) % atom->m || tileTypeGetSize(sums->type, 1) % atom->n || factors->depth % atom->k)
    return tileError(op, "atom \"%s\" does not divide %lld x %lld x %lld", product->name,
                     (long long)tileTypeGetSize(sums->type, 0), (long long)tileTypeGetSize(sums->type, 1),
                     (long long)factors->depth);
  if (!expectLeft(op, product, factors->left))
    return false;
  GpuIf one = gpuIf(g, g->isOneThread ? (MlirValue){NULL} : gpuIsElected(g), 0, NULL);
  MlirValue address = addressOf(g, op, sums);
  if (mlirValueIsNull(address))
    return false;
  MlirValue left = factors->left ? addressOf(g, op, factors->left) : (MlirValue){NULL};
  g->vocabulary->engines->tensorFence(&g->builder, true);
  bool ok = multiplyTiles(g, op, product, factors, address, left) &&
            gpuTellProducts(g, op, tileMmaAsyncOpGetBarrier(op), tileMmaAsyncOpGetUse(op));
  gpuEndIf(g, &one, 0, NULL, NULL);
  return ok;
}

//===--- loads --------------------------------------------------------------------------------===//

// Bits of the registers that walk neighbouring columns from the first one on.
static uint32_t runOf(const TileLayout *offsets) {
  uint32_t run = 0;
  while (run < offsets->bits[TileLayoutReg] && offsets->steps[run].at[0] == 1u << run && (1u << run) < MostLoad)
    ++run;
  return run;
}

// Lanes of a warp are 32 rows, its four warps the 128 rows, and what is left are columns.
static bool suitsLoads(const TileLayout *offsets, uint32_t columns) {
  uint32_t lane = offsets->bits[TileLayoutReg], warp = lane + offsets->bits[TileLayoutLane];
  bool suits =
      offsets->bits[TileLayoutLane] == WarpLaneBits && offsets->bits[TileLayoutWarp] >= LaneBits - WarpLaneBits;
  for (uint32_t bit = 0; suits && bit < LaneBits; ++bit)
    suits = offsets->steps[bit < WarpLaneBits ? lane + bit : warp + bit - WarpLaneBits].at[0] == columns << bit;
  for (uint32_t bit = 0; suits && bit < lane; ++bit)
    suits = offsets->steps[bit].at[0] < columns;
  for (uint32_t bit = LaneBits - WarpLaneBits; suits && bit < offsets->bits[TileLayoutWarp]; ++bit)
    suits = offsets->steps[warp + bit].at[0] < columns;
  return suits;
}

// The lane and the column at which this warp's registers begin.
static MlirValue warpAddress(Gpu *g, const TileLayout *offsets, MlirValue address) {
  uint32_t first = offsets->bits[TileLayoutReg] + offsets->bits[TileLayoutLane];
  MlirValue warp = g->vocabulary->shuffleFrom(&g->builder, gpuShiftRight(g, g->thread, g->laneBits), gpuI32(g, 0));
  MlirValue quarter = gpuAnd(g, warp, Lanes / 32 - 1);
  address = gpuAdd(g, address, gpuShiftLeft(g, quarter, 16 + WarpLaneBits));
  for (uint32_t bit = LaneBits - WarpLaneBits; bit < offsets->bits[TileLayoutWarp]; ++bit) {
    MlirValue isSet = gpuAnd(g, gpuShiftRight(g, warp, bit), 1);
    address = gpuAdd(g, address, gpuMul(g, isSet, gpuI32(g, offsets->steps[first + bit].at[0])));
  }
  return address;
}

// An access of a tile: which word a register is, and where this warp's registers begin.
typedef struct TensorAccess {
  TileLayout words; // of registers that share none
  MlirValue address;
  intptr_t run; // words of one instruction
} TensorAccess;

// Offsets of words instead of elements: neighbouring registers share one. False where they do not.
static bool joinWords(const TileLayout *offsets, unsigned width, TileLayout *words) {
  uint32_t shared = tessera_log2(WordBits / width), at = 0;
  *words = tileLayoutEmpty(offsets->kind);
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t i = 0; i < offsets->bits[dim]; ++i, ++at) {
      TileLayoutPoint step = offsets->steps[at];
      bool isShared = dim == TileLayoutReg && i < shared;
      if (isShared ? step.at[0] != 1u << i : step.at[0] & ((1u << shared) - 1))
        return false;
      step.at[0] >>= shared;
      if (!isShared && !tileLayoutAppendBit(words, dim, step, NULL))
        return false;
    }
  return !offsets->repeatCount;
}

static bool beginAccess(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, const char *what,
                        TensorAccess *access) {
  TileLayout offsets;
  if (!gpuOffsets(op, layout, &buffer->layout, buffer->type, &offsets))
    return false;
  if (g->firstWarp % (Lanes / 32))
    return tileError(op, "%s tensor memory in a partition that begins at warp %lld, expected a multiple of %d", what,
                     (long long)g->firstWarp, Lanes / 32);
  if (!joinWords(&offsets, tileElementWidth(tileTypeGetElement(buffer->type)), &access->words) ||
      !suitsLoads(&access->words, (uint32_t)columnsOf(buffer->type)))
    return tileError(op,
                     "%s tensor memory in a layout that its warps cannot reach: expected 32 rows in the lanes of a "
                     "warp, all 128 in four warps, and columns in registers",
                     what);
  MlirValue address = addressOf(g, op, buffer);
  if (mlirValueIsNull(address))
    return false;
  access->run = 1 << runOf(&access->words);
  access->address = warpAddress(g, &access->words, address);
  g->vocabulary->engines->tensorFence(&g->builder, true);
  return true;
}

static MlirValue wordAddress(Gpu *g, const TensorAccess *access, intptr_t reg) {
  TileLayoutPoint index = {{(uint32_t)reg}};
  return gpuAdd(g, access->address, gpuI32(g, tileLayoutApply(&access->words, index).at[0]));
}

bool gpuLoadTensor(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers) {
  const GpuEngines *engines = g->vocabulary->engines;
  TensorAccess access;
  intptr_t count = gpuRegisters(tileLoadOpGetResultType(op));
  MlirType element = tileTypeGetElement(buffer->type);
  if (tileElementWidth(element) != WordBits)
    return gpuRefuse(op, "a load from tensor memory of elements other than 32 bits");
  if (!beginAccess(g, op, buffer, layout, "loads from", &access))
    return false;
  for (intptr_t reg = 0; reg < count; reg += access.run)
    engines->tensorLoad(&g->builder, wordAddress(g, &access, reg), access.run, registers + reg);
  engines->tensorWait(&g->builder, count, registers);
  engines->tensorFence(&g->builder, false);
  for (intptr_t reg = 0; reg < count && mlirTypeIsAF32(element); ++reg)
    registers[reg] = gpuOp(g, ArithOp_Bitcast, element, registers[reg]);
  return true;
}

// What is stored is there before this thread tells others.
bool gpuStoreTensor(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                    const MlirValue *registers) {
  const GpuEngines *engines = g->vocabulary->engines;
  TensorAccess access;
  MlirType element = tileTypeGetElement(buffer->type);
  unsigned width = tileElementWidth(element);
  intptr_t count = gpuRegisters(tileStoreOpGetValueType(op)), all = count * width / WordBits;
  MlirValue *words = gpuAllocate(g, (size_t)all * sizeof *words);
  if (!beginAccess(g, op, buffer, layout, "stores to", &access))
    return false;
  if (width < WordBits)
    gpuWordsOf(&g->builder, count, registers, width, words);
  for (intptr_t reg = 0; reg < count && width == WordBits; ++reg)
    words[reg] = mlirTypeIsAF32(element) ? gpuOp(g, ArithOp_Bitcast, g->i32, registers[reg]) : registers[reg];
  for (intptr_t reg = 0; reg < all; reg += access.run)
    engines->tensorStore(&g->builder, wordAddress(g, &access, reg), access.run, words + reg);
  engines->tensorWaitStores(&g->builder);
  engines->tensorFence(&g->builder, false);
  return true;
}
