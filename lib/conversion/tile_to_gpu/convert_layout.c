// A tile from one layout to another by the plan of lib/layout/convert.h: registers renamed, words shuffled between
// lanes, or through shared memory with as few bank conflicts as the layouts allow. Tiles that no plan covers (registers
// that hold the same element in different orders) go through shared memory row by row.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "lib/analysis/moves.h"

#include "dialects/tile/questions.h"

#include <string.h>

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

//===--- shared memory --------------------------------------------------------------------------===//

// The address of slot 0 of instruction n: (the thread's part ^ a constant) + another, padding counted.
static MlirValue addressOf(Gpu *g, const TileAccess *access, MlirValue thread, uint32_t n, uint32_t bytes,
                           MlirValue base) {
  uint64_t linear, odd;
  tileAccessOffsetParts(access, n, &linear, &odd);
  MlirValue offset = gpuAdd(g, gpuXor(g, thread, gpuI32(g, (int64_t)linear)), gpuI32(g, (int64_t)odd));
  if (access->padAmount) {
    MlirValue rows = gpuBinary(g, ArithOp_DivUI, offset, gpuI32(g, access->padEvery));
    offset = gpuAdd(g, offset, gpuMul(g, rows, gpuI32(g, access->padAmount)));
  }
  return gpuAddress(g, base, gpuMul(g, offset, gpuI32(g, bytes)));
}

static void throughMemory(Gpu *g, const TileConversion *plan, MlirType element, const MlirValue *in, MlirValue *out) {
  const TileConversionScratch *shared = &plan->shared;
  MlirValue scratch = gpuScratch(g, (int64_t)shared->bytes), values[64];
  uint32_t bytes = shared->elementBytes, width = 1u << shared->store.vectorBits;
  MlirValue owner = {NULL}, thread = threadPart(g, shared->store.threadBits, shared->store.threadStep);
  if (shared->store.ownerMask)
    owner = gpuCompare(g, ArithCmpI_Eq, gpuAnd(g, g->thread, shared->store.ownerMask), gpuI32(g, 0));
  GpuIf branch = gpuIf(g, owner, 0, NULL);
  for (uint32_t n = 0; n < shared->store.count; ++n) {
    for (uint32_t slot = 0; slot < width; ++slot)
      values[slot] = in[tileAccessRegister(&shared->store, n, slot)];
    gpuStoreElements(g, element, width, values, addressOf(g, &shared->store, thread, n, bytes, scratch), width * bytes);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
  gpuBarrier(g);
  thread = threadPart(g, shared->load.threadBits, shared->load.threadStep);
  width = 1u << shared->load.vectorBits;
  for (uint32_t n = 0; n < shared->load.count; ++n) {
    gpuLoadElements(g, element, width, addressOf(g, &shared->load, thread, n, bytes, scratch), width * bytes, values);
    for (uint32_t slot = 0; slot < width; ++slot)
      out[tileAccessRegister(&shared->load, n, slot)] = values[slot];
  }
  for (uint32_t reg = 0; reg < plan->resultRegisters; ++reg)
    if (reg & shared->load.copyMask)
      out[reg] = out[reg & ~shared->load.copyMask];
}

//===--- in halves, where the scratch has not room for all ------------------------------------------===//

static uint32_t withBit(uint32_t reg, uint32_t bit, uint32_t value) {
  return (reg >> bit << (bit + 1)) | value << bit | (reg & ((1u << bit) - 1));
}

static void changeBy(Gpu *g, const TileChange *change, const TileConversion *plan, const MlirValue *in, MlirValue *out);

static bool inHalves(Gpu *g, const TileChange *whole, const TileConversion *plan, const MlirValue *in, MlirValue *out) {
  uint32_t sources = plan->sourceRegisters / 2, results = plan->resultRegisters / 2;
  TileChangeHalves halves;
  TileConversion half;
  if (!tileChangeHalve(whole, &halves) || !tileChangePlan(&g->exchange, &halves.half, &half))
    return false;
  MlirValue *from = gpuAllocate(g, sources * sizeof *from), *to = gpuAllocate(g, results * sizeof *to);
  for (uint32_t upper = 0; upper < 2; ++upper) {
    for (uint32_t reg = 0; reg < sources; ++reg)
      from[reg] = in[withBit(reg, halves.before, upper)];
    changeBy(g, &halves.half, &half, from, to);
    for (uint32_t reg = 0; reg < results; ++reg)
      out[withBit(reg, halves.after, upper)] = to[reg];
  }
  return true;
}

static void changeBy(Gpu *g, const TileChange *change, const TileConversion *plan, const MlirValue *in,
                     MlirValue *out) {
  bool isShared = plan->kind == TileConversionShared;
  if (isShared && (int64_t)plan->shared.bytes > g->exchange.room && inHalves(g, change, plan, in, out))
    return;
  if (isShared)
    throughMemory(g, plan, change->element, in, out);
  else
    byLanes(g, plan, gpuHeldType(g, change->element), in, out);
}

void gpuConvertLayout(Gpu *g, MlirType from, const MlirValue *in, MlirType to, MlirValue *out) {
  TileChange whole = tileChangeOf(from, to);
  intptr_t count = gpuRegisters(to), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  TileConversion plan;
  if (tileLayoutEquals(&whole.before, &whole.after)) {
    memcpy(out, in, (size_t)count * sizeof *out);
  } else if (tileMovesBetween(&whole.before, &whole.after, g->exchange.lanes, g->exchange.warps, table)) {
    for (intptr_t reg = 0; reg < count; ++reg)
      out[reg] = in[table[reg]];
  } else if (!tileChangePlan(&g->exchange, &whole, &plan)) {
    gpuThroughRows(g, from, in, to, out);
  } else {
    changeBy(g, &whole, &plan, in, out);
  }
}
