// tile-co-schedule-kernels{chip=NAME persistent=model lanes=N remarks=false}: launches become one launch whose programs
// wait for each other on the device.
//
//   tile.launch @a grid(%c8) …           tile.launch @program_0 grid(lanes) ins(plan, addresses, …) outs(counters, …)
//   tile.launch @b grid(%c4, %c3) …  →   tile.kernel @program_0 {cooperative}: each lane goes through the launches in
//   tile.launch @c grid(%c2) …             order, takes its share of their programs, awaits and signals counters
//
// Why: launches of few programs leave the machine idle between them, and each one costs.
// Expects: host functions on buffers, freed; kernels at kernel level that know the facts of their launches
// (tile-assume-launch-facts). Leaves: for each such run of launches one cooperative kernel. Its code grows with the
//   kinds of launches (kernel and grid), not with their number: a constant plan has a list of items for each lane, and
//   a table that the host fills has a row of addresses for each launch (launch_program.h). Dependences are those of
//   memory: between launches (launches/launch_order.h), and between single programs where their boxes are known
//   (launches/program_box.h). lib/search/lane_plan.h deals programs to lanes and finds the awaits: no lane waits for
//   what comes later, so all come to an end where all lanes run at once. Counters are set to 0 by the host. A loop with
//   constant bounds whose body only launches kernels becomes one launch, too, whose lanes go through its rounds: counts
//   grow from round to round, and an operand may begin further on in each round. Left alone: single launches, grids or
//   operands of unknown sizes or places, kernels that cooperate already, grids that fill the machine (`model`),
//   products that partitions of warps compute, CPUs.
// Cost: linear in the ops, the pairs in order and the bodies; pairs of programs where single ones are needed.
// Paper: Rammer (OSDI 2020). Its flags are plain stores; these release and acquire.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/launch_flow.h"
#include "lib/transforms/schedule/launch_program.h"
#include "lib/transforms/schedule/schedule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>
#include <string.h>

enum { Statistic_Programs, Statistic_Launches, Statistic_Kinds, Statistic_Awaits, Statistic_Fronts, Statistic_Arena };
enum { MostLanes = 256 };
enum { LanesOfCore = 2, ThreadRegisters = 128 };

//===--- rounds ------------------------------------------------------------------------===//

static bool readRounds(MlirOperation loop, Rounds *rounds) {
  int64_t end;
  *rounds = (Rounds){.loop = loop};
  if (!scfForOpIsA(loop) || scfForOpHasUnsignedCmp(loop) || scfForOpGetNumResults(loop) ||
      !tileConstantIndex(scfForOpGetLowerBound(loop), &rounds->first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &end) ||
      !tileConstantIndex(scfForOpGetStep(loop), &rounds->step) || rounds->step <= 0 || rounds->first > INT32_MAX ||
      rounds->first < INT32_MIN || end > INT32_MAX || end < INT32_MIN)
    return false;
  rounds->count = end > rounds->first ? tessera_ceil_div(end - rounds->first, rounds->step) : 0;
  return true;
}

//===--- runs of launches -------------------------------------------------------------===//

static MlirOperation firstKernel(const Program *program) {
  for (intptr_t i = 0; i < program->count; ++i)
    if (tileKernelHasTiles(program->tasks[i].kernel))
      return program->tasks[i].kernel;
  return (MlirOperation){NULL};
}

// Two lanes share a core, so that one loads while the other one waits, if their kernel stays small: products take
// shared memory, and 128 registers suffice for other bodies.
static bool shareCores(const Scheduling *s, const Program *program) {
  int64_t threads = s->target.search.lanes, warps = 0;
  for (intptr_t i = 0; i < program->count; ++i) {
    warps = tessera_max(warps, tileKernelWarps(program->tasks[i].kernel));
    if (tileKernelHasProduct(program->tasks[i].kernel))
      return false;
  }
  threads *= warps;
  return warps && LanesOfCore * threads * ThreadRegisters <= s->target.search.registersPerCore;
}

// `most`: programs that have something to do at once.
static int64_t lanesOf(const Scheduling *s, Program *program, int64_t most) {
  int64_t lanes = s->lanes ? s->lanes : s->target.search.cores;
  if (!s->lanes && LanesOfCore * lanes <= MostLanes && LanesOfCore * lanes <= most && shareCores(s, program)) {
    lanes *= LanesOfCore;
    program->registers = ThreadRegisters;
  }
  return tessera_min(tessera_min(lanes, tessera_max(most, 1)), MostLanes);
}

