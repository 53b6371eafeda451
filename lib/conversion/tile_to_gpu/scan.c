// tile.scan: every element keeps what is combined up to it (its prefix), every block of 2^k elements its total. A step
// joins two neighbouring blocks: the later one's prefixes get the earlier one's total on their left. Steps go from the
// nearest elements to the farthest, wherever they lie: registers, lanes (shuffles).
#include "lib/conversion/tile_to_gpu/combine.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"

#include <string.h>

// The values of `combined` are totals; its live registers name blocks, each by its lowest register.
typedef struct Scan {
  Combined combined;
  intptr_t axis;
  bool isReverse;
  MlirValue *prefixes; // as the totals; null: nothing is before
  intptr_t *blocks;    // by register: the block that it belongs to
} Scan;

static MlirValue *totalOf(const Scan *scan, intptr_t reg) {
  return gpuCombinedAt(&scan->combined, scan->combined.values, reg);
}

static MlirValue *prefixOf(const Scan *scan, intptr_t reg) {
  return gpuCombinedAt(&scan->combined, scan->prefixes, reg);
}

static void copy(const Scan *scan, MlirValue *to, const MlirValue *from) {
  memcpy(to, from, (size_t)scan->combined.tiles * sizeof *to);
}

// prefix := total of what is earlier, then prefix.
static bool prepend(Gpu *g, const Scan *scan, const MlirValue *earlier, MlirValue *prefix) {
  if (!mlirValueIsNull(prefix[0]))
    return gpuCombine(g, &scan->combined, earlier, prefix, prefix);
  copy(scan, prefix, earlier);
  return true;
}

//===--- steps ------------------------------------------------------------------------------------===//

// Blocks that differ only along the axis, from the first in order on.
static bool joinBlocks(Gpu *g, Scan *scan, const TileLayoutStep *step, intptr_t first) {
  MlirValue running[MaxCombined];
  for (intptr_t digit = 0; digit < step->count; ++digit) {
    intptr_t turn = scan->isReverse ? step->count - 1 - digit : digit, block = first + turn * step->unit;
    if (digit == 0) {
      copy(scan, running, totalOf(scan, block));
      continue;
    }
    for (intptr_t reg = 0; reg < scan->combined.count; ++reg)
      if (scan->blocks[reg] == block && !prepend(g, scan, running, prefixOf(scan, reg)))
        return false;
    if (!gpuCombine(g, &scan->combined, running, totalOf(scan, block), running))
      return false;
  }
  copy(scan, totalOf(scan, first), running);
  return true;
}

static bool stepRegisters(Gpu *g, Scan *scan, const TileLayoutStep *step) {
  for (intptr_t first = 0; first < scan->combined.count; ++first) {
    if (!scan->combined.isLive[first] || first / step->unit % step->count)
      continue;
    if (!joinBlocks(g, scan, step, first))
      return false;
    for (intptr_t reg = 0; reg < scan->combined.count; ++reg) {
      intptr_t distance = scan->blocks[reg] - first;
      if (distance > 0 && distance % step->unit == 0 && distance / step->unit < step->count)
        scan->blocks[reg] = first;
      scan->combined.isLive[reg] = scan->blocks[reg] == reg;
    }
  }
  return true;
}

static bool stepThreads(Gpu *g, Scan *scan, const TileLayoutStep *step) {
  const Combined *combined = &scan->combined;
  MlirValue *others = gpuAcross(g, combined, step);
  MlirValue isFar = gpuIsFar(g, step), isLater = scan->isReverse ? gpuNot(g, isFar) : isFar;
  for (intptr_t block = 0; block < combined->count; ++block) {
    const MlirValue *other = gpuCombinedAt(combined, others, block);
    if (!combined->isLive[block])
      continue;
    for (intptr_t reg = 0; reg < combined->count; ++reg) {
      MlirValue *prefix = prefixOf(scan, reg), after[MaxCombined];
      if (scan->blocks[reg] != block)
        continue;
      copy(scan, after, prefix);
      if (!prepend(g, scan, other, after))
        return false;
      for (intptr_t i = 0; i < combined->tiles; ++i)
        prefix[i] = gpuSelect(g, isLater, after[i], !mlirValueIsNull(prefix[i]) ? prefix[i] : combined->neutral[i]);
    }
    if (!gpuCombineAcross(g, combined, isLater, other, totalOf(scan, block)))
      return false;
  }
  return true;
}

