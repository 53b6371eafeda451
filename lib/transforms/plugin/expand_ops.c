// tile-expand-ops: an op whose row has the hook .expand becomes what the hook builds, so that passes and conversions
// that do not know the op make code of it. Expects: any program. Leaves: no op with that hook. Cost: linear in the ops,
// once per level of expansion. Why first: barriers, layouts and shared memory are planned for the ops that run. One op
// may become several accesses.
#include "lib/capi/op.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"

enum { Deepest = 16, MaxResults = 64 };

static bool expands(MlirOperation op) {
  const MlirExtOpDefinition *definition = mlirExtOperationGetDefinition(op);
  return definition && definition->hooks.expand;
}

static bool expand(MlirOperation op) {
  MlirValue results[MaxResults] = {{NULL}};
  intptr_t count = mlirOperationGetNumResults(op);
  if (count > MaxResults)
    return tileError(op, "has %d results; an op that expands has %d at most", (int)count, MaxResults);
  if (!mlirExtOperationGetDefinition(op)->hooks.expand(op, results))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(results[i]) || !mlirTypeEqual(mlirValueGetType(results[i]), tileResultType(op, i)))
      return tileError(op, "the hook .expand gives no value of its type for result %d", (int)i);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
  }
  mlirOperationDestroy(op);
  return true;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  for (int depth = 0;; ++depth) {
    TileOps ops = tileCollectOps(module, expands);
    bool isDone = ops.count == 0, ok = isDone || depth < Deepest;
    if (!ok)
      tileError(ops.items[0], "expands to an op that expands, more than %d times", Deepest);
    for (intptr_t i = 0; i < ops.count && ok; ++i)
      ok = expand(ops.items[i]);
    mlirExtPassAddStatistic(pass, 0, ok ? (uint64_t)ops.count : 0);
    tileOpsFree(&ops);
    if (isDone || !ok)
      return ok;
  }
}

const MlirExtPassDefinition tileExpandOpsPass = {
    .argument = "tile-expand-ops",
    .summary = "Replace ops by what the hook .expand of their rows builds",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"expanded: ops expanded", NULL},
    .run = run,
};
