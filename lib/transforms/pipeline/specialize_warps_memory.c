// Which tiles of a kernel an engine (TMA) can copy, and how they lie in shared memory. See specialize_warps.h.
// Source: CUDA driver API, cuTensorMapEncodeTiled, for addresses, strides and boxes.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/accesses.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/layout/box.h"
#include "lib/layout/descriptor.h"
#include "lib/support/integer.h"
#include "upstream/memref.h"

enum { PatternBytes = 1024, SwizzleBytes = 128, PieceBytes = 16, PatternRows = 8 };

// Whether boxes of the view's memory are its tiles. `fast` receives the axis whose elements are neighbours.
static bool suitsEngine(const TileMachine *machine, MlirValue view, uint32_t *fast) {
  MlirOperation op = tileDefiningOp(view);
  MlirType type = mlirValueGetType(view);
  if (!tileViewOpIsA(op) || tileTypeGetRank(type) != 2 || !tileStringEquals(tileViewTypeGetPad(type), "zero") ||
      !tileSuitsBoxEngine(machine, op, NULL))
    return false;
  TileKnownMemory memory = tileKnownMemory(tileViewOpGetSource(op));
  for (intptr_t d = 0; d + 1 < memory.rank; ++d)
    if (!memory.stride[d])
      return false;
  *fast = tileViewDimension(op, 0) == memory.rank - 1 ? 0 : 1;
  return tileViewDimension(op, *fast) == memory.rank - 1;
}

bool tileSpecializeIsRow(const TileMachine *machine, MlirOperation load) {
  MlirType tile = tileLoadOpIsA(load) ? tileLoadOpGetResultType(load) : (MlirType){NULL};
  MlirOperation view = tileLoadOpIsA(load) ? tileDefiningOp(tileLoadOpGetSource(load)) : (MlirOperation){NULL};
  if (mlirOperationIsNull(view) || !tileViewOpIsA(view) || tileTypeGetRank(tile) != 1 ||
      !tileStringEquals(tileViewTypeGetPad(tileLoadOpGetSourceType(load)), "zero") ||
      !tileSuitsBoxEngine(machine, view, NULL))
    return false;
  TileKnownMemory memory = tileKnownMemory(tileViewOpGetSource(view));
  int64_t size = tileTypeGetSize(tile, 0), bytes = tileDenseBytes(tile);
  for (intptr_t d = 0; d + 1 < memory.rank; ++d)
    if (!memory.stride[d])
      return false;
  return tileViewDimension(view, 0) == memory.rank - 1 && tessera_is_power_of_two(size) &&
         size <= tileLargestBox(machine) && bytes % SwizzleBytes == 0;
}

// Boxes one behind the other: rows of up to 128 bytes along the fast axis, whose pieces of 16 bytes are permuted by
// the row. Sizes are powers of two.
static bool boxLayout(MlirType tile, uint32_t fast, TileLayout *layout) {
  int64_t bytes = tileStoredBytes(tileTypeGetElement(tile));
  int64_t rows = tileTypeGetSize(tile, 1 - fast), columns = tileTypeGetSize(tile, fast);
  if (!tessera_is_power_of_two(rows) || !tessera_is_power_of_two(columns) || rows < PatternRows ||
      columns * bytes < PieceBytes)
    return false;
  int64_t width = tessera_min(columns, SwizzleBytes / bytes), piece = PieceBytes / bytes;
  uint32_t swizzled = tessera_log2((uint64_t)(width / piece)), unswizzled = 3 - swizzled;
  *layout = tileLayoutEmpty(TileLayoutMemory);
  bool ok = tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)width, (int32_t)fast, 1, NULL);
  for (uint32_t bit = 0; ok && bit < 3; ++bit) {
    TileLayoutPoint step = {{0}};
    step.at[1 - fast] = 1u << bit;
    step.at[fast] = bit >= unswizzled ? (uint32_t)piece << (bit - unswizzled) : 0;
    ok = tileLayoutAppendBit(layout, TileLayoutOffset, step, NULL);
  }
  return ok &&
         tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)rows / PatternRows, (int32_t)(1 - fast), PatternRows,
                              NULL) &&
         tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)(columns / width), (int32_t)fast, (uint64_t)width,
                              NULL);
}

static bool fillsBoxes(const TileMachine *machine, MlirType tile, uint32_t fast, const TileLayout *layout) {
  TileBoxPlan boxes;
  const uint32_t axes[] = {fast, 1 - fast};
  return tileBoxPlan(layout, axes, 2, (uint32_t)tileStoredBytes(tileTypeGetElement(tile)), tileLargestBox(machine),
                     &boxes, NULL);
}

bool tileSpecializeFactor(const SpecializePlan *plan, const TileMachine *machine, SpecializeProduct *product,
                          int side) {
  SpecializeFactor *factor = &product->factors[side];
  MlirType tile = tileLoadOpGetResultType(factor->load);
  TileDescriptorPlan descriptor;
  uint32_t fast;
  return suitsEngine(machine, tileLoadOpGetSource(factor->load), &fast) && boxLayout(tile, fast, &factor->layout) &&
         fillsBoxes(machine, tile, fast, &factor->layout) &&
         tilePlanFactorDescriptor(&product->atom, side, tile, &factor->layout, &descriptor, NULL) &&
         tileDenseBytes(tile) % PatternBytes == 0;
}

static bool isStoreOfTile(MlirOperation op) {
  return tileStoreOpIsA(op) && mlirAttributeIsNull(tileStoreOpGetCombine(op)) &&
         tileTypeIsATile(tileStoreOpGetValueType(op)) && tileTypeIsAView(tileStoreOpGetDestinationType(op));
}

bool tileSpecializeResult(SpecializePlan *plan, const TileMachine *machine) {
  bool isBehind = false;
  int64_t most = 0;
  for (intptr_t i = 0; i < plan->inside.count; ++i) {
    MlirOperation op = plan->inside.items[i];
    isBehind |= mlirOperationEqual(op, plan->loop);
    if (!isBehind || !isStoreOfTile(op))
      continue;
    MlirType tile = tileStoreOpGetValueType(op);
    TileLayout layout;
    uint32_t fast;
    if (tileElementWidth(tileTypeGetElement(tile)) < 8 || tileDenseBytes(tile) <= most ||
        !suitsEngine(machine, tileStoreOpGetDestination(op), &fast) || !boxLayout(tile, fast, &layout) ||
        !fillsBoxes(machine, tile, fast, &layout))
      continue;
    most = tileDenseBytes(tile);
    plan->store = op;
    plan->result = layout;
  }
  return most > 0;
}
