// tile.scan: every element keeps what is combined up to it (its prefix), every block of 2^k elements its total. A step
// joins two neighbouring blocks: the later one's prefixes get the earlier one's total on their left. Steps go from the
// nearest elements to the farthest, wherever they lie: registers, lanes (shuffles), warps (shared memory).
#include "lib/conversion/tile_to_gpu/crossing.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"

#include <string.h>

typedef struct Scan {
  Combiner combiner;
  MlirOperation op;
  MlirType type;
  TileLayout layout;
  intptr_t axis, count;
  bool isReverse, isExclusive;
  TileLayoutSteps steps;
  MlirValue *prefixes, *totals; // register r of tile t at [r * tiles + t]; a null prefix: nothing is before
  MlirValue neutral[MaxCombined];
} Scan;

static MlirValue *at(const Scan *scan, MlirValue *values, intptr_t reg) { return values + reg * scan->combiner.count; }

static void copy(const Scan *scan, MlirValue *to, const MlirValue *from) {
  memcpy(to, from, (size_t)scan->combiner.count * sizeof *to);
}

// prefix := total of what is earlier, then prefix.
static bool prepend(Gpu *g, const Scan *scan, const MlirValue *earlier, MlirValue *prefix) {
  if (!mlirValueIsNull(prefix[0]))
    return gpuCombine(g, &scan->combiner, earlier, prefix, prefix);
  copy(scan, prefix, earlier);
  return true;
}

//===--- steps between registers -----------------------------------------------------------------===//

// Registers that differ only along the axis, from the first in order on.
static bool joinRegisters(Gpu *g, Scan *scan, const TileLayoutStep *step, intptr_t first, const bool *isSame) {
  MlirValue running[MaxCombined];
  for (intptr_t digit = 0; digit < step->count; ++digit) {
    intptr_t turn = scan->isReverse ? step->count - 1 - digit : digit, reg = first + turn * step->unit;
    if (digit == 0) {
      copy(scan, running, at(scan, scan->totals, reg));
      continue;
    }
    // All registers of this block: those that earlier steps joined to `reg`.
    for (intptr_t other = 0; other < scan->count; ++other)
      if (isSame[other * scan->count + reg] && !prepend(g, scan, running, at(scan, scan->prefixes, other)))
        return false;
    if (!gpuCombine(g, &scan->combiner, running, at(scan, scan->totals, reg), running))
      return false;
  }
  copy(scan, at(scan, scan->totals, first), running);
  return true;
}

// isSame[a * count + b]: register a's block is b's; blocks are named by their lowest register.
static bool stepRegisters(Gpu *g, Scan *scan, const TileLayoutStep *step, bool *isSame, bool *isBlock) {
  for (intptr_t reg = 0; reg < scan->count; ++reg) {
    if (!isBlock[reg] || reg / step->unit % step->count)
      continue;
    if (!joinRegisters(g, scan, step, reg, isSame))
      return false;
    for (intptr_t digit = 1; digit < step->count; ++digit) {
      intptr_t joined = reg + digit * step->unit;
      isBlock[joined] = false;
      for (intptr_t other = 0; other < scan->count; ++other)
        isSame[other * scan->count + reg] |= isSame[other * scan->count + joined];
    }
  }
  return true;
}

//===--- steps between threads ---------------------------------------------------------------------===//

static bool joinThreads(Gpu *g, Scan *scan, MlirValue isLater, intptr_t block, const MlirValue *others,
                        const bool *isSame) {
  intptr_t tiles = scan->combiner.count;
  MlirValue left[MaxCombined], right[MaxCombined], *total = at(scan, scan->totals, block);
  for (intptr_t reg = 0; reg < scan->count; ++reg) {
    if (!isSame[reg * scan->count + block])
      continue;
    MlirValue *prefix = at(scan, scan->prefixes, reg), before[MaxCombined], after[MaxCombined];
    for (intptr_t i = 0; i < tiles; ++i)
      before[i] = after[i] = prefix[i];
    if (!prepend(g, scan, others, after))
      return false;
    for (intptr_t i = 0; i < tiles; ++i)
      prefix[i] = gpuSelect(g, isLater, after[i], !mlirValueIsNull(before[i]) ? before[i] : scan->neutral[i]);
  }
  for (intptr_t i = 0; i < tiles; ++i) {
    left[i] = gpuSelect(g, isLater, others[i], total[i]);
    right[i] = gpuSelect(g, isLater, total[i], others[i]);
  }
  return gpuCombine(g, &scan->combiner, left, right, total);
}