static int64_t programsOf(const Program *program) {
  int64_t sum = 0;
  for (intptr_t i = 0; i < program->count; ++i)
    sum += program->tasks[i].programs;
  return sum;
}

//===--- a block ----------------------------------------------------------------------===//

// Launches on the longest path: those of one depth could all run at once.
static int64_t frontsOf(const Program *program, const TileLaunchOrder *order) {
  int64_t first = INT64_MAX, last = 0;
  for (intptr_t i = 0; i < program->count; ++i) {
    int64_t depth = order->steps[program->tasks[i].step].depth;
    first = tessera_min(first, depth);
    last = tessera_max(last, depth);
  }
  return last - first + 1;
}

static void count(const Scheduling *s, const Program *program, int64_t awaits, int64_t fronts) {
  mlirExtPassAddStatistic(s->pass, Statistic_Programs, 1);
  mlirExtPassAddStatistic(s->pass, Statistic_Launches, (uint64_t)program->count);
  mlirExtPassAddStatistic(s->pass, Statistic_Kinds, (uint64_t)program->numKinds);
  mlirExtPassAddStatistic(s->pass, Statistic_Awaits, (uint64_t)awaits);
  mlirExtPassAddStatistic(s->pass, Statistic_Fronts, (uint64_t)fronts);
}

//===--- the model ---------------------------------------------------------------------===//

static int64_t turnsOf(const Scheduling *s, const Program *program, int64_t lanes) {
  int64_t turns = 0;
  for (intptr_t i = 0; i < program->count; ++i)
    turns += tessera_max(tileLaunchTurns(s, program->tasks[i].launch, lanes), 0);
  return turns;
}

// What the launches cost once, without decisions.
static TileLaneCounts countsOf(const Scheduling *s, const Program *program, const TileLaunchOrder *order,
                               int64_t lanes) {
  return (TileLaneCounts){.launches = program->count,
                          .fronts = program->count ? frontsOf(program, order) : 0,
                          .turns = turnsOf(s, program, lanes)};
}

// `at`: where a remark says what the model predicts.
static bool isCheaper(const Scheduling *s, MlirOperation at, Program *program, const TileLaunchOrder *order) {
  int64_t rounds = tileProgramIsLoop(program) ? program->rounds.count : 1;
  TileLaneCounts counts = countsOf(s, program, order, lanesOf(s, program, programsOf(program)));
  counts.launches *= rounds;
  counts.fronts *= rounds;
  counts.turns *= rounds;
  return tileLaunchesGain(s, at, &counts);
}

// Temporaries move once nobody asks any more which memory may be one.
static bool buildLaunch(const Scheduling *s, Program *program) {
  int64_t bytes = tileProgramPlaceTemporaries(s->module, program);
  mlirExtPassAddStatistic(s->pass, Statistic_Arena, (uint64_t)bytes);
  return tileProgramBuildLaunch(s->module, program, s->target.search.lanes);
}

static bool buildProgram(const Scheduling *s, Program *program, const TileLaunchOrder *order) {
  if (!tileProgramBuildPlan(program, order, lanesOf(s, program, programsOf(program))) || !buildLaunch(s, program))
    return false;
  count(s, program, program->lanes->awaitCount, frontsOf(program, order));
  return true;
}

// The programs built before have placed what they share with this one.
static bool findRoots(Program *program) {
  program->numRoots = 0;
  memset(program->isWritten, 0, sizeof program->isWritten);
  for (intptr_t i = 0; i < program->count; ++i) {
    MlirOperation launch = program->tasks[i].launch;
    for (intptr_t k = 0; k < tileLaunchOperandCount(launch); ++k)
      if (tileProgramRootOf(program, tileLaunchOperand(launch, k)) < 0)
        return tileError(launch, "one launch of %lld would use more than %d memories; 'persistent=never' has many",
                         (long long)program->count, RoomForRoots);
    tileProgramMarkWritten(program, launch);
  }
  return true;
}

// The program's launches become one step of the order.
static bool schedule(Scheduling *s, const TileLaunchOrder *order, intptr_t *nodes, Program *program) {
  bool ok = true;
  if (program->count > 1) {
    for (intptr_t i = 0; i < program->count; ++i)
      nodes[program->tasks[i].step] = program->tasks[program->count - 1].step;
    ok = findRoots(program) && buildProgram(s, program, order);
  }
  return ok;
}

typedef struct Run {
  Program *items;
  intptr_t count;
} Run;

