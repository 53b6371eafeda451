// tile-hoist-copies: what every round of a loop loads from the same place is loaded once, before the loop.
// Expects: kernels at either level. Leaves: tile.load of views, and tile.copy of views into buffers, out of loops in
// which
//   nothing they depend on changes and nothing writes memory; k rounds of n copies become n. A loop that runs not at
//   all now loads too, which is harmless: past the edge a view pads.
// Source: KNYFE. Cost: linear in the ops, for each loop that nests.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "upstream/scf.h"

static const char *const statistics[] = {"hoisted: loads and copies moved before a loop", NULL};

//===--- questions ----------------------------------------------------------------------===//

typedef struct Writes {
  MlirOperation loop, copy; // copy: the one that may write its buffer; null for none
  bool found;
} Writes;

static void see(MlirOperation op, TileEffect effect, void *data) {
  (void)op;
  bool *onlyReads = data;
  *onlyReads = *onlyReads && effect.kind == MlirExtEffect_Read;
}

static bool onlyReads(MlirOperation op) {
  bool result = true;
  tileOpVisitEffects(op, see, &result);
  return result;
}

static MlirWalkResult findWrite(MlirOperation op, void *data) {
  Writes *writes = data;
  bool isCopy = !mlirOperationIsNull(writes->copy) && mlirOperationEqual(op, writes->copy);
  writes->found = !isCopy && !mlirOperationEqual(op, writes->loop) && !onlyReads(op);
  return writes->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool writesNothingBut(MlirOperation loop, MlirOperation copy) {
  Writes writes = {loop, copy, false};
  mlirOperationWalk(loop, findWrite, &writes, MlirWalkPreOrder);
  return !writes.found;
}

static bool mayHoist(MlirOperation loop, MlirOperation op) {
  bool isLoad = tileLoadOpIsA(op) && tileTypeIsAView(tileLoadOpGetSourceType(op));
  bool isCopy = tileCopyOpIsA(op) && tileTypeIsABuffer(tileCopyOpGetDestinationType(op));
  if ((!isLoad && !isCopy) || !tileAreOperandsOutside(loop, op))
    return false;
  return writesNothingBut(loop, isCopy ? op : (MlirOperation){NULL});
}

// What a hoisted load needs goes before it.
static bool isInvariantView(MlirOperation loop, MlirOperation op) {
  return tileViewOpIsA(op) && tileAreOperandsOutside(loop, op);
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  // Post order: what leaves an inner loop may leave the next one too.
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) {
    MlirOperation loop = loops.items[i];
    MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
      next = mlirOperationGetNextInBlock(op);
      bool hoists = mayHoist(loop, op);
      if (!hoists && !isInvariantView(loop, op))
        continue;
      mlirOperationMoveBefore(op, loop);
      mlirExtPassAddStatistic(pass, 0, hoists);
    }
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tileHoistCopiesPass = {
    .argument = "tile-hoist-copies",
    .summary = "Load before a loop what every round loads from the same place",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .run = run,
};