//===--- initial and final state ------------------------------------------------------------------------===//

static const MlirValue *readInitial(Gpu *g, const Scan *scan, intptr_t tile) {
  MlirValue initial = tileScanOpGetInitial(scan->combined.op, tile);
  MlirType type = mlirValueGetType(initial);
  if (gpuIsTile(type))
    type = tileWithoutAxis(scan->combined.type, scan->axis, scan->combined.elements[tile]);
  return gpuTileLike(g, scan->combined.op, initial, type);
}

// The state enters before the first element, and is left after the last.
static bool enterState(Gpu *g, Scan *scan) {
  const Combined *combined = &scan->combined;
  const MlirValue *initial[MaxCombined];
  MlirValue first[MaxCombined];
  TileLayout state = tileLayoutEmpty(TileLayoutValues);
  if (tileTypeGetRank(combined->type) > 1)
    tileLayoutRemoveAxis(&combined->layout, (uint32_t)scan->axis, &state);
  for (intptr_t i = 0; i < combined->tiles; ++i)
    initial[i] = readInitial(g, scan, i);
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    intptr_t from = gpuRegisterAt(&state, gpuKept(combined, reg));
    for (intptr_t i = 0; i < combined->tiles; ++i)
      first[i] = initial[i][from < 0 ? 0 : from];
    if (!prepend(g, scan, first, prefixOf(scan, reg)) ||
        (combined->isLive[reg] && !gpuCombine(g, combined, first, totalOf(scan, reg), totalOf(scan, reg))))
      return false;
  }
  return true;
}

static void givePrefixes(Gpu *g, const Scan *scan, intptr_t tile) {
  const Combined *combined = &scan->combined;
  MlirValue result = mlirOperationGetResult(combined->op, tile), *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    MlirValue prefix = prefixOf(scan, reg)[tile];
    registers[reg] = mlirValueIsNull(prefix) ? combined->neutral[tile] : prefix;
  }
}

//===--- the op -----------------------------------------------------------------------------------===//

// Each register is a block; what is up to it is itself, unless the scan leaves it out.
static bool begin(Gpu *g, MlirOperation op, Scan *scan) {
  Combined *combined = &scan->combined;
  scan->axis = tileScanOpGetAxisValue(op);
  scan->isReverse = tileScanOpHasReverse(op);
  if (!gpuReadCombined(g, op, tileScanOpGetNumInputs(op), 1u << scan->axis, combined))
    return false;
  scan->prefixes = gpuAllocate(g, (size_t)(combined->count * combined->tiles) * sizeof *scan->prefixes);
  scan->blocks = gpuAllocate(g, (size_t)combined->count * sizeof *scan->blocks);
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    scan->blocks[reg] = reg;
    if (!tileScanOpHasExclusive(op))
      copy(scan, prefixOf(scan, reg), totalOf(scan, reg));
  }
  for (intptr_t i = 0; i < combined->tiles; ++i)
    if (tileScanOpHasExclusive(op) && mlirValueIsNull(combined->neutral[i]))
      return gpuRefuse(op, "an exclusive scan by a region without a neutral element");
  return true;
}

bool gpuLowerScan(Gpu *g, MlirOperation op) {
  Scan scan;
  if (!begin(g, op, &scan))
    return false;
  for (uint32_t i = 0; i < scan.combined.steps.count; ++i) {
    const TileLayoutStep *step = &scan.combined.steps.items[i];
    if (!(step->dim == TileLayoutReg ? stepRegisters : stepThreads)(g, &scan, step))
      return false;
  }
  bool hasState = tileScanOpGetNumInitial(op) > 0;
  if (hasState && !enterState(g, &scan))
    return false;
  for (intptr_t i = 0; i < scan.combined.tiles; ++i)
    givePrefixes(g, &scan, i);
  for (intptr_t i = 0; hasState && i < scan.combined.tiles; ++i)
    if (!gpuGiveCombined(g, &scan.combined, i, mlirOperationGetResult(op, scan.combined.tiles + i)))
      return false;
  return true;
}
