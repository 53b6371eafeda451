// tile-construct-tiles{chip=NAME top=K search=construct|exhaustive-model|measure}: gives every linalg.generic that
// becomes a tile kernel the schedule that the machine's description asks for. Expects: linalg.generic on tensors in
// func.func (run linalg-generalize-named-ops first). Leaves: `tile.schedule` on
//   each op that convert-linalg-to-tile tiles, with what the model predicts; with top above 1 also `tile.schedules`,
//   the best ones in order. An op that has a schedule keeps its block; what it leaves out and the predictions are
//   filled in. What is folded step by step into
//   one element (argmax) has no tile to choose and is left alone; running sums have.
// measure: the ten best by the model, and what was constructed, run on this CPU (measure.h); what was found is kept in
// a cache (lib/search/cache.h), keyed by the op alone as a program, the machine and our version. An op that cannot be
// run alone keeps what the model says. An extent that is not known is planned for `unknown`, rounded up to a power of
// two (its bucket). Cost: below a millisecond per op; measured about two seconds, from the cache nothing. Source:
// Roller (Zhu et al., OSDI 2022); docs/schedules.md.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/target.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "lib/search/cache.h"
#include "lib/search/construct.h"
#include "lib/support/version.h"
#include "lib/transforms/schedule/measure.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Constructed, Kept, Evaluations, Measured, Remembered };
enum { Candidates = 10, MostText = 1 << 16 };

static const char *const statistics[] = {
    "constructed: ops that were given a schedule",          "kept: schedules that were there, completed",
    "evaluations: tiles whose cost was predicted",          "measured: schedules that were run",
    "remembered: ops whose measurements were in the cache", NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  TileSearchOptions options;
  int64_t unknown;
  int top; // how many to leave
  bool isExhaustive, isMeasured, explains;
  bool hasCache;
  char cache[PATH_MAX];
} Run;

//===--- remarks -----------------------------------------------------------------===//

static size_t append(char *text, size_t used, size_t capacity, const char *format, double value) {
  int written = used < capacity ? snprintf(text + used, capacity - used, format, value) : 0;
  return used + (written > 0 ? (size_t)written : 0);
}

static void printBlock(const TileOperator *op, const TileSearchTile *tile, char *text, size_t capacity) {
  size_t used = append(text, 0, capacity, "", 0);
  for (int d = 0; d < op->numDims; ++d)
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
      block, (long)(tileKernelKinds[best->tile.kind]->isForGpu ? best->tile.gpu.warps : 1), p->seconds * 1e6, p->bound,
      (long)p->programs, (long)p->steps, p->occupancy * 100, p->read + p->written, (long)result->evaluations);
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
  for (int i = 0; i < result->count; ++i)
    schedules[i] = tileScheduleOfCandidate(context, described, &result->best[i], result->evaluations);
  mlirOperationSetAttributeByName(op, tileString("tile.schedule"), schedules[0]);
  int most = run->isMeasured ? run->top : run->options.best;
  if (most > 1)
    mlirOperationSetAttributeByName(op, tileString("tile.schedules"),
                                    mlirArrayAttrGet(context, most < result->count ? most : result->count, schedules));
}

// A schedule that somebody wrote: what it leaves out, and what it costs.
static bool completeSchedule(const Run *run, const TileStructured *s, const TileTiling *tiling,
                             const TileOperator *described, const TileSearchTarget *target, TileSearchResult *result) {
  TileSearchTile tile;
  char text[160];
  const char *fault = tileStructuredScheduleFault(s, tiling, text, sizeof text);
  if (fault)
    return tileError(s->op, "schedule: %s", fault);
  if (!tileStructuredScheduledTile(s, described, &tile))
    return true;
  TileSearchCandidate candidate = tileSearchComplete(described, target, &tile, &result->evaluations);
  if (candidate.prediction.misfit)
    return tileError(s->op, "schedule: the tile needs more %s than %s has", candidate.prediction.misfit,
                     tileMachineGetName(run->target.machine));
  result->best[0] = candidate;
  result->count = 1;
  return true;
}

//===--- measured ------------------------------------------------------------------------===//

typedef struct Timed {
  MlirAttribute schedule;
  double seconds;
} Timed;

static int compareTimed(const void *a, const void *b) {
  double x = ((const Timed *)a)->seconds, y = ((const Timed *)b)->seconds;
  return (x > y) - (x < y);
}