// Launches go into the run at hand unless something outside of the run stands between: a step that needs one of its
// launches, and that the launch needs.
static Run runsOf(const Scheduling *s, const TileLaunchOrder *order) {
  Run runs = {NULL};
  const Rounds none = {.loop = {NULL}};
  bool *isBehind = calloc((size_t)order->count + 1, sizeof *isBehind), *isIn = calloc((size_t)order->count + 1, 1);
  Program now = {NULL};
  for (intptr_t i = 0; i < order->count; ++i) {
    const TileStep *step = &order->steps[i];
    const char *why = tileLaunchOpIsA(step->op) ? tileLaunchWhyStays(s, &none, step->op) : "";
    bool behindOutside = false;
    for (intptr_t k = 0; k < step->count; ++k) {
      behindOutside |= isBehind[step->before[k]];
      isBehind[i] |= isBehind[step->before[k]] || isIn[step->before[k]];
    }
    why = why ? why : tileKernelWhyBesideStays(firstKernel(&now), tileLaunchKernel(step->op));
    if (why && *why && s->remarks)
      tileRemark(step->op, "is not co-scheduled: %s", why);
    if (why)
      continue;
    if (now.count && (behindOutside || !tileProgramHasRoom(&now, step->op))) {
      runs.items = tessera_grow(runs.items, runs.count, sizeof *runs.items);
      runs.items[runs.count++] = now;
      now = (Program){NULL};
      memset(isBehind, 0, (size_t)order->count * sizeof *isBehind);
      memset(isIn, 0, (size_t)order->count);
    }
    tileProgramHasRoom(&now, step->op);
    tileProgramAddTask(&now, order, i);
    isIn[i] = true;
    isBehind[i] = false;
  }
  runs.items = tessera_grow(runs.items, runs.count, sizeof *runs.items);
  runs.items[runs.count++] = now;
  free(isBehind);
  free(isIn);
  return runs;
}

// Why the loop stays; null: all of its body goes into one program.
static const char *whyLoopStays(const Scheduling *s, const TileLaunchOrder *order, Program *program) {
  int64_t most = 0;
  if (program->rounds.count < 2)
    return "";
  for (intptr_t i = 0; i < order->count; ++i) {
    MlirOperation op = order->steps[i].op;
    if (!tileLaunchOpIsA(op)) {
      if (!mlirExtOperationIsPure(op))
        return "it does more than launch kernels";
      continue;
    }
    const char *why = tileLaunchWhyStays(s, &program->rounds, op);
    why = why ? why : tileKernelWhyBesideStays(firstKernel(program), tileLaunchKernel(op));
    if (why)
      return why;
    if (!tileProgramHasRoom(program, op))
      return "it has too many operands";
    tileProgramAddTask(program, order, i);
    most = tessera_max(most, program->tasks[program->count - 1].programs);
  }
  if (!program->count ||
      (most * program->rounds.count <= INT32_MAX && !isCheaper(s, program->rounds.loop, program, order)))
    return "";
  return most * program->rounds.count > INT32_MAX ? "its rounds have too many programs" : NULL;
}

// A loop of launches becomes one launch, whose lanes go through all rounds.
static bool runOnLoop(Scheduling *s, MlirBlock block, bool *isDone) {
  MlirOperation loop = mlirBlockGetParentOperation(block);
  Program program = {NULL};
  bool ok = true;
  *isDone = false;
  if (!readRounds(loop, &program.rounds))
    return true;
  TileLaunchOrder order = tileLaunchOrderOf(block);
  const char *why = whyLoopStays(s, &order, &program);
  if (why && *why && s->remarks)
    tileRemark(loop, "is not taken to the device: %s", why);
  if (!why) {
    ok = buildProgram(s, &program, &order);
    *isDone = ok;
  }
  tileProgramFree(&program);
  tileLaunchOrderFree(&order);
  if (*isDone)
    mlirOperationDestroy(loop);
  return ok;
}

