// tile-construct-tiles{chip=NAME top=K search=construct|exhaustive-model}: gives every linalg.generic that becomes a
// tile kernel the schedule that the machine's description asks for. Expects: linalg.generic on tensors in func.func
// (run linalg-generalize-named-ops first). Leaves: `tile.schedule` on
//   each op that convert-linalg-to-tile tiles, with what the model predicts; with top above 1 also `tile.schedules`,
//   the best ones in order. An op that has a schedule keeps its block; what it leaves out and the predictions are
//   filled in. What is folded step by step (argmax, running sums) has no tile to choose and is left alone.
// An extent that is not known is planned for `unknown`, rounded up to a power of two (its bucket).
// Cost: below a millisecond per op; no program is run. Source: Roller (Zhu et al., OSDI 2022); docs/schedules.md.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"

#include <stdio.h>
#include <string.h>

enum { Constructed, Kept, Evaluations };

static const char *const statistics[] = {
    "constructed: ops that were given a schedule",
    "kept: schedules that were there, completed",
    "evaluations: tiles whose cost was predicted",
    NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  TileSearchOptions options;
  int64_t unknown;
  bool isExhaustive, explains;
} Run;

//===--- remarks -----------------------------------------------------------------===//

static size_t append(char *text, size_t used, size_t capacity, const char *format, double value) {
  int written = used < capacity ? snprintf(text + used, capacity - used, format, value) : 0;
  return used + (written > 0 ? (size_t)written : 0);
}

static void printBlock(const TileOperator *op, const TileSearchTile *tile, char *text, size_t capacity) {
  size_t used = append(text, 0, capacity, "", 0);
  for (int d = 0; d < op->numDims; d++)
    used = append(text, used, capacity, d ? ", %.0f" : "[%.0f", (double)tile->size[d]);
  append(text, used, capacity, "]", 0);
}

// Why this one: its bound, and what the next best would have cost more of.
static void explain(const Run *run, MlirOperation op, const TileOperator *described, const TileSearchResult *result) {
  const TileSearchCandidate *best = &result->best[0];
  const TilePrediction *p = &best->prediction;
  char block[160], other[160], text[512];
  printBlock(described, &best->tile, block, sizeof block);
  snprintf(
      text, sizeof text,
      "tile %s on %ld warps: %.3g us, bound by %s; %ld programs of %ld steps, %.0f%% occupied, %.3g bytes asked of "
      "memory, %ld evaluations",
      block, (long)(best->tile.warps ? best->tile.warps : 1), p->seconds * 1e6, p->bound, (long)p->programs,
      (long)p->steps, p->occupancy * 100, p->read + p->written, (long)result->evaluations);
  tileRemark(op, "%s", text);
  if (result->count < 2)
    return;
  const TilePrediction *next = &result->best[1].prediction;
  printBlock(described, &result->best[1].tile, other, sizeof other);
  tileRemark(op, "before %s: %.3g us, bound by %s, %.3g bytes; all terms together %.3g against %.3g us", other,
             next->seconds * 1e6, next->bound, next->read + next->written, p->sum * 1e6, next->sum * 1e6);
  (void)run;
}

//===--- one op --------------------------------------------------------------------===//

static void writeSchedules(const Run *run, MlirOperation op, const TileOperator *described,
                           const TileSearchTarget *target, const TileSearchResult *result) {
  MlirAttribute schedules[TileSearchBest];
  MlirContext context = mlirOperationGetContext(op);
  for (int i = 0; i < result->count; i++)
    schedules[i] = tileScheduleOfCandidate(context, described, target, &result->best[i], result->evaluations);
  mlirOperationSetAttributeByName(op, tileString("tile.schedule"), schedules[0]);
  if (run->options.best > 1)
    mlirOperationSetAttributeByName(op, tileString("tile.schedules"),
                                    mlirArrayAttrGet(context, result->count, schedules));
}

// A schedule that somebody wrote: what it leaves out, and what it costs.
static bool completeSchedule(const Run *run, const TileStructured *s, const TileTiling *tiling,
                             const TileOperator *described, const TileSearchTarget *target, TileSearchResult *result) {
  TileSearchTile tile;
  char text[160];
  const char *fault = tileStructuredScheduleFault(s, tiling, text, sizeof text);
  if (fault)
    return tileError(s->op, "has a schedule whose %s", fault);
  if (!tileStructuredScheduledTile(s, described, &tile))
    return true;
  TileSearchCandidate candidate = tileSearchComplete(described, target, &tile, result);
  if (candidate.prediction.misfit)
    return tileError(s->op, "has a schedule that needs more %s than %s has", candidate.prediction.misfit,
                     tileMachineGetName(run->target.machine));
  result->best[0] = candidate;
  result->count = 1;
  return true;
}