// What the measurement depends on, one thing a line, and the program.
static bool keyOf(const Run *run, MlirOperation op, int count, char *key, size_t capacity) {
  uint64_t machine = tileMachineGetHash(run->target.machine);
  int used =
      snprintf(key, capacity, "schedules of tessera " TESSERA_VERSION " %s\nmachine %016" PRIx64 "\nof the %d best\n",
               tessera_version_commit(), machine, count);
  return used > 0 && (size_t)used < capacity &&
         tileMeasureProgram(op, mlirAttributeGetNull(), key + used, capacity - (size_t)used);
}

// "NANOSECONDS #tile.schedule<…>", one a line.
static int readTimed(MlirContext context, char *text, Timed *timed) {
  int count = 0;
  char *rest, *end;
  for (char *line = strtok_r(text, "\n", &rest); line && count < Candidates; line = strtok_r(NULL, "\n", &rest)) {
    double nanoseconds = strtod(line, &end);
    MlirAttribute schedule = *end == ' ' ? mlirAttributeParseGet(context, tileString(end + 1)) : mlirAttributeGetNull();
    if (nanoseconds < 1 || mlirAttributeIsNull(schedule) || !tileAttributeIsASchedule(schedule))
      return 0;
    timed[count++] = (Timed){schedule, nanoseconds * 1e-9};
  }
  return count;
}

static bool printTimed(int count, const Timed *timed, char *text, size_t capacity) {
  size_t used = 0;
  char schedule[1024];
  *text = '\0';
  for (int i = 0; i < count && used < capacity; ++i) {
    tileAttributeText(timed[i].schedule, schedule, sizeof schedule);
    used += (size_t)snprintf(text + used, capacity - used, "%.0f %s\n", timed[i].seconds * 1e9, schedule);
  }
  return used < capacity;
}

// The schedule with what was measured of it.
static MlirAttribute withMeasured(MlirAttribute schedule, double seconds) {
  MlirNamedAttribute entries[32];
  MlirAttribute said = tileScheduleAttrGetEntries(schedule);
  MlirContext context = mlirAttributeGetContext(schedule);
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(said) && count < 31; ++i)
    entries[count++] = mlirDictionaryAttrGetElement(said, i);
  int64_t nanoseconds = seconds * 1e9 < 1 ? 1 : (int64_t)(seconds * 1e9 + 0.5);
  entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("measured")),
                                           mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), nanoseconds));
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, entries));
}

static int measureNow(const Run *run, MlirOperation op, const TileOperator *described, const TileSearchTarget *target,
                      const TileSearchResult *result, Timed *timed, TileError *error) {
  MlirAttribute schedules[Candidates];
  double seconds[Candidates];
  int count = result->count < Candidates ? result->count : Candidates, finite = 0;
  for (int i = 0; i < count; ++i)
    schedules[i] = tileScheduleOfCandidate(mlirOperationGetContext(op), described, &result->best[i], 0);
  if (!tileMeasure(op, count, schedules, tileMachineGetName(run->target.machine), run->hasCache ? run->cache : NULL,
                   seconds, error))
    return 0;
  mlirExtPassAddStatistic(run->pass, Measured, (uint64_t)count);
  for (int i = 0; i < count; ++i)
    if (isfinite(seconds[i]))
      timed[finite++] = (Timed){schedules[i], seconds[i]};
  qsort(timed, (size_t)finite, sizeof *timed, compareTimed);
  return finite;
}

// Gives the op the schedules in the order of their measured times.
static void takeTimed(const Run *run, MlirOperation op, int count, const Timed *timed) {
  MlirAttribute schedules[Candidates];
  for (int i = 0; i < count; ++i)
    schedules[i] = withMeasured(timed[i].schedule, timed[i].seconds);
  if (count > run->top)
    count = run->top;
  mlirOperationSetAttributeByName(op, tileString("tile.schedule"), schedules[0]);
  if (run->top > 1)
    mlirOperationSetAttributeByName(op, tileString("tile.schedules"),
                                    mlirArrayAttrGet(mlirOperationGetContext(op), count, schedules));
}

// A fill mostly becomes where its reader starts from.
static bool readsTensors(MlirOperation op) {
  intptr_t tensors = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    tensors += mlirTypeIsAShaped(tileOperandType(op, i));
  return tensors > mlirOperationGetNumResults(op);
}

