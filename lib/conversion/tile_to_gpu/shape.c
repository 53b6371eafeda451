// Ops that move elements: by renaming registers; a conversion of layouts also by the plan of lib/layout/convert.h,
// which shuffles words between lanes. What goes further is stores and loads already (tile-exchange-in-shared-memory).
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- moves --------------------------------------------------------------------------------===//

static void renameAll(Gpu *g, MlirValue result, const MlirValue *in, const intptr_t *table) {
  MlirValue *out = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    out[reg] = in[table[reg]];
}

bool gpuMustExchange(MlirOperation op) {
  return tileError(op, "moves elements between threads, which tile-exchange-in-shared-memory writes as stores and "
                       "loads; run this pass before tile-insert-barriers");
}

const MlirValue *gpuTileLike(Gpu *g, MlirOperation op, MlirValue value, MlirType type) {
  TileLayout layout = gpuLayoutOf(mlirValueGetType(value)), wanted = gpuLayoutOf(type);
  const MlirValue *registers = gpuTile(g, value);
  if (tileLayoutEquals(&layout, &wanted))
    return registers;
  if (!g->hasFailed)
    g->hasFailed = !gpuMustExchange(op);
  MlirValue *any = gpuAllocate(g, (size_t)gpuRegisters(type) * sizeof *any);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg)
    any[reg] = registers[0];
  return any;
}

// Registers of the result from those of the only tile.
static bool moveTile(Gpu *g, MlirOperation op) {
  const intptr_t *table = gpuMoves(g, op, 0, 0);
  if (table)
    renameAll(g, tileOnlyResult(op), gpuTile(g, tileOpOperand(op, "input")), table);
  return table || gpuMustExchange(op);
}

//===--- iota, broadcast, transpose, reshape -----------------------------------------------------===//

static bool lowerIota(Gpu *g, MlirOperation op) {
  MlirValue result = tileIotaOpGetResult(op);
  MlirType type = mlirValueGetType(result), element = tileTypeGetElement(type);
  TileLayout layout = gpuLayoutOf(type);
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(type));
  intptr_t axis = tileIotaOpGetDimValue(op);
  MlirValue from = tileIotaOpGetFrom(op), *registers = gpuRecordTile(g, result);
  from = mlirValueIsNull(from) ? from : gpuScalar(g, from);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    MlirValue at = gpuCast(g, gpuCoordinate(g, map, axis, reg), element, true);
    registers[reg] = gpuAdd(g, at, from);
  }
  return true;
}

static bool lowerBroadcast(Gpu *g, MlirOperation op) {
  MlirValue input = tileBroadcastOpGetInput(op), result = tileBroadcastOpGetResult(op);
  if (gpuIsTile(mlirValueGetType(input)))
    return moveTile(g, op);
  gpuRecordSame(g, result, gpuScalar(g, input));
  return true;
}

// Gives the memory other names for its axes: the layout of its offsets, changed likewise.
static bool reinterpret(Gpu *g, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  const Buffer *source = gpuBufferOf(g, op, tileOpOperand(op, "input"));
  if (!source)
    return false;
  Record *record = gpuRecordNew(g, result, Record_Buffer);
  record->buffer = gpuAllocate(g, sizeof *record->buffer);
  *record->buffer = *source;
  record->buffer->type = mlirValueGetType(result);
  record->buffer->layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(record->buffer->type));
  return true;
}

static bool lowerTranspose(Gpu *g, MlirOperation op) {
  return tileTypeIsABuffer(tileTransposeOpGetInputType(op)) ? reinterpret(g, op) : moveTile(g, op);
}

static bool lowerReshape(Gpu *g, MlirOperation op) {
  MlirValue input = tileReshapeOpGetInput(op), result = tileReshapeOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result);
  if (tileTypeIsABuffer(from))
    return reinterpret(g, op);
  if (!gpuIsTile(from) || !gpuIsTile(to)) { // one element: all threads have it
    gpuRecordSame(g, result, gpuTile(g, input)[0]);
    return true;
  }
  return moveTile(g, op);
}

//===--- parts ----------------------------------------------------------------------------------===//

static bool lowerSlice(Gpu *g, MlirOperation op) {
  return tileTypeIsABuffer(tileSliceOpGetInputType(op)) ? gpuSliceBuffer(g, op) : moveTile(g, op);
}