static bool schedule(const Run *run, MlirOperation op) {
  TileStructured s;
  TileTiling tiling;
  TileSearchResult result = {.count = 0};
  if (!tileStructuredRead(op, &s))
    return true;
  s.target = &run->target;
  tileStructuredStartFromConstants(&s);
  if (!tileStructuredFindTiling(&s, &tiling))
    return true;
  TileOperator described = tileStructuredDescribe(&s, &tiling, run->unknown);
  TileSearchTarget target = tileStructuredTargetFor(&run->target, &described);
  bool isKept = !mlirAttributeIsNull(s.schedule);
  if (isKept) {
    if (!completeSchedule(run, &s, &tiling, &described, &target, &result))
      return false;
  } else {
    (run->isExhaustive ? tileSearchExhaustive : tileSearchConstruct)(&described, &target, &run->options, &result);
  }
  mlirExtPassAddStatistic(run->pass, Evaluations, (uint64_t)result.evaluations);
  if (!result.count)
    return true;
  mlirExtPassAddStatistic(run->pass, isKept ? Kept : Constructed, 1);
  writeSchedules(run, op, &described, &target, &result);
  if (run->explains)
    explain(run, op, &described, &result);
  return true;
}

//===--- the pass --------------------------------------------------------------------===//

static bool readMachine(MlirOperation function, Run *run) {
  TileError error = {.text = ""};
  MlirStringRef chip = mlirExtPassGetString(run->pass, "chip");
  MlirOperation module = tileParentOfName(function, "builtin.module");
  MlirAttribute attribute =
      mlirOperationIsNull(module) ? mlirAttributeGetNull() : tileOpAttribute(module, "tile.machine");
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)chip.length, chip.data);
  if (chip.length || mlirAttributeIsNull(attribute))
    run->target.machine = tileMachineLoad(chip.length ? name : "native", NULL, NULL, 0, &error);
  else
    run->target.machine = tileMachineAttrLoad(attribute, &error);
  if (run->target.machine && tileTargetRead(&run->target, &error))
    return true;
  tileMachineDestroy(run->target.machine);
  return tileError(function, "%s", error.text);
}

static bool readOptions(MlirOperation function, Run *run) {
  MlirStringRef search = mlirExtPassGetString(run->pass, "search");
  int64_t top = mlirExtPassGetInteger(run->pass, "top");
  run->isExhaustive = tileStringEquals(search, "exhaustive-model");
  run->explains = mlirExtPassGetBool(run->pass, "remarks");
  run->unknown = tileSearchBucket(mlirExtPassGetInteger(run->pass, "unknown"));
  run->options = tileSearchDefaults();
  run->options.best = (int)top;
  if (top < 1 || top > TileSearchBest)
    return tileError(function, "cannot have the %lld best tiles, want 1 to %d", (long long)top, TileSearchBest);
  return run->isExhaustive || tileStringEquals(search, "construct") ||
         tileError(function, "unknown search '%.*s', want construct or exhaustive-model", (int)search.length,
                   search.data);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass};
  if (!readOptions(function, &r) || !readMachine(function, &r))
    return false;
  if (r.explains && r.options.best < 2)
    r.options.best = 2;
  bool ok = true;
  TileOps generics = tileCollect(function, "linalg.generic");
  for (intptr_t i = 0; ok && i < generics.count; i++)
    ok = schedule(&r, generics.items[i]);
  tileOpsFree(&generics);
  tileMachineDestroy(r.target.machine);
  return ok;
}

static void dependentDialects(MlirDialectRegistry registry) { tileRegisterDialect(registry); }

static const MlirExtPassOption options[] = {
    {"chip", "the machine, as lib/machine names it; default: the module's tile.machine, else this host",
     MlirExtOption_String, ""},
    {"top", "how many of the best schedules to leave, at most 16", MlirExtOption_Integer, "1"},
    {"search", "construct: grow aligned tiles; exhaustive-model: predict every aligned tile", MlirExtOption_String,
     "construct"},
    {"unknown", "what an extent that is not known is planned for", MlirExtOption_Integer, "1024"},
    {"remarks", "say in a remark why a tile was chosen", MlirExtOption_Bool, "false"},
};

const MlirExtPassDefinition tileConstructTilesPass = {
    .argument = "tile-construct-tiles",
    .summary = "Give linalg ops the tiles that the machine's description asks for",
    .anchor = "func.func",
    .numOptions = sizeof options / sizeof *options,
    .options = options,
    .statistics = statistics,
    .dependentDialects = dependentDialects,
    .run = run,
};