static bool stepThreads(Gpu *g, Scan *scan, const TileLayoutStep *step, const bool *isSame, const bool *isBlock) {
  intptr_t tiles = scan->combiner.count, live = 0;
  size_t room = (size_t)(scan->count * tiles);
  MlirValue *values = gpuAllocate(g, room * sizeof *values), *others = gpuAllocate(g, room * sizeof *others);
  MlirType *elements = gpuAllocate(g, room * sizeof *elements);
  for (intptr_t reg = 0; reg < scan->count; ++reg)
    for (intptr_t i = 0; isBlock[reg] && i < tiles; ++i, ++live) {
      values[live] = at(scan, scan->totals, reg)[i];
      elements[live] = scan->combiner.elements[i];
    }
  gpuAcross(g, step, live, values, elements, others);
  MlirValue isFar = gpuIsFar(g, step), isLater = scan->isReverse ? gpuNot(g, isFar) : isFar;
  for (intptr_t reg = 0, next = 0; reg < scan->count; ++reg) {
    if (!isBlock[reg])
      continue;
    if (!joinThreads(g, scan, isLater, reg, others + next, isSame))
      return false;
    next += tiles;
  }
  return true;
}

static bool scanAll(Gpu *g, Scan *scan, bool *isSame, bool *isBlock) {
  for (uint32_t i = 0; i < scan->steps.count; ++i) {
    const TileLayoutStep *step = &scan->steps.items[i];
    bool ok = step->dim == TileLayoutReg ? stepRegisters(g, scan, step, isSame, isBlock)
                                         : stepThreads(g, scan, step, isSame, isBlock);
    if (!ok)
      return false;
  }
  return true;
}

//===--- reading --------------------------------------------------------------------------------------===//

// What the layout holds beyond the tile, along the axis, counts as nothing.
static bool fillVoid(Gpu *g, const Scan *scan, intptr_t tile, MlirValue *registers) {
  if (!gpuHasVoid(&scan->layout, scan->type, 1u << scan->axis))
    return true;
  if (mlirValueIsNull(scan->neutral[tile]))
    return gpuRefuse(scan->op, "a layout that reaches beyond the tile where no neutral element is known");
  const Map *map = gpuMap(g, &scan->layout, tileTypeGetRank(scan->type));
  for (intptr_t reg = 0; reg < scan->count; ++reg)
    registers[reg] =
        gpuSelect(g, gpuIsElement(g, map, scan->type, 1u << scan->axis, reg), registers[reg], scan->neutral[tile]);
  return true;
}

static bool readTiles(Gpu *g, Scan *scan) {
  intptr_t tiles = scan->combiner.count;
  size_t room = (size_t)(scan->count * tiles);
  scan->prefixes = gpuAllocate(g, room * sizeof *scan->prefixes);
  scan->totals = gpuAllocate(g, room * sizeof *scan->totals);
  MlirValue *converted = gpuAllocate(g, (size_t)scan->count * sizeof *converted);
  for (intptr_t i = 0; i < tiles; ++i) {
    MlirType type = tileOperandType(scan->op, i);
    gpuConvertLayout(g, type, gpuTile(g, mlirOperationGetOperand(scan->op, i)),
                     tileTypeWithElement(scan->type, tileTypeGetElement(type)), converted);
    scan->neutral[i] = gpuNeutral(g, &scan->combiner, i);
    if (!fillVoid(g, scan, i, converted))
      return false;
    for (intptr_t reg = 0; reg < scan->count; ++reg) {
      at(scan, scan->totals, reg)[i] = converted[reg];
      if (!scan->isExclusive)
        at(scan, scan->prefixes, reg)[i] = converted[reg];
    }
    if (scan->isExclusive && mlirValueIsNull(scan->neutral[i]))
      return gpuRefuse(scan->op, "an exclusive scan by a region without a neutral element");
  }
  return tileLayoutStepsAlong(&scan->layout, (uint32_t)tileTypeGetRank(scan->type), 1u << scan->axis, &scan->steps) ||
         gpuRefuse(scan->op, "a layout in which the axis shares bits with others: put a tile.convert_layout before");
}

//===--- initial and final state ------------------------------------------------------------------------===//

// The register of `state` that holds what register `reg` of the tile needs.
static intptr_t stateRegister(const Scan *scan, const TileLayout *state, intptr_t reg) {
  TileLayoutPoint index = {{(uint32_t)reg}}, point = tileLayoutApply(&scan->layout, index), wanted = {{0}};
  for (intptr_t axis = 0, to = 0; axis < tileTypeGetRank(scan->type); ++axis)
    if (axis != scan->axis)
      wanted.at[to++] = point.at[axis];
  for (intptr_t r = 0; r < (intptr_t)tileLayoutDimSize(state, TileLayoutReg); ++r) {
    TileLayoutPoint at = {{(uint32_t)r}}, here = tileLayoutApply(state, at);
    if (!memcmp(&here, &wanted, sizeof here))
      return r;
  }
  return 0;
}