static bool runOnBlock(Scheduling *s, MlirBlock block) {
  TileLaunchOrder order = tileLaunchOrderOf(block);
  intptr_t *nodes = malloc((size_t)(order.count + 1) * sizeof *nodes);
  for (intptr_t i = 0; i < order.count; ++i)
    nodes[i] = i;
  Run runs = runsOf(s, &order);
  bool ok = true, some = false;
  for (intptr_t i = 0; i < runs.count; ++i) {
    Program *run = &runs.items[i];
    if (run->count > 1 && !isCheaper(s, run->tasks[0].launch, run, &order))
      run->count = 0;
    some |= run->count > 1;
    for (intptr_t k = 0; runs.items[i].count > 1 && k < runs.items[i].count; ++k)
      nodes[runs.items[i].tasks[k].step] = runs.items[i].tasks[runs.items[i].count - 1].step;
  }
  if (some)
    tileLaunchOrderContract(&order, nodes);
  for (intptr_t i = 0; ok && i < runs.count; ++i)
    ok = schedule(s, &order, nodes, &runs.items[i]);
  for (intptr_t i = 0; i < runs.count; ++i) {
    for (intptr_t k = 0; ok && runs.items[i].count > 1 && k < runs.items[i].count; ++k)
      mlirOperationDestroy(runs.items[i].tasks[k].launch);
    tileProgramFree(&runs.items[i]);
  }
  free(runs.items);
  free(nodes);
  tileLaunchOrderFree(&order);
  return ok;
}

//===--- loops and branches that the device decides about -------------------------------------------===//

// Lanes beyond the programs of the widest front would have nothing to do.
static int64_t widthOf(const Program *part, const TileLaunchOrder *order) {
  int64_t most = 1;
  for (intptr_t i = 0; i < part->count; ++i) {
    int64_t depth = order->steps[part->tasks[i].step].depth, sum = 0;
    for (intptr_t k = 0; k < part->count; ++k)
      sum += order->steps[part->tasks[k].step].depth == depth ? part->tasks[k].programs : 0;
    most = tessera_max(most, sum);
  }
  return most;
}

static int64_t lanesOfFlow(const Scheduling *s, Program *program, const TileLaunchOrder *orders) {
  int64_t most = 1;
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    Program *part = &program->segments[i].part;
    for (intptr_t k = 0; k < orders[i].count; ++k)
      tileProgramAddTask(part, &orders[i], k);
    most = tessera_max(most, widthOf(part, &orders[i]));
    for (intptr_t k = 0; k < part->count; ++k) { // for the questions about kernels
      program->tasks = tessera_grow(program->tasks, program->count, sizeof *program->tasks);
      program->tasks[program->count++] = part->tasks[k];
    }
  }
  int64_t lanes = lanesOf(s, program, most);
  program->count = 0;
  return lanes;
}

// As if each segment ran once: nobody knows how often it does.
static bool isFlowCheaper(const Scheduling *s, MlirOperation flow, const Program *program,
                          const TileLaunchOrder *orders) {
  TileLaneCounts sum = {0};
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    const Segment *segment = &program->segments[i];
    TileLaneCounts own = countsOf(s, &segment->part, &orders[i], program->numLanes);
    int64_t decides = !mlirValueIsNull(segment->condition);
    sum = (TileLaneCounts){sum.launches + own.launches, sum.waits + decides, sum.fronts + own.fronts,
                           sum.decisions + decides, sum.turns + own.turns};
  }
  return tileLaunchesGain(s, flow, &sum);
}

static bool buildSegments(const Scheduling *s, Program *program, const TileLaunchOrder *orders) {
  int64_t awaits = 0, fronts = 0;
  bool ok = true;
  for (intptr_t i = 0; ok && i < program->numSegments; ++i) {
    Segment *segment = &program->segments[i];
    ok = tileProgramBuildPart(&segment->part, &orders[i], program->numLanes, !mlirValueIsNull(segment->condition),
                              &segment->decider) ||
         tileError(program->place, "no memory to schedule %lld launches", (long long)segment->part.count);
    awaits += ok ? segment->part.lanes->awaitCount : 0;
    fronts += segment->part.count ? frontsOf(&segment->part, &orders[i]) : 0;
  }
  if (ok) {
    tileProgramJoinSegments(program);
    ok = buildLaunch(s, program);
    count(s, program, awaits, fronts);
  }
  return ok;
}

static bool buildFlow(const Scheduling *s, MlirOperation flow, Program *program, bool *isDone) {
  TileLaunchOrder *orders = calloc((size_t)program->numSegments, sizeof *orders);
  for (intptr_t i = 0; i < program->numSegments; ++i)
    orders[i] = tileLaunchOrderOf(program->segments[i].block);
  program->numLanes = lanesOfFlow(s, program, orders);
  bool gains = isFlowCheaper(s, flow, program, orders), ok = !gains || buildSegments(s, program, orders);
  *isDone = gains && ok;
  for (intptr_t i = 0; i < program->numSegments; ++i)
    tileLaunchOrderFree(&orders[i]);
  free(orders);
  return ok;
}