// Each register from the last of the first `tiles` operands that has its element; what none has is void.
static bool moveParts(Gpu *g, MlirOperation op, intptr_t tiles) {
  MlirType type = tileOnlyResultType(op);
  MlirValue *registers = gpuRecordTile(g, tileOnlyResult(op));
  intptr_t count = gpuRegisters(type);
  for (intptr_t i = tiles; i-- > 0;) {
    const intptr_t *table = gpuMoves(g, op, i, 0);
    if (!table)
      return gpuMustExchange(op);
    for (intptr_t reg = 0; reg < count; ++reg)
      if (table[reg] >= 0)
        registers[reg] = gpuTile(g, mlirOperationGetOperand(op, i))[table[reg]];
  }
  for (intptr_t reg = 0; reg < count; ++reg)
    registers[reg] = mlirValueIsNull(registers[reg]) ? gpuZero(g, tileTypeGetElement(type)) : registers[reg];
  return true;
}

// The part before its destination.
static bool lowerInsert(Gpu *g, MlirOperation op) {
  MlirType type = tileInsertOpGetResultType(op), part = tileInsertOpGetInputType(op);
  if (!tileInsertsInPlace(op))
    return moveParts(g, op, 2);
  TileLayout layout = gpuLayoutOf(type);
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(type));
  MlirValue *registers = gpuRecordTile(g, tileInsertOpGetResult(op));
  const MlirValue *parts = gpuTile(g, tileInsertOpGetInput(op)), *old = gpuTile(g, tileInsertOpGetDestination(op));
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg)
    registers[reg] = gpuSelect(g, gpuIsElement(g, map, part, AllAxes, reg), parts[reg], old[reg]);
  return true;
}

static bool lowerCat(Gpu *g, MlirOperation op) { return moveParts(g, op, tileCatOpGetNumInputs(op)); }

//===--- shuffles -------------------------------------------------------------------------------===//

static MlirValue parityOf(Gpu *g, uint32_t mask) {
  MlirValue bits = gpuAnd(g, g->thread, mask);
  if (__builtin_popcount(mask) > 1)
    bits = gpuAnd(g, gpuOp(g, MathOp_CtPop, g->i32, bits), 1);
  return gpuCompare(g, ArithCmpI_Ne, bits, gpuI32(g, 0));
}

// Threads of one parity exchange registers r and r ^ step.
static void turn(Gpu *g, const TileConversionTurn *turn, uint32_t linear, uint32_t count, MlirValue *registers) {
  MlirValue isTurned = parityOf(g, turn->mask);
  for (uint32_t reg = 0; reg < count; ++reg) {
    uint32_t other = (reg & ~(linear - 1)) | ((reg & (linear - 1)) ^ turn->step);
    if (reg >= other || mlirValueIsNull(registers[reg]) || mlirValueIsNull(registers[other]))
      continue;
    MlirValue low = gpuSelect(g, isTurned, registers[other], registers[reg]);
    registers[other] = gpuSelect(g, isTurned, registers[reg], registers[other]);
    registers[reg] = low;
  }
}

// What the set bits of the thread's number are worth, XORed; null: nothing.
static MlirValue threadPart(Gpu *g, uint32_t bits, const uint64_t *steps) {
  MlirValue part = {NULL};
  for (uint32_t bit = 0; bit < bits; ++bit)
    if (steps[bit])
      part = gpuXor(g, part, gpuMul(g, gpuAnd(g, gpuShiftRight(g, g->thread, bit), 1), gpuI32(g, (int64_t)steps[bit])));
  return part;
}

// Registers of up to 16 bits travel together in one word.
static MlirValue packWord(Gpu *g, const TileConversion *plan, uint32_t word, uint32_t bits, const MlirValue *source) {
  MlirValue whole = {NULL};
  for (uint32_t slot = 0; slot < 1u << plan->wordBits; ++slot) {
    uint32_t reg = tileConversionWordRegister(plan, word, slot);
    MlirValue words[2];
    gpuWords(g, source[tileConversionSourceRegister(plan, reg)], words); // a word holds it
    MlirValue part = gpuShiftLeft(g, words[0], slot * bits);
    whole = mlirValueIsNull(whole) ? part : gpuBinary(g, ArithOp_OrI, whole, part);
  }
  return whole;
}

