// tile-construct-tiles{chip=NAME policy=construct ops=all top=K}: decides how each op runs: the kind of its kernel, its
// tile, whether k is split and a constant operand packed. The policy (lib/search/policy.h) chooses.
//
// Expects: linalg.generic, softmax, pack and unpack on tensors in func.func (run tile-generalize-named-ops first).
// Leaves: `tile.schedule` on each op that convert-linalg-to-tile tiles, with what the model predicts; with top above 1
// also `tile.schedules`, the best ones in order. ops=products: the policy is asked for matrix products only; a
// convolution on a CPU takes the plain tile of its kind. The policy is never asked for what it has no model of (on a
// CPU argmax, softmax, pack). A CPU's op that the policy is not asked for gets the plain sizes of its kernel
// (tileStructuredSetTiles). An op that has a schedule keeps its block; what the schedule leaves out and the predictions
// are filled in. A schedule with a predicted time was decided before and stays.
//
// A measured policy runs the ten best by the model on this CPU (measure.h) and keeps what it found in a cache
// (lib/search/cache.h), keyed by the op as a program, the machine and our version. An op that cannot be run alone keeps
// what the model chose. An extent that is not known is planned for `unknown`, rounded up to a power of two (its
// bucket). With `fusion`, which tile-merge-parallel-kernels follows, products of a block with as many ops before them
// run side by side: each has its share of the cores and of the bandwidth. If that is total-traffic, k stays whole:
// parts are written and read again. Cost: below a millisecond per op; measured about two seconds, from the cache
// nothing. Source: Roller (Zhu et al., OSDI 2022); docs/schedules.md.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/sparse/ops.h"
#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/analysis/low_bit/dots.h"
#include "lib/analysis/low_bit/scaled.h"
#include "lib/analysis/sparsity/sparse_product.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/table.h"
#include "lib/search/cache.h"
#include "lib/search/cpu_cost.h"
#include "lib/search/policy.h"
#include "lib/support/integer.h"
#include "lib/support/version.h"
#include "lib/transforms/schedule/measure.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Constructed, Kept, Evaluations, Measured, Remembered, Asked, Plain };
enum { Candidates = 10, MostText = 1 << 16 };

static const char *const statistics[] = {
    "constructed: ops that were given a schedule",
    "kept: schedules that were there, completed",
    "evaluations: tiles whose cost was predicted",
    "measured: schedules that were run",
    "remembered: ops whose measurements were in the cache",
    "asked: ops whose tile a policy was asked for",
    "plain: ops that were given the plain sizes of their kernels",
    NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  TileSearchOptions options;
  int64_t unknown;
  int top; // how many to leave
  const TilePolicy *policy;
  uint64_t seed;
  bool isOfProducts, isOfSparse, isOfTraffic, explains;
  TileTable depths; // of ops: how many are before them
  TileOps products;
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
static void explain(MlirOperation op, const TileOperator *described, const TileSearchResult *result) {
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
}

//===--- products side by side ------------------------------------------------------===//

static bool isProductOp(MlirOperation op) {
  return linalgGenericOpIsA(op) && linalgGenericOpGetNumInputs(op) >= 2 && !tileGenericIsParallel(op);
}

static MlirWalkResult countProducts(MlirOperation op, void *userData) {
  Run *run = userData;
  intptr_t depth = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation maker = tileDefiningOp(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(maker))
      continue;
    intptr_t before =
        (intptr_t)tileTableFind(&run->depths, maker.ptr) + (tileOpIsStructured(maker) || linalgSoftmaxOpIsA(maker));
    depth = before > depth ? before : depth;
  }
  tileTableSet(&run->depths, op.ptr, (void *)depth);
  if (isProductOp(op))
    tileOpsAppend(&run->products, op);
  return MlirWalkResultAdvance;
}