static bool runOnFlow(const Scheduling *s, const TileFlowRange *range, bool *isDone) {
  Program program = {.place = mlirOperationGetNextInBlock(range->last)};
  MlirOperation copies = {NULL};
  const char *why = tileFlowFindSegments(s, range, &program, &copies);
  bool ok = true;
  *isDone = false;
  if (why && s->remarks)
    tileRemark(range->flow, "is not taken to the device: %s", why);
  if (!why)
    ok = buildFlow(s, range->flow, &program, isDone);
  tileProgramFree(&program);
  mlirOperationDestroy(copies);
  if (*isDone)
    tileFlowDestroy(range);
  return ok;
}

static bool runOnFlows(const Scheduling *s, MlirOperation op) {
  bool ok = true;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); ok && !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block)) {
      TileFlowRange range = {.last = {NULL}};
      while (ok && tileFlowNextRange(s, block, &range)) {
        bool isDone;
        ok = runOnFlow(s, &range, &isDone);
        if (isDone) // its last op is gone
          range.last = (MlirOperation){NULL};
      }
      for (MlirOperation inner = mlirBlockGetFirstOperation(block); ok && !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        ok = runOnFlows(s, inner);
    }
  return ok;
}

//===--- the pass ----------------------------------------------------------------------===//

static bool readOptions(Scheduling *s, bool *never) {
  MlirStringRef persistent = mlirExtPassGetString(s->pass, "persistent");
  s->always = tileStringEquals(persistent, "always");
  s->remarks = mlirExtPassGetBool(s->pass, "remarks");
  s->lanes = mlirExtPassGetInteger(s->pass, "lanes");
  *never = tileStringEquals(persistent, "never");
  if (s->lanes < 0 || s->lanes > MostLanes)
    return tileError(s->module, "lanes: %lld; accepts 1 to %d, or 0 for the machine's cores", (long long)s->lanes,
                     MostLanes);
  return s->always || *never || tileStringEquals(persistent, "model") ||
         tileError(s->module, "persistent: unknown '%.*s'; accepts model, always and never", (int)persistent.length,
                   persistent.data);
}

static bool contains(const MlirBlock *blocks, intptr_t count, MlirBlock block) {
  for (intptr_t i = count; i-- > 0;)
    if (mlirBlockEqual(blocks[i], block))
      return true;
  return false;
}

static bool runOnFunctions(const Scheduling *s) {
  TileOps functions = tileCollectOps(s->module, funcFuncOpIsA);
  bool ok = true;
  for (intptr_t i = 0; ok && i < functions.count; ++i)
    ok = runOnFlows(s, functions.items[i]);
  tileOpsFree(&functions);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Scheduling s = {.module = module, .pass = pass};
  bool never;
  if (!readOptions(&s, &never))
    return false;
  if (never)
    return true;
  if (!tileTargetOfPass(module, pass, &s.target))
    return false;
  if (s.target.search.isGpu && !runOnFunctions(&s)) {
    tileTargetFree(&s.target);
    return false;
  }
  MlirBlock *blocks = NULL;
  intptr_t count = 0;
  TileOps launches = tileCollectOps(module, tileLaunchOpIsA);
  for (intptr_t i = 0; s.target.search.isGpu && i < launches.count; ++i) {
    MlirBlock block = mlirOperationGetBlock(launches.items[i]);
    if (mlirOperationIsNull(tileParentOp(launches.items[i], funcFuncOpIsA)) || contains(blocks, count, block))
      continue;
    blocks = tessera_grow(blocks, count, sizeof *blocks);
    blocks[count++] = block;
  }
  bool ok = true;
  // Inner blocks come last: a loop is one launch before the block around it is looked at.
  for (intptr_t i = count; ok && i-- > 0;) {
    bool isLoop;
    ok = runOnLoop(&s, blocks[i], &isLoop) && (isLoop || runOnBlock(&s, blocks[i]));
  }
  free(blocks);
  tileOpsFree(&launches);
  tileTargetFree(&s.target);
  return ok;
}

const MlirExtPassDefinition tileCoScheduleKernelsPass = {
    .argument = "tile-co-schedule-kernels",
    .summary = "Make one launch of several, whose programs wait for each other on the device",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"persistent", "which launches: model, always (all that is legal) or never", MlirExtOption_String, "model"},
            {"lanes", "lanes of a program; 0: the machine's cores", MlirExtOption_Integer, "0"},
            {"remarks", "says which launches stay apart, and why", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics =
        (const char *const[]){"programs: launches that are several", "launches: launches that became part of one",
                              "kinds: bodies in their kernels", "awaits: counts that lanes wait for",
                              "fronts: launches on the longest paths", "arena: bytes of temporaries", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