static void moveWord(Gpu *g, const TileConversion *plan, uint32_t word, MlirValue lane, MlirType held,
                     const MlirValue *source, MlirValue *result) {
  uint32_t first = tileConversionWordRegister(plan, word, 0), bits = gpuBits(held);
  MlirValue from = gpuXor(g, lane, gpuI32(g, tileConversionLaneXor(plan, first)));
  if (!plan->wordBits) {
    result[first] = gpuShuffleFrom(g, source[tileConversionSourceRegister(plan, first)], from);
    return;
  }
  MlirValue packed = g->vocabulary->shuffleFrom(&g->builder, packWord(g, plan, word, bits, source), from);
  for (uint32_t slot = 0; slot < 1u << plan->wordBits; ++slot) {
    MlirValue part = gpuShiftRight(g, packed, slot * bits);
    result[tileConversionWordRegister(plan, word, slot)] = gpuFromWords(g, &part, held);
  }
}

static void byLanes(Gpu *g, const TileConversion *plan, MlirType held, const MlirValue *in, MlirValue *out) {
  MlirValue *source = gpuAllocate(g, plan->sourceRegisters * sizeof *source), lane = {NULL};
  memcpy(source, in, plan->sourceRegisters * sizeof *source);
  for (uint32_t i = 0; i < plan->beforeCount; ++i)
    turn(g, &plan->before[i], 1u << plan->sourceBits, plan->sourceRegisters, source);
  for (uint32_t word = 0; word < tileConversionWordCount(plan); ++word) {
    uint32_t first = tileConversionWordRegister(plan, word, 0);
    if (!tileConversionIsOwn(plan, first)) {
      if (mlirValueIsNull(lane)) // the thread's part of the lane that a register comes from
        lane = threadPart(g, plan->laneBits + plan->warpBits, plan->laneStep);
      moveWord(g, plan, word, lane, held, source, out);
      continue;
    }
    for (uint32_t slot = 0; slot < 1u << plan->wordBits; ++slot) {
      uint32_t reg = tileConversionWordRegister(plan, word, slot);
      out[reg] = source[tileConversionSourceRegister(plan, reg)];
    }
  }
  for (uint32_t reg = 0; reg < plan->resultRegisters; ++reg)
    if (reg & plan->copyMask)
      out[reg] = out[reg & ~plan->copyMask];
  for (uint32_t i = 0; i < plan->afterCount; ++i)
    turn(g, &plan->after[i], 1u << plan->registerBits, plan->resultRegisters, out);
}

//===--- convert_layout ---------------------------------------------------------------------------===//

static bool lowerConvertLayout(Gpu *g, MlirOperation op) {
  MlirValue input = tileConvertLayoutOpGetInput(op), result = tileConvertLayoutOpGetResult(op);
  TileChange change = tileChangeOf(mlirValueGetType(input), mlirValueGetType(result));
  const MlirValue *in = gpuTile(g, input);
  intptr_t count = gpuRegisters(mlirValueGetType(result)), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  TileConversion plan;
  if (tileMovesBetween(&change.before, &change.after, g->exchange.lanes, g->exchange.warps, table)) {
    renameAll(g, result, in, table);
    return true;
  }
  if (!tileChangePlan(&g->exchange, &change, &plan) || plan.kind == TileConversionShared)
    return gpuMustExchange(op);
  byLanes(g, &plan, gpuHeldType(g, change.element), in, gpuRecordTile(g, result));
  return true;
}

bool gpuMustBeExchanged(Gpu *g, MlirOperation op) {
  (void)g;
  return gpuMustExchange(op);
}

const GpuRow gpuShapeRows[] = {
    {TileOp_Iota, lowerIota},
    {TileOp_Broadcast, lowerBroadcast},
    {TileOp_Transpose, lowerTranspose},
    {TileOp_Reshape, lowerReshape},
    {TileOp_Slice, lowerSlice},
    {TileOp_Insert, lowerInsert},
    {TileOp_Cat, lowerCat},
    {TileOp_ConvertLayout, lowerConvertLayout},
    {TileOp_Histogram, gpuMustBeExchanged},
    {.lower = NULL},
};