// The machine's share for one of the products that run side by side.
static void takeShare(const Run *run, MlirOperation op, TileSearchTarget *target) {
  intptr_t products = 0;
  const void *depth = tileTableFind(&run->depths, op.ptr);
  if (!target->isGpu || !isProductOp(op))
    return;
  for (intptr_t i = 0; i < run->products.count; ++i)
    products += tileTableFind(&run->depths, run->products.items[i].ptr) == depth &&
                mlirBlockEqual(mlirOperationGetBlock(run->products.items[i]), mlirOperationGetBlock(op));
  if (products < 2)
    return;
  products = products < target->cores ? products : target->cores;
  target->cores /= products;
  for (int i = 0; i < target->numLevels; ++i)
    target->levels[i].bandwidth /= (double)products;
}

//===--- one op --------------------------------------------------------------------===//

// What is decided of one op.
typedef struct Decision {
  const TileStructured *structured;
  const TileTiling *tiling;
  TileOperator op;
  TileSearchTarget target;
  TileSearchResult result;
} Decision;

// The schedule with one more entry.
static MlirAttribute withNumber(MlirAttribute schedule, const char *key, int64_t value) {
  enum { MostEntries = 32 };
  MlirNamedAttribute entries[MostEntries];
  MlirAttribute old = tileScheduleAttrGetEntries(schedule);
  MlirContext context = mlirAttributeGetContext(schedule);
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(old) && count + 1 < MostEntries; ++i)
    entries[count++] = mlirDictionaryAttrGetElement(old, i);
  entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(key)),
                                           mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value));
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, entries));
}

static MlirAttribute scheduleOf(const Decision *decision, int index, int64_t evaluations) {
  const TileSearchCandidate *candidate = &decision->result.best[index];
  MlirContext context = mlirOperationGetContext(decision->structured->op);
  MlirAttribute schedule = tileScheduleOfCandidate(context, &decision->op, candidate, evaluations);
  const TileStructured *s = decision->structured;
  if (s->convert)
    schedule = tileScheduleWithFormats(context, schedule, s->convert, s->codes);
  bool arePanels = decision->op.isMatrix &&
                   tileStructuredHasConstantPanels(decision->structured, &decision->tiling->product) &&
                   tileCpuGainsByPanels(&decision->op, &decision->target, &candidate->tile);
  return arePanels ? withNumber(schedule, "panels", 1) : schedule;
}

static void writeSchedules(const Run *run, const Decision *decision) {
  MlirAttribute schedules[TileSearchBest];
  MlirOperation op = decision->structured->op;
  const TileSearchResult *result = &decision->result;
  for (int i = 0; i < result->count; ++i)
    schedules[i] = scheduleOf(decision, i, result->evaluations);
  tileOpSetSchedule(op, schedules[0]);
  int most = run->policy->isMeasured ? run->top : run->options.best;
  if (most > 1)
    tileOpSetSchedules(
        op, mlirArrayAttrGet(mlirOperationGetContext(op), most < result->count ? most : result->count, schedules));
}

// What a tile that a person wrote exceeds, and with fewer stages would not.
static bool reportMisfit(const Run *run, const Decision *decision, const TileSearchTile *tile, const char *misfit) {
  MlirOperation op = decision->structured->op;
  const char *machine = tileMachineGetName(run->target.machine);
  int64_t evaluations = 0, fits = 0, exceeds = tile->gpu.stages;
  while (fits + 1 < exceeds) {
    TileSearchTile fewer = *tile;
    fewer.gpu.stages = fits + (exceeds - fits) / 2;
    bool isFit = !tileSearchComplete(&decision->op, &decision->target, &fewer, &evaluations).prediction.misfit;
    *(isFit ? &fits : &exceeds) = fewer.gpu.stages;
  }
  if (fits)
    return tileError(op, "schedule: `stages` is %lld; at most %lld fit the %s of %s", (long long)tile->gpu.stages,
                     (long long)fits, misfit, machine);
  return tileError(op, "schedule: the tile does not fit the %s of %s", misfit, machine);
}