static bool measure(const Run *run, MlirOperation op, const TileOperator *described, const TileSearchTarget *target,
                    const TileSearchResult *result) {
  TileError error = {.text = ""};
  Timed timed[Candidates];
  char *key = malloc(MostText), *text = malloc(MostText);
  bool canRun = key && text && readsTensors(op) && keyOf(run, op, result->count, key, MostText), ok = true;
  int count = 0;
  if (canRun && run->hasCache && tileCacheFind(run->cache, key, text, MostText))
    count = readTimed(mlirOperationGetContext(op), text, timed);
  mlirExtPassAddStatistic(run->pass, Remembered, count > 0);
  bool isNew = canRun && !count;
  if (isNew) {
    count = measureNow(run, op, described, target, result, timed, &error);
    ok = count > 0 || tileError(op, "cannot be measured: %s", error.text);
  }
  if (count)
    takeTimed(run, op, count, timed);
  if (run->explains && count)
    tileRemark(op, "measured %.4g us, %s; the model's first %.4g us", timed[0].seconds * 1e6,
               isNew ? "now" : "from the cache", result->best[0].prediction.seconds * 1e6);
  // A cache that cannot be written costs time, nothing else.
  if (isNew && count && run->hasCache && printTimed(count, timed, text, MostText) &&
      !tileCacheStore(run->cache, key, text, &error))
    tileWarning(op, "what was measured is not kept: %s", error.text);
  free(key);
  free(text);
  return ok;
}

static bool schedule(const Run *run, MlirOperation op) {
  TileStructured s;
  TileTiling tiling;
  TileSearchResult result = {.count = 0};
  if (!tileStructuredRead(op, &s))
    return true;
  s.target = &run->target;
  if (!tileStructuredCheckExtents(&s))
    return false;
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
  if (run->isMeasured && !isKept && !measure(run, op, &described, &target, &result))
    return false;
  if (run->explains)
    explain(run, op, &described, &result);
  return true;
}

//===--- the pass --------------------------------------------------------------------===//

static bool readOptions(MlirOperation function, Run *run) {
  MlirStringRef search = mlirExtPassGetString(run->pass, "search");
  int64_t top = mlirExtPassGetInteger(run->pass, "top");
  run->isExhaustive = tileStringEquals(search, "exhaustive-model");
  run->isMeasured = tileStringEquals(search, "measure");
  MlirStringRef cache = mlirExtPassGetString(run->pass, "cache");
  char wanted[PATH_MAX];
  snprintf(wanted, sizeof wanted, "%.*s", (int)cache.length, cache.data);
  run->hasCache = run->isMeasured && tileCacheFolder(wanted, run->cache, sizeof run->cache);
  run->explains = mlirExtPassGetBool(run->pass, "remarks");
  run->unknown = tileSearchBucket(mlirExtPassGetInteger(run->pass, "unknown"));
  run->options = tileSearchDefaults();
  run->options.best = run->isMeasured && top < Candidates ? Candidates : (int)top;
  run->top = (int)top;
  if (top < 1 || top > TileSearchBest)
    return tileError(function, "cannot have the %lld best tiles, want 1 to %d", (long long)top, TileSearchBest);
  return run->isExhaustive || run->isMeasured || tileStringEquals(search, "construct") ||
         tileError(function, "unknown search '%.*s', want construct, exhaustive-model or measure", (int)search.length,
                   search.data);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass};
  if (!readOptions(function, &r) || !tileTargetOfPass(function, pass, &r.target))
    return false;
  if (r.isMeasured && r.target.search.isGpu) {
    tileError(function, "cannot be measured for %s: only this CPU is here", tileMachineGetName(r.target.machine));
    tileMachineDestroy(r.target.machine);
    return false;
  }
  if (r.explains && r.options.best < 2)
    r.options.best = 2;
  bool ok = true;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; ok && i < generics.count; ++i)
    ok = schedule(&r, generics.items[i]);
  tileOpsFree(&generics);
  tileMachineDestroy(r.target.machine);
  return ok;
}

static void dependentDialects(MlirDialectRegistry registry) { tileRegisterDialect(registry); }

static const MlirExtPassOption options[] = {
    TILE_CHIP_OPTION,
    {"top", "how many of the best schedules to leave, at most 16", MlirExtOption_Integer, "1"},
    {"search",
     "construct: grow aligned tiles; exhaustive-model: predict every aligned tile; measure: run the ten best on this "
     "CPU",
     MlirExtOption_String, "construct"},
    {"cache", "folder for what was measured, or none; default: TESSERA_CACHE, else tessera in the user's cache folder",
     MlirExtOption_String, ""},
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