static MlirValue *readInitial(Gpu *g, const Scan *scan, intptr_t i, MlirValue initial) {
  MlirValue *registers;
  if (!gpuIsTile(mlirValueGetType(initial))) {
    registers = gpuAllocate(g, sizeof *registers);
    registers[0] = gpuScalar(g, initial);
    return registers;
  }
  MlirType type = tileWithoutAxis(scan->type, scan->axis, scan->combiner.elements[i]);
  registers = gpuAllocate(g, (size_t)gpuRegisters(type) * sizeof *registers);
  gpuConvertLayout(g, mlirValueGetType(initial), gpuTile(g, initial), type, registers);
  return registers;
}

// The state enters before the first element, and is left after the last.
static bool enterState(Gpu *g, Scan *scan, const bool *isSame) {
  intptr_t tiles = scan->combiner.count;
  MlirValue *initial[MaxCombined];
  bool isScalar = tileTypeGetRank(scan->type) == 1;
  TileLayout state = tileLayoutEmpty(TileLayoutValues);
  if (!isScalar)
    tileLayoutRemoveAxis(&scan->layout, (uint32_t)scan->axis, &state);
  for (intptr_t i = 0; i < tiles; ++i)
    initial[i] = readInitial(g, scan, i, tileScanOpGetInitial(scan->op, i));
  for (intptr_t reg = 0; reg < scan->count; ++reg) {
    MlirValue first[MaxCombined];
    intptr_t from = stateRegister(scan, &state, reg);
    for (intptr_t i = 0; i < tiles; ++i)
      first[i] = initial[i][from];
    if (!prepend(g, scan, first, at(scan, scan->prefixes, reg)))
      return false;
    bool isTotal = isSame[reg * scan->count + reg]; // of its own block: once per block
    if (isTotal && !gpuCombine(g, &scan->combiner, first, at(scan, scan->totals, reg), at(scan, scan->totals, reg)))
      return false;
  }
  return true;
}

static void giveState(Gpu *g, const Scan *scan) {
  intptr_t tiles = scan->combiner.count;
  for (intptr_t i = 0; i < tiles; ++i) {
    MlirValue result = mlirOperationGetResult(scan->op, tiles + i);
    if (!gpuIsTile(mlirValueGetType(result))) {
      gpuRecordScalar(g, result, at(scan, scan->totals, 0)[i]);
      continue;
    }
    MlirType type = tileWithoutAxis(scan->type, scan->axis, scan->combiner.elements[i]);
    TileLayout state = gpuLayoutOf(type);
    MlirValue *registers = gpuAllocate(g, (size_t)gpuRegisters(type) * sizeof *registers);
    for (intptr_t reg = scan->count; reg-- > 0;) // the lowest register names the block
      registers[stateRegister(scan, &state, reg)] = at(scan, scan->totals, reg)[i];
    gpuConvertLayout(g, type, registers, mlirValueGetType(result), gpuRecordTile(g, result));
  }
}

static void givePrefixes(Gpu *g, const Scan *scan) {
  for (intptr_t i = 0; i < scan->combiner.count; ++i) {
    MlirValue result = mlirOperationGetResult(scan->op, i);
    MlirValue *registers = gpuAllocate(g, (size_t)scan->count * sizeof *registers);
    for (intptr_t reg = 0; reg < scan->count; ++reg) {
      MlirValue prefix = at(scan, scan->prefixes, reg)[i];
      registers[reg] = mlirValueIsNull(prefix) ? scan->neutral[i] : prefix;
    }
    MlirType type = tileTypeWithElement(scan->type, scan->combiner.elements[i]);
    gpuConvertLayout(g, type, registers, mlirValueGetType(result), gpuRecordTile(g, result));
  }
}

bool gpuLowerScan(Gpu *g, MlirOperation op) {
  intptr_t tiles = tileScanOpGetNumInputs(op), numInitial = tileScanOpGetNumInitial(op);
  Scan scan = {.op = op, .type = mlirValueGetType(tileScanOpGetInputs(op, 0))};
  scan.layout = gpuLayoutOf(scan.type);
  scan.count = gpuRegisters(scan.type);
  scan.axis = tileScanOpGetAxisValue(op);
  scan.isReverse = tileHas(op, "reverse");
  scan.isExclusive = tileHas(op, "exclusive");
  if (!gpuCombinerOf(op, tiles, &scan.combiner) || !readTiles(g, &scan))
    return false;
  bool *isSame = gpuAllocate(g, (size_t)(scan.count * scan.count)), *isBlock = gpuAllocate(g, (size_t)scan.count);
  for (intptr_t reg = 0; reg < scan.count; ++reg)
    isSame[reg * scan.count + reg] = isBlock[reg] = true;
  if (!scanAll(g, &scan, isSame, isBlock))
    return false;
  for (intptr_t reg = 0; reg < scan.count; ++reg)
    isSame[reg * scan.count + reg] = isBlock[reg];
  if (numInitial && !enterState(g, &scan, isSame))
    return false;
  givePrefixes(g, &scan);
  if (numInitial)
    giveState(g, &scan);
  return true;
}