// A schedule that a person wrote: what it leaves out, and what it costs.
static bool completeSchedule(const Run *run, Decision *decision) {
  const TileStructured *s = decision->structured;
  TileSearchTile tile;
  char text[256];
  const char *fault = tileStructuredScheduleFault(s, decision->tiling, text, sizeof text);
  if (fault)
    return tileError(s->op, "schedule: %s", fault);
  if (!tileStructuredScheduledTile(s, &decision->op, &tile))
    return true;
  TileSearchResult *result = &decision->result;
  TileSearchCandidate candidate = tileSearchComplete(&decision->op, &decision->target, &tile, &result->evaluations);
  if (candidate.prediction.misfit)
    return reportMisfit(run, decision, &tile, candidate.prediction.misfit);
  result->best[0] = candidate;
  result->count = 1;
  return true;
}

//===--- the policy's choice ------------------------------------------------------------===//

// The one place where a tile is asked for.
static void choose(const Run *run, Decision *decision, bool canSplit) {
  bool isGpu = decision->target.isGpu, takesPlain = run->isOfProducts && !decision->op.isMatrix && !isGpu;
  TilePolicyQuestion question = {&decision->op, &decision->target,   &run->options,
                                 run->seed,     run->target.machine, isGpu && canSplit};
  (takesPlain ? tilePolicyFind("fixed") : run->policy)->choose(&question, &decision->result);
  mlirExtPassAddStatistic(run->pass, Asked, 1);
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

// The candidate that a line of the cache writes, or null. What is no candidate of this op would not fit.
static MlirAttribute candidateOf(const Decision *decision, const char *written) {
  char text[1024];
  for (int i = 0; i < decision->result.count && i < Candidates; ++i) {
    MlirAttribute schedule = scheduleOf(decision, i, 0);
    tileAttributeText(schedule, text, sizeof text);
    if (strcmp(text, written) == 0)
      return schedule;
  }
  return mlirAttributeGetNull();
}

// "NANOSECONDS #tile.schedule<…>", one a line. 0, as if nothing were there, where a line is anything else.
static int readTimed(const Decision *decision, char *text, Timed *timed) {
  const double longest = 1e15; // ns: eleven days
  int count = 0;
  char *rest, *end;
  for (char *line = strtok_r(text, "\n", &rest); line && count < Candidates; line = strtok_r(NULL, "\n", &rest)) {
    double nanoseconds = strtod(line, &end);
    MlirAttribute schedule = *end == ' ' ? candidateOf(decision, end + 1) : mlirAttributeGetNull();
    if (!(nanoseconds >= 1 && nanoseconds <= longest) || mlirAttributeIsNull(schedule))
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

static MlirAttribute withMeasured(MlirAttribute schedule, double seconds) {
  return withNumber(schedule, "measured", seconds * 1e9 < 1 ? 1 : (int64_t)(seconds * 1e9 + 0.5));
}

static int measureNow(const Run *run, const Decision *decision, Timed *timed, TileError *error) {
  MlirOperation op = decision->structured->op;
  const TileSearchResult *result = &decision->result;
  MlirAttribute schedules[Candidates];
  double seconds[Candidates];
  int count = result->count < Candidates ? result->count : Candidates, finite = 0;
  for (int i = 0; i < count; ++i)
    schedules[i] = scheduleOf(decision, i, 0);
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
  tileOpSetSchedule(op, schedules[0]);
  if (run->top > 1)
    tileOpSetSchedules(op, mlirArrayAttrGet(mlirOperationGetContext(op), count, schedules));
}

// A fill mostly becomes where its reader starts from.
static bool readsTensors(MlirOperation op) {
  intptr_t tensors = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    tensors += mlirTypeIsAShaped(tileOperandType(op, i));
  return tensors > mlirOperationGetNumResults(op);
}

static bool measure(const Run *run, const Decision *decision) {
  MlirOperation op = decision->structured->op;
  const TileSearchResult *result = &decision->result;
  TileError error = {.text = ""};
  Timed timed[Candidates];
  char *key = malloc(MostText), *text = malloc(MostText);
  bool canRun = key && text && readsTensors(op) && keyOf(run, op, result->count, key, MostText), ok = true;
  int count = 0;
  if (canRun && run->hasCache && tileCacheFind(run->cache, key, text, MostText))
    count = readTimed(decision, text, timed);
  mlirExtPassAddStatistic(run->pass, Remembered, count > 0);
  bool isNew = canRun && !count;
  if (isNew) {
    count = measureNow(run, decision, timed, &error);
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
    tileWarning(op, "measured times are not cached: %s", error.text);
  free(key);
  free(text);
  return ok;
}

static bool isDecided(MlirOperation op) {
  MlirAttribute schedule = tileOpGetSchedule(op);
  return !mlirAttributeIsNull(schedule) && !mlirAttributeIsNull(tileScheduleAttrGetEntry(schedule, "time"));
}

static bool decide(const Run *run, Decision *decision) {
  const TileStructured *s = decision->structured;
  bool isKept = !mlirAttributeIsNull(s->schedule);
  decision->op = tileStructuredDescribe(s, decision->tiling, run->unknown);
  decision->target = tileStructuredTargetFor(&run->target, &decision->op);
  takeShare(run, s->op, &decision->target);
  decision->result = (TileSearchResult){.count = 0};
  if (isKept && !completeSchedule(run, decision))
    return false;
  if (!isKept)
    choose(run, decision, !run->isOfTraffic && tileStructuredCanSplit(s, decision->tiling));
  mlirExtPassAddStatistic(run->pass, Evaluations, (uint64_t)decision->result.evaluations);
  if (!decision->result.count)
    return true;
  mlirExtPassAddStatistic(run->pass, isKept ? Kept : Constructed, 1);
  writeSchedules(run, decision);
  if (run->policy->isMeasured && !isKept && !measure(run, decision))
    return false;
  if (run->explains)
    explain(s->op, &decision->op, &decision->result);
  return true;
}

// An op of a CPU that no policy is asked for: writes the plain sizes of its kernel. Sizes that a schedule cannot
// express are left to the conversion.
static bool writePlain(const Run *run, TileStructured *s, const TileTiling *tiling) {
  Decision decision = {.structured = s, .tiling = tiling, .op = tileStructuredDescribe(s, tiling, run->unknown)};
  TileSearchResult *result = &decision.result;
  char text[256];
  if (run->target.search.isGpu || !mlirAttributeIsNull(s->schedule) || tileStructuredHasTerms(s))
    return true;
  decision.target = tileStructuredTargetFor(&run->target, &decision.op);
  tileStructuredSetTiles(s);
  TileSearchTile tile = {.kind = tileKindOf(&decision.op, &decision.target)};
  for (int d = 0; d < s->numDims; ++d)
    tile.size[d] = s->dims[d].scheduled = s->dims[d].tile;
  result->best[0] = tileSearchComplete(&decision.op, &decision.target, &tile, &result->evaluations);
  result->count = 1;
  s->schedule = scheduleOf(&decision, 0, result->evaluations);
  if (tileStructuredScheduleFault(s, tiling, text, sizeof text))
    return true;
  mlirExtPassAddStatistic(run->pass, Plain, 1);
  tileOpSetSchedule(s->op, s->schedule);
  if (run->explains)
    explain(s->op, &decision.op, result);
  return true;
}

// Products of weights in codes: their kernels have sizes that follow from the machine. Those of integers are a CPU's.
static bool hasSizesOfMachine(const Run *run, const TileStructured *s) {
  TileConverted converted;
  TileScaledProduct product;
  TileScaledDots scaled;
  if (tileStructuredMatchConverted(s, &converted) || tileStructuredMatchScaledProduct(s, &product))
    return true;
  return !run->target.search.isGpu &&
         (tileStructuredMatchScaledDots(s, &scaled) ||
          (tileStructuredMatchDots(s, &scaled.dots) && tileDotsAreScaled(s->op, &run->target)));
}

static bool scheduleGeneric(const Run *run, MlirOperation op) {
  TileStructured s;
  TileTiling tiling;
  if (isDecided(op) || !tileStructuredRead(op, &run->target, &s) || s.numDims == 0)
    return true; // what has no loops is one element: there is nothing to decide
  if (hasSizesOfMachine(run, &s))
    return true;
  if (!tileStructuredCheckExtents(&s))
    return false;
  tileStructuredStartFromConstants(&s);
  if (!tileStructuredFindTiling(&s, &tiling) || (run->isOfProducts && !tiling.isProduct))
    return writePlain(run, &s, &tiling);
  Decision decision = {.structured = &s, .tiling = &tiling};
  return decide(run, &decision);
}

// linalg.softmax, pack and unpack. On a GPU softmax has whole rows where they fit the machine, else parts of them; on a
// CPU the plain sizes. Ops of a group go with the group.
static bool scheduleNamed(const Run *run, MlirOperation op) {
  TileStructured s;
  bool isSoftmax = linalgSoftmaxOpIsA(op), isGpu = run->target.search.isGpu;
  if ((isGpu && (run->isOfProducts || !isSoftmax)) || !mlirOperationIsNull(tileParentOp(op, tileGroupOpIsA)) ||
      isDecided(op) || !(isSoftmax ? tileStructuredReadSoftmax : tileStructuredReadRelayout)(op, &run->target, &s) ||
      s.numDims == 0)
    return true;
  TileTiling tiling;
  tileStructuredFindTiling(&s, &tiling);
  if (!isGpu || mlirShapedTypeIsDynamicSize(s.dims[tiling.whole].extent))
    tiling.whole = -1;
  if (!isGpu)
    return writePlain(run, &s, &tiling);
  Decision decision = {.structured = &s, .tiling = &tiling};
  if (!decide(run, &decision))
    return false;
  if (decision.result.count || tiling.whole < 0)
    return true;
  tiling.whole = -1;
  return decide(run, &decision);
}

// A sparse product by a GPU's instructions gets a block alone: its kernel has warps of its own.
static bool scheduleSparse(const Run *run, MlirOperation op) {
  Decision decision = {.structured = NULL};
  if (!run->target.search.isGpu || !mlirAttributeIsNull(tileOpGetSchedule(op)) ||
      !tileSparseProductDescribe(op, &run->target, &decision.op))
    return true;
  decision.target = tileStructuredTargetFor(&run->target, &decision.op);
  choose(run, &decision, false);
  if (decision.result.count)
    tileOpSetSchedule(
        op, tileScheduleOfBlock(mlirOperationGetContext(op), decision.op.numDims, decision.result.best[0].tile.size));
  mlirExtPassAddStatistic(run->pass, Constructed, decision.result.count > 0);
  mlirExtPassAddStatistic(run->pass, Evaluations, (uint64_t)decision.result.evaluations);
  return true;
}

//===--- the pass --------------------------------------------------------------------===//

static bool isNamed(MlirOperation op) { return linalgSoftmaxOpIsA(op) || linalgPackOpIsA(op) || linalgUnPackOpIsA(op); }

static bool isSparseProduct(MlirOperation op) { return sparseSpmmOpIsA(op) || sparseSpmvOpIsA(op); }

static bool readOptions(MlirOperation function, Run *run) {
  MlirStringRef policy = mlirExtPassGetString(run->pass, "policy"), ops = mlirExtPassGetString(run->pass, "ops");
  char name[64];
  TESSERA_LIST(names);
  int64_t top = mlirExtPassGetInteger(run->pass, "top");
  snprintf(name, sizeof name, "%.*s", (int)policy.length, policy.data);
  run->policy = policy.length < sizeof name ? tilePolicyFind(name) : NULL;
  tilePolicyListNames(&names);
  if (!run->policy)
    return tileError(function, "policy: unknown '%.*s'; the policies are %s", (int)policy.length, policy.data,
                     names.text);
  run->isOfProducts = tileStringEquals(ops, "products");
  run->isOfSparse = tileStringEquals(ops, "sparse");
  if (!run->isOfProducts && !run->isOfSparse && !tileStringEquals(ops, "all"))
    return tileError(function, "ops: unknown '%.*s'; it takes all, products or sparse", (int)ops.length, ops.data);
  run->isOfTraffic = tileStringEquals(mlirExtPassGetString(run->pass, "fusion"), "total-traffic");
  run->seed = (uint64_t)mlirExtPassGetInteger(run->pass, "seed");
  MlirStringRef cache = mlirExtPassGetString(run->pass, "cache");
  char wanted[PATH_MAX];
  snprintf(wanted, sizeof wanted, "%.*s", (int)cache.length, cache.data);
  run->hasCache = run->policy->isMeasured && tileCacheFolder(wanted, run->cache, sizeof run->cache);
  run->explains = mlirExtPassGetBool(run->pass, "remarks");
  run->unknown = tessera_bucket(mlirExtPassGetInteger(run->pass, "unknown"));
  run->options = tileSearchDefaults();
  run->options.best = run->policy->isMeasured && top < Candidates ? Candidates : (int)top;
  run->top = (int)top;
  return (top >= 1 && top <= TileSearchBest) ||
         tileError(function, "top: %lld; it takes 1 to %d", (long long)top, TileSearchBest);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass};
  if (!readOptions(function, &r))
    return false;
  TileOps sparse = tileCollectOps(function, isSparseProduct);
  if ((r.isOfSparse && !sparse.count) || !tileTargetOfPass(function, pass, &r.target)) {
    bool isNothing = r.isOfSparse && !sparse.count;
    tileOpsFree(&sparse);
    return isNothing;
  }
  if (r.policy->isMeasured && r.target.search.isGpu) {
    tileError(function, "policy: '%s' runs on this CPU; it cannot measure for %s", r.policy->name,
              tileMachineGetName(r.target.machine));
    tileOpsFree(&sparse);
    tileTargetFree(&r.target);
    return false;
  }
  if (r.explains && r.options.best < 2)
    r.options.best = 2;
  bool ok = true;
  if (mlirExtPassGetString(pass, "fusion").length)
    mlirOperationWalk(function, countProducts, &r, MlirWalkPreOrder);
  TileOps generics = tileStructuredCollect(function);
  TileOps named = tileCollectOps(function, isNamed);
  for (intptr_t i = 0; ok && i < sparse.count; ++i)
    ok = scheduleSparse(&r, sparse.items[i]);
  for (intptr_t i = 0; ok && !r.isOfSparse && i < generics.count; ++i)
    ok = scheduleGeneric(&r, generics.items[i]);
  for (intptr_t i = 0; ok && !r.isOfSparse && i < named.count; ++i)
    ok = scheduleNamed(&r, named.items[i]);
  tileOpsFree(&sparse);
  tileOpsFree(&generics);
  tileOpsFree(&named);
  tileTableFree(&r.depths);
  tileOpsFree(&r.products);
  tileTargetFree(&r.target);
  return ok;
}

const MlirExtPassDefinition tileConstructTilesPass = {
    .argument = "tile-construct-tiles",
    .summary = "Give linalg ops the tiles that the machine's description asks for",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"top", "how many of the best schedules to leave, at most 16", MlirExtOption_Integer, "1"},
            {"policy",
             "how a tile is chosen: construct, exhaustive-model, measure, fixed, random, or what a plugin registered",
             MlirExtOption_String, "construct"},
            {"seed", "of the policies that draw", MlirExtOption_Integer, "0"},
            {"ops", "all, products or sparse: other ops keep the sizes that their kernels have without a schedule",
             MlirExtOption_String, "all"},
            {"cache",
             "folder for what was measured, or none; default: TESSERA_CACHE, else tessera in the user's cache folder",
             MlirExtOption_String, ""},
            {"unknown", "what an extent that is not known is planned for", MlirExtOption_Integer, "1024"},
            {"fusion",
             "the objective of the fusion that this is part of: products without a path between them share the machine",
             MlirExtOption_String, ""},
            {"remarks", "say in a remark why a tile was chosen", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
